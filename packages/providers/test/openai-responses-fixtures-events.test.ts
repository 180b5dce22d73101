// Shapes that servers of the Responses API were recorded with, in made-up words: reasoning, places and ends.
import { describe, expect, it, test } from 'vitest';
import {
  added,
  argsDelta,
  call,
  callItem,
  completed,
  created,
  done,
  message,
  messageItem,
  messageOf,
  prepare,
  read,
  readEvents,
  reasoningItem,
  summaryDelta,
  USAGE,
} from './support/responses-wire.js';

const END = completed();
const without = (event: object): object => ({ ...event, output_index: undefined });

describe('reasoning', () => {
  const texts = ['First.', 'Second.', 'Third.'];

  it.each([true, false])('of several summaries, encrypted: %s', async isEncrypted => {
    const item = reasoningItem(texts, isEncrypted ? { encrypted_content: 'gBBB==' } : { encrypted_content: undefined });
    const parts = texts.flatMap((text, i) => [
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: i, part: { type: 'summary_text', text: '' } },
      summaryDelta(0, text.slice(0, 2), i),
      summaryDelta(0, text.slice(2), i),
      { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: i, text },
      { type: 'response.reasoning_summary_part.done', output_index: 0, summary_index: i, part: { type: 'summary_text', text } },
    ]);
    const begun = added(0, { ...item, summary: [], ...(isEncrypted ? { encrypted_content: 'gAAA==' } : {}) });
    const result = await readEvents([created(), begun, ...parts, done(0, item), ...message(1, 'So.', { phase: 'final_answer' }), END]);
    expect([result.reasoning, result.text, result.warnings]).toEqual([texts.join('\n\n'), 'So.', []]);
    const { body } = await prepare({ messages: [messageOf(result.events)] });
    const said = messageItem('So.', { phase: 'final_answer' });
    // Neither stored nor encrypted, it means nothing to the server, nor does the id of what rests on it.
    expect(body.input).toEqual(JSON.parse(JSON.stringify(isEncrypted ? [item, said] : [{ ...said, id: undefined }])));
  });

  test.each<[string, object[]]>([
    ['only as a part that ends', [{ type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: 'Hm.' }]],
    ['in full, only as a part that ends', [{ type: 'response.reasoning_text.done', output_index: 0, content_index: 0, text: 'Hm.' }]],
    [
      'under the name of the open specification',
      [
        { type: 'response.reasoning.delta', output_index: 0, content_index: 0, delta: 'H' },
        { type: 'response.reasoning.delta', output_index: 0, content_index: 0, delta: 'm.' },
        { type: 'response.reasoning.done', output_index: 0, content_index: 0, text: 'Hm.' },
      ],
    ],
  ])('told %s', async (_, parts) => {
    const item = { id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAA==' };
    const result = await readEvents([created(), added(0, item), ...parts, done(0, item), ...message(1, 'So.'), END]);
    expect([result.reasoning, result.text, result.warnings]).toEqual(['Hm.', 'So.', []]);
  });

  it('that was cut before it began leaves nothing', async () => {
    const cut = {
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage: USAGE },
    };
    const result = await readEvents([added(0, { id: 'rs_1', type: 'reasoning', summary: [] }), cut]);
    expect([result.finish, result.raw, result.reasoning]).toEqual(['length', 'max_output_tokens', '']);
    expect(messageOf(result.events).content).toEqual([]);
    const late = await readEvents([
      ...call(0, callItem('add', '{"a":1}')),
      { ...cut, response: { incomplete_details: { reason: 'server_timeout' } } },
    ]);
    expect([late.finish, late.raw, late.calls.map(made => made.arguments)]).toEqual(['other', 'server_timeout', [{ a: 1 }]]);
  });
});

