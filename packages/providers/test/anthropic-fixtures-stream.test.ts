// Shapes of answers that recordings hold, with made-up words.
import type { AssistantPart } from '@antiphon/engine';
import { anthropic } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { answer, block, end, event, messageOf, start, text, tool } from './support/anthropic-wire.js';
import { type Run, run } from './support/run.js';

function replay(body: string, type = 'text/event-stream'): Promise<Run> {
  return run(
    anthropic({
      model: 'claude-opus-5-5',
      apiKey: 'k',
      fetch: async () => new Response(body, { headers: { 'content-type': type } }),
    }),
  );
}
const states = ({ events }: Run) =>
  (messageOf(events).content as readonly AssistantPart[]).map(part =>
    'providerState' in part ? part.providerState?.anthropic : undefined,
  );
const change = (from: string, to: string) => ({ type: 'fallback', from: { model: from }, to: { model: to } });
const thinking = (at: number, words: string, signature: string) =>
  block(
    at,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: words },
    { type: 'signature_delta', signature },
  );

describe('another model goes on', () => {
  const attempt = (type: string, model: string, input_tokens: number, output_tokens: number, more: object = {}) => ({
    type,
    model,
    input_tokens,
    output_tokens,
    ...more,
  });

  test('before the first word: it is the model of the answer, and the other one is free', async () => {
    const iterations = [attempt('message', 'big', 20, 0), attempt('fallback_message', 'small', 22, 5)];
    const usage = { input_tokens: 22, output_tokens: 5, iterations };
    const result = await replay(answer(start({ model: 'big' }), block(0, change('big', 'small')), text(1, 'Yes.'), end('end_turn', usage)));
    expect(result).toMatchObject({ text: 'Yes.', model: 'small', finish: 'stop', warnings: [] });
    expect(result.events[0]).toMatchObject({ type: 'message_start', model: 'small' });
    expect(result.usage).toEqual({ inputTokens: 22, outputTokens: 5, totalTokens: 27 });
    expect(states(result)).toEqual([{ block: change('big', 'small') }, undefined, { message: { iterations } }]);
    const whole = { type: 'message', id: 'msg_2', model: 'small', stop_reason: 'end_turn', usage };
    const content = [change('big', 'small'), { type: 'text', text: 'Yes.' }];
    expect(await replay(JSON.stringify({ ...whole, content }), 'application/json')).toMatchObject({
      model: 'small',
      text: 'Yes.',
      usage: result.usage!,
    });
  });

  test('in the middle: what both wrote is counted, and goes back with the mark between', async () => {
    const iterations = [
      attempt('message', 'big', 10, 40, { cache_read_input_tokens: 100 }),
      attempt('fallback_message', 'small', 12, 30, { cache_creation_input_tokens: 7 }),
    ];
    const result = await replay(
      answer(
        start({ model: 'big' }),
        thinking(0, 'A', 'sig1'),
        block(1, change('big', 'small')),
        thinking(2, 'B', 'sig2'),
        tool(3, 'toolu_1', 'look', '{"q":1}'),
        end('tool_use', { output_tokens: 30, iterations }),
      ),
    );
    expect([result.model, result.finish, result.calls.length]).toEqual(['small', 'tool_calls', 1]);
    expect(result.usage).toEqual({
      inputTokens: 129,
      outputTokens: 70,
      totalTokens: 199,
      cachedInputTokens: 100,
      cacheWriteTokens: 7,
    });
    expect(states(result).slice(0, 3)).toEqual([{ signature: 'sig1' }, { block: change('big', 'small') }, { signature: 'sig2' }]);
  });

  test('a mark that does not say which model', async () => {
    const result = await replay(answer(start(), block(0, { type: 'fallback', to: null }), text(1, 'Hi'), end('end_turn')));
    expect([result.model, result.text]).toEqual(['m-1', 'Hi']);
  });
});

describe('more than one model call', () => {
  test('the advice of another model is told apart and not counted at the price of this one', async () => {
    const advice = {
      type: 'advisor_tool_result',
      tool_use_id: 's1',
      content: { type: 'advisor_result', text: 'Do.', stop_reason: 'max_tokens' },
    };
    const iterations = [
      { type: 'message', input_tokens: 10, output_tokens: 3 },
      { type: 'advisor_message', model: 'wise', input_tokens: 500, output_tokens: 90 },
      { type: 'message', input_tokens: 15, output_tokens: 4 },
    ];
    const usage = { input_tokens: 25, output_tokens: 7, iterations };
    const asked = { type: 'server_tool_use', id: 's1', name: 'advisor', input: {} };
    const result = await replay(answer(start(), block(0, asked), block(1, advice), text(2, 'Done.'), end('end_turn', usage)));
    expect(result.usage).toEqual({ inputTokens: 25, outputTokens: 7, totalTokens: 32 });
    expect(states(result)).toEqual([{ block: asked }, { block: advice }, undefined, { message: { iterations } }]);
  });

  test('calls of one kind are only their sum', async () => {
    const iterations = [{ type: 'message', input_tokens: 5, output_tokens: 4 }];
    const result = await replay(answer(start(), text(0, 'Hi'), end('end_turn', { output_tokens: 4, iterations })));
    expect(states(result)).toEqual([undefined]);
  });

  test('a summary alone is a pause, and comes back whole', async () => {
    const summary = block(
      0,
      { type: 'compaction', content: null },
      { type: 'compaction_delta', content: 'We spoke of cats.', encrypted_content: 'E' },
      { type: 'compaction_delta', content: null, encrypted_content: null },
    );
    const result = await replay(answer(start(), summary, end('compaction')));
    expect([result.finish, result.raw, result.text]).toEqual(['other', 'compaction', '']);
    expect(result.events.at(-1)).toMatchObject({ type: 'message_end', paused: true });
    expect(states(result)).toEqual([{ block: { type: 'compaction', content: 'We spoke of cats.', encrypted_content: 'E' } }]);
    const failed = await replay(answer(start(), block(0, { type: 'compaction', content: null }), end('end_turn')));
    expect(states(failed)).toEqual([{ block: { type: 'compaction', content: null } }]);
  });
});

