// The message as a whole, and the ways in which a stream goes wrong.
import type { AssistantPart } from '@antiphon/engine';
import { anthropic } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { answer, end, event, messageOf, start, text, tool } from './support/anthropic-wire.js';
import { contextOf, HELLO, type Run, run } from './support/run.js';

function replay(body: string | Response, request = HELLO): Promise<Run> {
  const response =
    typeof body === 'string' ? new Response(body, { headers: { 'content-type': 'text/event-stream', 'request-id': 'req_9' } }) : body;
  return run(anthropic({ model: 'claude-sonnet-4-5', apiKey: 'sk-ant-secret-0123456789', fetch: async () => response }), request);
}
const partsOf = (result: Run) => messageOf(result.events).content as readonly AssistantPart[];
const own = (state: object) => ({ anthropic: state });

describe('the message as a whole', () => {
  test('a start that already has everything', async () => {
    const content = [
      { type: 'code_execution_tool_result', tool_use_id: 's1', content: { type: 'code_execution_result', stdout: 'x', content: [] } },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { id: 'c' }, caller: { type: 'code_execution_20250825', tool_id: 's9' } },
    ];
    const result = await replay(answer(start({ content, stop_reason: 'tool_use', container: { id: 'c_1' } }), { type: 'message_stop' }));
    expect(result.calls).toMatchObject([{ id: 'toolu_1', name: 'look', arguments: { id: 'c' } }]);
    expect([result.finish, result.error]).toEqual(['tool_calls', undefined]);
    expect(partsOf(result).at(-1)).toEqual({ type: 'reasoning', text: '', providerState: own({ message: { container: { id: 'c_1' } } }) });
  });

  test('a start that comes again changes nothing, one of another message is an error', async () => {
    expect((await replay(answer(start(), text(0, 'a'), start(), text(1, 'b'), end('end_turn')))).text).toBe('ab');
    const early = await replay(answer(start(), start({ id: 'msg_2' }), text(0, 'b'), end('end_turn')));
    expect([early.error?.reason, early.error?.retryable, early.text]).toEqual(['malformed_response', true, '']);
  });

  test.each<[string, string | undefined, object[], string]>([
    ['end_turn', 'end_turn', [], 'stop'],
    ['stop_sequence', 'stop_sequence', [], 'stop'],
    ['max_tokens', 'max_tokens', [], 'length'],
    ['the context window', 'model_context_window_exceeded', [], 'length'],
    ['tool_use', 'tool_use', tool(1, 't', 'f', '{}'), 'tool_calls'],
    ['tool_use without a call', 'tool_use', [], 'stop'],
    ['end_turn with a call', 'end_turn', tool(1, 't', 'f', '{}'), 'tool_calls'],
    ['refusal', 'refusal', [], 'content_filter'],
    ['refusal with a call', 'refusal', tool(1, 't', 'f', '{}'), 'content_filter'],
    ['pause_turn', 'pause_turn', [], 'other'],
    ['compaction', 'compaction', [], 'other'],
    ['a new word', 'of_2031', [], 'other'],
  ])('stop reason: %s', async (_, word, blocks, finish) => {
    const result = await replay(answer(start(), text(0, 'Hi'), blocks, end(word ?? '')));
    expect([result.finish, result.raw]).toEqual([finish, word]);
  });

  test('what is said of the answer as a whole is kept', async () => {
    const details = {
      stop_sequence: 'END',
      stop_details: { type: 'refusal', category: 'cyber' },
      container: { id: 'c', expires_at: '2026' },
    };
    const [delta, stop] = end('refusal', { output_tokens: 1, server_tool_use: { web_search_requests: 2 } }, details);
    const edits = { context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 5 }] } };
    const result = await replay(answer(start(), text(0, 'Hi'), { ...delta, ...edits }, stop!));
    expect(partsOf(result).at(-1)).toEqual({
      type: 'reasoning',
      text: '',
      providerState: own({ message: { ...details, ...edits, server_tool_use: { web_search_requests: 2 } } }),
    });
    const plain = await replay(
      answer(start(), text(0, 'Hi'), { ...end('end_turn')[0], context_management: { applied_edits: [] } }, end('end_turn')[1]!),
    );
    expect(partsOf(plain)).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  test.each<[string, object, object, object]>([
    [
      'the prompt counts what was cached',
      { input_tokens: 2, cache_read_input_tokens: 30, cache_creation_input_tokens: 5, output_tokens: 1 },
      { output_tokens: 9 },
      { inputTokens: 37, cachedInputTokens: 30, cacheWriteTokens: 5, outputTokens: 9, totalTokens: 46 },
    ],
    [
      'the prompt is counted late',
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: 61, output_tokens: 2 },
      { inputTokens: 61, outputTokens: 2, totalTokens: 63 },
    ],
    [
      'null reports nothing',
      { input_tokens: 5, cache_read_input_tokens: null },
      { input_tokens: null, output_tokens: 2 },
      { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
    ],
    [
      'thinking',
      { input_tokens: 5 },
      { output_tokens: 20, output_tokens_details: { thinking_tokens: 12 } },
      { inputTokens: 5, outputTokens: 20, totalTokens: 25, reasoningTokens: 12 },
    ],
    [
      'a compaction is a call of its own',
      { input_tokens: 5 },
      {
        output_tokens: 2,
        iterations: [
          { type: 'compaction', input_tokens: 100, output_tokens: 10 },
          { type: 'message', input_tokens: 5, output_tokens: 2 },
        ],
      },
      { inputTokens: 105, outputTokens: 12, totalTokens: 117 },
    ],
    ['nothing', {}, {}, {}],
    ['nonsense', { input_tokens: 'many', output_tokens: -1 }, {}, {}],
  ])('usage: %s', async (_, first, last, want) => {
    expect((await replay(answer(start({ usage: first }), text(0, 'Hi'), end('end_turn', last)))).usage).toEqual(want);
  });

  test('raw events come when asked for, without the key', async () => {
    const body = answer(start(), text(0, 'My key is sk-ant-secret-0123456789.'), end('end_turn'));
    const result = await replay(body, { ...HELLO, raw: true });
    const raw = result.events.filter(item => item.type === 'raw');
    expect([raw.length, JSON.stringify(raw).includes('sk-ant-secret')]).toEqual([6, false]);
  });
});