describe('places', () => {
  const thought = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAA==' };
  const values = [
    added(0, { ...thought, summary: [] }),
    { ...summaryDelta(0, 'Hm.'), item_id: 'rs_1' },
    done(0, thought),
    ...message(1, 'Hello').map(event => ({ ...event, item_id: 'msg_1' })),
    added(2, callItem('add', '')),
    { ...argsDelta(2, '{"a":1}'), item_id: 'fc_1' },
    done(2, callItem('add', '{"a":1}')),
  ];

  test.each<[string, object[]]>([
    ['in no event', values.map(without)],
    ['in no event, each told by its end', values.filter(event => 'item' in event && event.type.endsWith('done')).map(without)],
    ['in no part, only in items', values.map(event => ('item' in event ? event : without(event)))],
  ])('stand %s', async (_, events) => {
    const output = [thought, messageItem('Hello'), callItem('add', '{"a":1}')];
    for (const end of [END, completed({ output })]) {
      const result = await readEvents([created(), ...events, end]);
      expect([result.reasoning, result.text, result.calls.length, result.finish]).toEqual(['Hm.', 'Hello', 1, 'tool_calls']);
      expect((await prepare({ messages: [messageOf(result.events)] })).body.input).toEqual(output);
    }
  });

  it('are known by the id of an item when others have come since', async () => {
    const two = (n: number, args: string) => callItem('add', args, { id: `fc_${n}`, call_id: `call_${n}` });
    const part = (n: number, delta: string) => ({ type: 'response.function_call_arguments.delta', item_id: `fc_${n}`, delta });
    const result = await readEvents([
      created(),
      added(0, two(1, '')),
      added(1, two(2, '')),
      part(1, '{"a":'),
      part(2, '{"b":'),
      part(1, '1}'),
      part(2, '2}'),
      END,
    ]);
    expect(result.calls.map(made => made.arguments)).toEqual([{ a: 1 }, { b: 2 }]);
  });

  it('an item that only names itself at its end keeps the words that were streamed', async () => {
    const bare = { id: 'msg_1', type: 'message' };
    const result = await readEvents([
      created(),
      added(0, bare),
      { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hel' },
      { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'lo' },
      done(0, bare),
      { type: 'response.completed', response: { incomplete_details: null, usage: { ...USAGE, total_tokens: undefined } } },
    ]);
    expect([result.text, result.finish, result.warnings]).toEqual(['Hello', 'stop', []]);
    expect((await prepare({ messages: [messageOf(result.events)] })).body.input).toEqual([{ role: 'assistant', content: 'Hello' }]);
  });
});

describe('the end', () => {
  it('is told by one JSON value that does not name its kind', async () => {
    const output = [
      messageItem('', {
        content: [
          { type: 'output_text', text: 'One. ', annotations: [] },
          { type: 'output_text', text: 'Two.', annotations: [] },
        ],
      }),
    ];
    const body = JSON.stringify({ id: 'resp_1', created_at: 1, model: 'm-1', error: null, output, usage: USAGE });
    const result = await read(body, undefined, 'application/json');
    expect([result.error, result.text, result.finish, result.responseId]).toEqual([undefined, 'One. Two.', 'stop', 'resp_1']);
    expect((await prepare({ messages: [messageOf(result.events)] })).body.input).toEqual(output);
  });

  test.each<[string, object[], string, RegExp, boolean]>([
    [
      'an error without a code',
      [{ type: 'error', error: { type: 'server_error', code: null, message: 'Went wrong.', param: null } }],
      'provider_unavailable',
      /Went wrong/,
      true,
    ],
    [
      'an error before the failure',
      [
        created(),
        { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Pay first.' } },
        { type: 'response.failed', response: { status: 'failed', error: { code: 'insufficient_quota', message: 'Pay first.' } } },
      ],
      'insufficient_quota',
      /Pay first/,
      false,
    ],
    [
      'the failure alone',
      [
        created(),
        { type: 'response.failed', response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } } },
      ],
      'rate_limited',
      /Slow down/,
      true,
    ],
  ])('%s is an error with the words of the server', async (_, values, reason, words, retryable) => {
    const { error } = await readEvents(values);
    expect(error).toMatchObject({ reason, retryable, message: expect.stringMatching(words) });
  });

  it('counts what was written to the cache', async () => {
    const details = { cached_tokens: 3, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 };
    const result = await readEvents([created(), ...message(0, 'a'), completed({ usage: { ...USAGE, input_tokens_details: details } })]);
    expect(result.usage).toMatchObject({ inputTokens: 11, cachedInputTokens: 3, cacheWriteTokens: 2 });
  });
});