test('what stands beside the delta of the message is kept', async () => {
  const [delta, stop] = end('end_turn');
  const beside = { input_transformations: [{ type: 'dropped', index: 1 }], context_management: { applied_edits: [{ type: 'x' }] } };
  const diagnostics = { cache_miss_reason: { type: 'tools_changed' } };
  const result = await replay(answer(start({ diagnostics, container: null }), text(0, 'Hi'), { ...delta, ...beside }, stop!));
  expect(states(result).at(-1)).toEqual({ message: { ...beside, diagnostics } });
});

describe('tools of the server', () => {
  const asked = { type: 'server_tool_use', id: 's1', name: 'text_editor_code_execution', input: {} };
  const piece = (partial_json: string) => ({ type: 'input_json_delta', partial_json });

  test.each([
    ['an empty first piece', ['', '{"command"', ':"view"}'], { command: 'view' }],
    ['no opening brace', ['', '"command"', ':"view"}'], { command: 'view' }],
    ['cut off', ['{"command"'], {}],
  ])('input with %s', async (_, pieces, input) => {
    const result = await replay(answer(start(), block(0, asked, ...pieces.map(piece)), end('tool_use')));
    expect(states(result)).toEqual([{ block: { ...asked, input } }]);
    expect([result.calls, result.finish, result.raw]).toEqual([[], 'stop', 'tool_use']);
  });

  test('a search beside a call waits for its result', async () => {
    const search = { type: 'server_tool_use', id: 's1', name: 'tool_search_tool_regex', input: { pattern: '[' } };
    const first = await replay(answer(start(), block(0, search), tool(1, 't1', 'go'), end('tool_use')));
    expect([first.calls.map(({ id }) => id), first.finish]).toEqual([['t1'], 'tool_calls']);
    const failed = {
      type: 'tool_search_tool_result',
      tool_use_id: 's1',
      content: { type: 'tool_search_tool_result_error', error_code: 'invalid_tool_input', error_message: 'No.' },
    };
    const then = await replay(answer(start(), block(0, failed), text(1, 'Done.'), end('end_turn')));
    expect([states(then)[0], then.text, then.sources, then.warnings]).toEqual([{ block: failed }, 'Done.', [], []]);
  });

  test('a file that was looked at is no file that was written', async () => {
    const content = { type: 'text_editor_code_execution_view_result', file_type: 'text', content: 'abc', num_lines: 1 };
    const looked = { type: 'text_editor_code_execution_tool_result', tool_use_id: 's1', content };
    const hidden = {
      type: 'code_execution_tool_result',
      tool_use_id: 's2',
      content: { type: 'encrypted_code_execution_result', encrypted_stdout: 'E', content: [{ file_id: 'f 1' }] },
    };
    const result = await replay(answer(start(), block(0, looked), block(1, hidden), end('end_turn')));
    expect(result.events.filter(({ type }) => type === 'file')).toMatchObject([{ file: { name: 'f 1' } }]);
    expect(states(result)).toEqual([{ block: looked }, { block: hidden }, undefined]);
  });
});

test('white space around events and within them, pings everywhere', async () => {
  const spaced = (value: object) =>
    `event: ${(value as { type: string }).type}\ndata: ${JSON.stringify(value, null, 1).replaceAll('\n', ' ')}   \n\n`;
  const events = [start(), ...tool(0, 't1', 'look', '', '{"a": "\\"b\\": ', 'c"}'), ...end('tool_use')];
  const result = await replay(events.map(one => spaced(one) + event({ type: 'ping' })).join(''));
  expect([result.calls[0]?.arguments, result.warnings]).toEqual([{ a: '"b": c' }, []]);
});

test('a refusal before the first word is an answer, with its reason', async () => {
  const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.', recommended_model: 'small' };
  const result = await replay(answer(start(), { type: 'ping' }, end('refusal', { output_tokens: 5 }, { stop_details })));
  expect([result.finish, result.raw, result.text, result.error]).toEqual(['content_filter', 'refusal', '', undefined]);
  expect(states(result)).toEqual([{ message: { stop_details } }]);
});

test('pieces with another number than their block', async () => {
  const at = (index: number, ...events: object[]) => events.map(one => ('index' in one ? { ...one, index } : one));
  const [words, ...pieces] = text(2, 'Hi', '!');
  const [begun, ...args] = tool(4, 't1', 'look', '{"a":', '1}');
  const searched = { type: 'server_tool_use', id: 's1', name: 'find', input: {} };
  const [asked, ...input] = block(0, searched, { type: 'input_json_delta', partial_json: '{"q":1}' });
  const result = await replay(answer(start(), asked!, at(1, ...input), words!, at(3, ...pieces), begun!, at(5, ...args), end('tool_use')));
  expect([result.text, result.calls[0]?.arguments, result.warnings]).toEqual(['Hi!', { a: 1 }, []]);
  expect(states(result)[0]).toEqual({ block: { ...searched, input: { q: 1 } } });
  const lost = await replay(answer(start(), text(0, 'Hi'), args[0]!, end('end_turn')));
  expect(lost.warnings).toMatchObject([{ code: 'malformed_event' }]);
});
