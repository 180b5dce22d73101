// What each kind of content block becomes.
import type { AssistantPart } from '@antiphon/engine';
import { anthropic } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { answer, block, end, messageOf, start, text, tool } from './support/anthropic-wire.js';
import { HELLO, type Run, run } from './support/run.js';

function replay(body: string | Response, request = HELLO): Promise<Run> {
  const response =
    typeof body === 'string' ? new Response(body, { headers: { 'content-type': 'text/event-stream', 'request-id': 'req_9' } }) : body;
  return run(anthropic({ model: 'claude-sonnet-4-5', apiKey: 'sk-ant-secret-0123456789', fetch: async () => response }), request);
}
const partsOf = (result: Run) => messageOf(result.events).content as readonly AssistantPart[];
const own = (state: object) => ({ anthropic: state });

describe('blocks', () => {
  test('text, with a ping and an event that nobody knows between', async () => {
    const [begin, ...rest] = text(0, 'Good ', 'day');
    const result = await replay(answer(start(), begin!, { type: 'ping' }, { type: 'new_thing', x: 1 }, rest, end('end_turn')));
    expect(result).toMatchObject({ text: 'Good day', finish: 'stop', raw: 'end_turn', model: 'm-1', responseId: 'msg_1', warnings: [] });
    expect(result.events[0]).toEqual({
      type: 'message_start',
      model: 'm-1',
      responseId: 'msg_1',
      usage: { inputTokens: 11, outputTokens: 1, totalTokens: 12 },
    });
  });

  test('text that stands in the start of its block', async () => {
    expect(
      (await replay(answer(start(), block(0, { type: 'text', text: 'Hi' }, { type: 'text_delta', text: '!' }), end('end_turn')))).text,
    ).toBe('Hi!');
  });

  test('two blocks of text stay two', async () => {
    expect(partsOf(await replay(answer(start(), text(0, 'a'), text(1, 'b'), end('end_turn'))))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
  });

  test('thinking with its signature, without a text, without a signature, and redacted', async () => {
    const thinking = { type: 'thinking', thinking: '', signature: '' };
    const result = await replay(
      answer(
        start(),
        block(0, thinking, { type: 'thinking_delta', thinking: 'Hm.' }, { type: 'signature_delta', signature: 'S1' }),
        block(1, thinking, { type: 'signature_delta', signature: 'S2' }),
        block(2, thinking, { type: 'thinking_delta', thinking: 'Well.' }),
        block(3, { type: 'redacted_thinking', data: 'XYZ' }),
        end('end_turn'),
      ),
    );
    expect(result.reasoning).toBe('Hm.Well.');
    expect(partsOf(result)).toEqual([
      { type: 'reasoning', text: 'Hm.', providerState: own({ signature: 'S1' }) },
      { type: 'reasoning', text: '', providerState: own({ signature: 'S2' }) },
      { type: 'reasoning', text: 'Well.' },
      { type: 'reasoning', text: '', providerState: own({ block: { type: 'redacted_thinking', data: 'XYZ' } }) },
    ]);
  });

  test('calls: in pieces, without arguments, and with the arguments in the start', async () => {
    const caller = { type: 'code_execution_20250825', tool_id: 'srv_1' };
    const result = await replay(
      answer(
        start(),
        tool(0, 'toolu_1', 'add', '', '{"a":', '1}'),
        tool(1, 'toolu_2', 'now'),
        tool(2, 'toolu_3', 'now', ''),
        block(3, { type: 'tool_use', id: 'toolu_4', name: 'add', input: { b: 2 }, caller }),
        end('tool_use'),
      ),
    );
    expect(result.calls).toEqual([
      { id: 'toolu_1', name: 'add', arguments: { a: 1 }, rawArguments: '{"a":1}' },
      { id: 'toolu_4', name: 'add', arguments: { b: 2 }, rawArguments: '{"b":2}', providerState: own({ caller }) },
      { id: 'toolu_2', name: 'now', arguments: {}, rawArguments: '{}' },
      { id: 'toolu_3', name: 'now', arguments: {}, rawArguments: '{}' },
    ]);
    expect(result.finish).toBe('tool_calls');
  });

  test.each([
    ['in the middle', ['{"a":'], 'truncated'],
    ['before its first word', [''], 'truncated'],
  ])('a call that max_tokens cuts off %s is not run', async (_, pieces, reason) => {
    const result = await replay(answer(start(), tool(0, 't', 'add', ...pieces), end('max_tokens')));
    expect([result.finish, result.calls[0]?.invalid?.reason]).toEqual(['length', reason]);
  });

  test('a call that is whole before max_tokens cuts the next one off is run', async () => {
    const result = await replay(answer(start(), tool(0, 't', 'add', '{"a":1}'), tool(1, 'u', 'add', '{"a"'), end('max_tokens')));
    expect(result.calls.map(call => call.invalid?.reason)).toEqual([undefined, 'truncated']);
  });

  test('citations become sources behind their text and stay with it', async () => {
    const page = { type: 'web_search_result_location', url: 'https://a.test/', title: 'A', cited_text: 'Words', encrypted_index: 'E' };
    const place = {
      type: 'char_location',
      document_index: 0,
      document_title: 'Report',
      cited_text: 'More',
      start_char_index: 0,
      end_char_index: 4,
    };
    const deltas = [
      { type: 'citations_delta', citation: page },
      { type: 'text_delta', text: 'So.' },
      { type: 'citations_delta', citation: place },
      { type: 'citations_delta', citation: null },
    ];
    const result = await replay(
      answer(start(), block(0, { type: 'text', text: '', citations: [] }, ...deltas), text(1, 'Then.'), end('end_turn')),
    );
    expect(partsOf(result)).toEqual([
      { type: 'text', text: 'So.', providerState: own({ citations: [page, place] }) },
      { type: 'source', url: 'https://a.test/', title: 'A', quote: 'Words' },
      { type: 'source', id: 'document_0', title: 'Report', quote: 'More' },
      { type: 'text', text: 'Then.' },
    ]);
  });

  test('tools of the server are kept whole; what they found are sources and files', async () => {
    const use = (id: string, name: string) => ({ type: 'server_tool_use', id, name, input: {} });
    const found = { type: 'web_search_result', url: 'https://a.test/', title: 'A', encrypted_content: 'E', page_age: null };
    const results = [
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [found] },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's2',
        content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
      },
      {
        type: 'web_fetch_tool_result',
        tool_use_id: 's3',
        content: { type: 'web_fetch_result', url: 'https://b.test/', content: { type: 'document', title: 'B' } },
      },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 's4',
        content: { type: 'bash_code_execution_result', content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }] },
      },
      { type: 'mcp_tool_result', tool_use_id: 's5', is_error: false, content: [{ type: 'text', text: 'ok' }] },
      { type: 'container_upload', file_id: 'file_2' },
    ];
    const asked = block(
      0,
      use('s1', 'web_search'),
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{"query":"x"}' },
    );
    const result = await replay(
      answer(
        start(),
        asked,
        results.flatMap((result, i) => block(i + 1, result)),
        end('end_turn'),
      ),
    );
    const parts = partsOf(result) as readonly { type: string; providerState?: { anthropic?: { block?: unknown } } }[];
    expect(parts.flatMap(part => part.providerState?.anthropic?.block ?? [])).toEqual([
      { ...use('s1', 'web_search'), input: { query: 'x' } },
      ...results,
    ]);
    expect(result.sources).toEqual([
      { type: 'source', url: 'https://a.test/', title: 'A' },
      { type: 'source', url: 'https://b.test/', title: 'B' },
    ]);
    expect(parts.filter(part => part.type === 'file')).toEqual([
      { type: 'file', mediaType: 'application/octet-stream', name: 'file_1', url: 'https://api.anthropic.com/v1/files/file_1/content' },
    ]);
    expect([result.calls, result.text, result.reasoning]).toEqual([[], '', '']);
  });

  test('compaction, a change of models and kinds that nobody knows yet are kept whole', async () => {
    const result = await replay(
      answer(
        start(),
        block(
          0,
          { type: 'compaction', content: null },
          { type: 'compaction_delta', content: 'Sum' },
          { type: 'compaction_delta', content: 'mary' },
        ),
        block(1, { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }),
        block(2, { type: 'of_2031' }, { type: 'of_2031_delta', __proto__: null, x: 'y', z: [1] }),
        end('end_turn'),
      ),
    );
    expect(partsOf(result).map(part => ('providerState' in part ? part.providerState?.anthropic : undefined))).toEqual([
      { block: { type: 'compaction', content: 'Summary' } },
      { block: { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } } },
      { block: { type: 'of_2031', x: 'y', z: [1] } },
    ]);
  });

  test('hostile keys are only keys', async () => {
    const body =
      answer(start(), [block(0, { type: 'x' })[0]!]) +
      'data: {"type":"content_block_delta","index":0,"delta":{"type":"constructor","__proto__":{"hostile":1}}}\n\n';
    const result = await replay(body + answer(end('end_turn')));
    expect(result.finish).toBe('stop');
    expect('hostile' in {}).toBe(false);
    const begins = await replay(answer(start(), { type: 'content_block_delta', index: 7, delta: { type: '__proto__' } }, end('end_turn')));
    expect(begins.warnings.length).toBe(1);
  });
});
