// Shapes that servers of the chat dialect were recorded with, in made-up words: what each of them gives.
import { openaiChat } from '@antiphon/providers';
import { describe, expect, it, test } from 'vitest';
import { answering } from './support/responses-wire.js';
import { HELLO, run } from './support/run.js';
import { chunk, END, sse, TEXT, TOOL_END, tools } from './support/wire.js';

const read = (values: readonly object[], baseURL = 'https://llm.test/v1') =>
  run(openaiChat({ model: 'm', baseURL, apiKey: 'k', fetch: answering(sse(values)) }), HELLO);
const piece = (args: string, more: object = {}) => ({ function: { arguments: args }, ...more });
const named = (id: string, name: string, args = '') => ({ id, type: 'function', function: { name, arguments: args } });

describe('calls without places', () => {
  test.each<[string, object[]]>([
    [
      'in rows',
      [
        tools(named('a_0', 'weather'), named('b_1', 'time')),
        tools(piece('{"city":'), piece('{"zone":')),
        tools(piece('"Rome"}'), piece('"UTC"}')),
      ],
    ],
    [
      'in rows, the first piece beside the name',
      [tools(named('a_0', 'weather', '{"city":'), named('b_1', 'time', '{"zone":')), tools(piece('"Rome"}'), piece('"UTC"}'))],
    ],
    [
      'one behind the other',
      [tools(named('a_0', 'weather')), tools(piece('{"city":"Rome"}')), tools(named('b_1', 'time')), tools(piece('{"zone":"UTC"}'))],
    ],
    [
      'or with places that are no numbers',
      [
        tools(
          { ...named('a_0', 'weather', '{"city":"Rome"}'), index: 'zero' },
          { ...named('b_1', 'time', '{"zone":"UTC"}'), index: 'one' },
        ),
      ],
    ],
  ])('%s', async (_, values) => {
    const result = await read([chunk({ role: 'assistant', content: '' }), ...values, ...TOOL_END]);
    expect(result.calls.map(({ id, name, arguments: args }) => [id, name, args])).toEqual([
      ['a_0', 'weather', { city: 'Rome' }],
      ['b_1', 'time', { zone: 'UTC' }],
    ]);
    expect([result.finish, result.warnings]).toEqual(['tool_calls', []]);
  });
});

describe('usage', () => {
  const usage = async (counts: object, baseURL?: string) => (await read([...TEXT, chunk({}, 'stop', { usage: counts })], baseURL)).usage;
  const within = (reasoning_tokens: number) => ({ completion_tokens_details: { reasoning_tokens } });

  test.each<[string, object, object]>([
    [
      'of more reasoning than output by one, which the total holds within (Kimi)',
      { prompt_tokens: 100, completion_tokens: 600, total_tokens: 701, ...within(601) },
      { inputTokens: 100, outputTokens: 601, totalTokens: 701, reasoningTokens: 601 },
    ],
    [
      'of reasoning beside the output',
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 160, ...within(50) },
      { inputTokens: 100, outputTokens: 60, totalTokens: 160, reasoningTokens: 50 },
    ],
    [
      'of nothing but reasoning',
      { prompt_tokens: 87, completion_tokens: 2, total_tokens: 89, ...within(2), prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 87 },
      { inputTokens: 87, outputTokens: 2, totalTokens: 89, cachedInputTokens: 0, reasoningTokens: 2 },
    ],
    [
      'with the cache in a field of its own (Mistral)',
      { prompt_tokens: 20, completion_tokens: 2, total_tokens: 22, num_cached_tokens: 16 },
      { inputTokens: 20, outputTokens: 2, totalTokens: 22, cachedInputTokens: 16 },
    ],
    [
      'with what was written to the cache among the details',
      {
        prompt_tokens: 20,
        completion_tokens: 2,
        total_tokens: 22,
        prompt_tokens_details: { cached_tokens: 4, cache_creation_input_tokens: 8 },
      },
      { inputTokens: 20, outputTokens: 2, totalTokens: 22, cachedInputTokens: 4, cacheWriteTokens: 8 },
    ],
  ])('%s', async (_, counts, want) => expect(await usage(counts)).toEqual(want));

  it('grows from chunk to chunk; the last counts (Perplexity, Mistral)', async () => {
    const part = (content: string, n: number, finish: string | null = null) =>
      chunk({ role: 'assistant', content }, finish, {
        usage: { prompt_tokens: 6, completion_tokens: n, total_tokens: 6 + n },
        citations: ['https://a.test'],
      });
    const result = await read([part('The', 1), part(' end', 2), part('', 2, 'stop')]);
    expect([result.text, result.usage]).toEqual(['The end', { inputTokens: 6, outputTokens: 2, totalTokens: 8 }]);
    expect(result.sources).toEqual([{ type: 'source', url: 'https://a.test' }]);
  });
});

describe('answers', () => {
  it('begin with a chunk that holds nothing but filters (Azure)', async () => {
    const filters = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0 }] };
    const result = await read([filters, ...TEXT, ...END]);
    expect([result.text, result.model, result.responseId, result.finish]).toEqual(['Good day', 'm-1', 'r1', 'stop']);
  });

  it('have reasoning beside empty lists of calls, or null in all that is not there', async () => {
    const empty = await read([
      chunk({ role: 'assistant', content: '', reasoning_content: 'Hm', tool_calls: [] }),
      chunk({ content: '', reasoning_content: '.', tool_calls: [] }),
      chunk({ content: 'Hello', reasoning_content: '', tool_calls: [] }, 'stop'),
    ]);
    const nulls = await read([
      chunk({ role: null, content: null, reasoning_content: 'Hm.', tool_calls: null }),
      chunk({ role: null, content: 'Hello', reasoning_content: null, tool_calls: null }),
      ...END,
    ]);
    for (const result of [empty, nulls]) expect([result.reasoning, result.text, result.finish]).toEqual(['Hm.', 'Hello', 'stop']);
  });

  it('think in parts of the content, the last of them beside the first words (Mistral)', async () => {
    const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }], closed: true });
    const result = await read([
      chunk({ role: 'assistant', content: '' }),
      { ...(chunk({ content: [thinking('So')] }) as object), p: 'abc' },
      chunk({ content: [thinking(' so.'), { type: 'text', text: '3' }] }),
      chunk({ content: '91' }, 'stop'),
    ]);
    expect([result.reasoning, result.text, result.finish, result.warnings]).toEqual(['So so.', '391', 'stop', []]);
  });

  it('break off with an error after their first words', async () => {
    const result = await read([
      chunk({ content: 'Part' }),
      { error: { message: 'Stream failed', type: 'server_error', code: 'stream_failure' } },
    ]);
    expect(result.text).toBe('Part');
    expect(result.error).toMatchObject({
      reason: 'provider_unavailable',
      retryable: false,
      message: expect.stringContaining('Stream failed'),
    });
  });
});