describe('what goes wrong', () => {
  const failure = (type: string) => ({ type: 'error', error: { type, message: 'The cat sat on it.' }, request_id: 'req_1' });

  test.each([
    ['overloaded_error', 'provider_unavailable', true],
    ['api_error', 'provider_unavailable', true],
    ['rate_limit_error', 'rate_limited', true],
    ['timeout_error', 'timeout', true],
    ['invalid_request_error', 'invalid_request', false],
    ['authentication_error', 'authentication_failed', false],
    ['permission_error', 'permission_denied', false],
    ['billing_error', 'insufficient_quota', false],
  ])('%s in the stream', async (type, reason, retryable) => {
    const first = await replay(answer(start(), failure(type)));
    expect([first.error?.reason, first.error?.retryable, first.error?.requestId]).toEqual([reason, retryable, 'req_9']);
    expect(first.error?.message).toContain('The cat sat on it.');
    const later = await replay(answer(start(), text(0, 'Hi'), failure(type)));
    expect([later.error?.reason, later.error?.retryable, later.text, later.finish]).toEqual([reason, false, 'Hi', undefined]);
  });

  test.each([
    [404, { type: 'not_found_error', message: 'model: claude-9' }, 'model_not_found', false],
    [529, { type: 'overloaded_error', message: 'Overloaded' }, 'provider_unavailable', true],
    [413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }, 'invalid_request', false],
    [
      400,
      { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
      'context_length_exceeded',
      false,
    ],
    [
      400,
      { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000' },
      'context_length_exceeded',
      false,
    ],
    [400, { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' }, 'insufficient_quota', false],
    [401, { type: 'authentication_error', message: 'invalid x-api-key' }, 'authentication_failed', false],
  ])('status %s %j', async (status, error, reason, retryable) => {
    const body = JSON.stringify({ type: 'error', error, request_id: 'req_1' });
    const { error: told } = await replay(new Response(body, { status, headers: { 'request-id': 'req_7' } }));
    expect([told?.reason, told?.retryable, told?.status, told?.requestId]).toEqual([reason, retryable, status, 'req_7']);
    expect(told?.message).toContain(error.message);
  });

  test.each<[string, string, string]>([
    ['nothing', '', 'truncated'],
    ['only a start', answer(start()), 'truncated'],
    ['no stop reason', answer(start(), text(0, 'Hi')), 'truncated'],
    ['no message_stop', answer(start(), text(0, 'Hi'), end('end_turn')[0]!), 'truncated'],
    ['a web page', '<!doctype html><title>Log in</title>', 'malformed_response'],
    ['plain words', 'hello there', 'malformed_response'],
    ['an error without framing', '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'provider_unavailable'],
    ['an error over many lines', '{\n"type":"error",\n"error":{"type":"overloaded_error","message":"Overloaded"}}', 'provider_unavailable'],
    ['an error that is no JSON', 'event: error\ndata: it broke\n\n', 'unknown'],
  ])('%s', async (_, body, reason) => {
    const result = await replay(body);
    expect([result.error?.reason, result.finish]).toEqual([reason, undefined]);
  });

  test('oddities that do no harm', async () => {
    const [begin, delta] = text(0, 'Hi');
    const odd = `: hello\n\ndata: : keep-alive\n\ndata:\n\nevent: ping\ndata: {}\n\n${answer(start(), begin!)}data: not json\n\n`;
    const result = await replay(`${odd}${answer(delta!, end('end_turn')[0]!)}data: [DONE]\n\n`);
    expect([result.text, result.finish, result.error]).toEqual(['Hi', 'stop', undefined]);
    expect(result.warnings.map(({ code }) => code)).toEqual(['malformed_event']);
    // Data without a type, pieces without a block or an index, a block that nobody ends.
    const untyped = 'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"a"}}\n\n';
    const loose = await replay(
      answer(start()) +
        untyped +
        answer({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'b' } }, ...tool(1, 't', 'f', '{}'), end('tool_use')),
    );
    expect([loose.text, loose.calls.length, loose.error, loose.warnings]).toEqual(['ab', 1, undefined, []]);
  });

  test.each([
    null,
    1,
    'x',
    [],
    {},
    { type: 'message_start' },
    { type: 'content_block_start', index: 0, content_block: null },
    { type: 'content_block_delta', index: {}, delta: [] },
    { type: 'message_delta', delta: null, usage: [] },
  ])('data that is %j is passed over', async data => {
    const result = await replay(`${answer(start())}data: ${JSON.stringify(data)}\n\n${answer(text(0, 'Hi'), end('end_turn'))}`);
    expect([result.text, result.finish, result.error]).toEqual(['Hi', 'stop', undefined]);
  });

  test('nothing is read behind message_stop', async () => {
    const result = await replay(answer(start(), text(0, 'Hi'), end('end_turn'), failure('api_error')) + event(start({ id: 'msg_2' })));
    expect([result.text, result.error]).toEqual(['Hi', undefined]);
  });
});

test('pings are a sign of life', async () => {
  let restarts = 0;
  const deadline = { pause: () => {}, restart: () => void restarts++ };
  const pieces = [answer(start()), event({ type: 'ping' }), event({ type: 'ping' }), answer(text(0, 'Hi'), end('end_turn'))];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(piece));
    },
  });
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const result = await run(anthropic({ model: 'm', apiKey: 'k', fetch }), HELLO, { ...contextOf(), deadline });
  expect([result.text, restarts]).toEqual(['Hi', 3]);
});
