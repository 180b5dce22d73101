// What a socket gives together travels together, and the reader must not be able to tell.
import {
  type AdapterEvent,
  type Burst,
  burstsOf,
  type ChatAdapter,
  createEngine,
  inBursts,
  type StreamEvent,
  systemClock,
} from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** A model that says these words in bursts of these sizes. */
function inSizes(words: readonly string[], sizes: readonly number[]) {
  const seen = { bursts: 0, closed: 0 };
  const events: AdapterEvent[] = [
    { type: 'message_start' },
    ...words.map(delta => ({ type: 'text_delta' as const, index: 0, delta })),
    { type: 'text_end', index: 0, text: words.join('') },
    { type: 'message_end', finishReason: 'stop', usage: { inputTokens: 1, outputTokens: words.length } },
  ];
  async function* read(): AsyncGenerator<Burst<AdapterEvent>, void> {
    try {
      for (let at = 0, i = 0; at < events.length; i++) {
        const size = sizes[i % sizes.length]!;
        seen.bursts++;
        yield events.slice(at, at + size);
        at += size;
      }
    } finally {
      seen.closed++;
    }
  }
  const chat: ChatAdapter = { provider: 'p', model: 'm', stream: (_, { signal }) => inBursts(read(), signal) };
  return { chat, seen, events };
}
const words = ['one ', 'two ', 'three ', 'four'];

describe('a stream in bursts', () => {
  test('is the same whatever their sizes are', async () => {
    const plain = await collect(createEngine({ chat: inSizes(words, [1]).chat }).stream('Hi', { requestId: 'r' }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }), async sizes => {
        if (sizes.every(size => size === 0)) return;
        const { chat, seen } = inSizes(words, sizes);
        expect(await collect(createEngine({ chat }).stream('Hi', { requestId: 'r' }))).toEqual(plain);
        expect(seen.closed).toBe(1);
      }),
    );
  });

  test('reads no burst before the last one is used up', async () => {
    const { chat, seen } = inSizes(words, [4]);
    const stream = createEngine({ chat }).stream('Hi');
    const events = stream[Symbol.asyncIterator]();
    for (let i = 0; i < 4; i++) await events.next();
    expect(seen.bursts).toBe(1);
    await events.next();
    expect(seen.bursts).toBe(2);
    await events.return?.();
  });

  test('that is stopped in the middle of a burst ends there, for the reader and for the outcome', async () => {
    const { chat, seen } = inSizes(words, [99]);
    const stop = new AbortController();
    const stream = createEngine({ chat }).stream('Hi', { signal: stop.signal });
    let text = '';
    for await (const event of stream) {
      if (event.type !== 'text_delta') continue;
      text += event.delta;
      if (text.endsWith('two ')) stop.abort();
    }
    expect(text).toBe('one two ');
    expect(await stream.outcome).toMatchObject({ status: 'interrupted', reason: 'aborted', text: 'one two ' });
    expect(seen.closed).toBe(1);
  });

  test('that is left in the middle of a burst ends there', async () => {
    const { chat, seen } = inSizes(words, [99]);
    const stream = createEngine({ chat }).stream('Hi');
    for await (const event of stream) if (event.type === 'text_delta') break;
    expect(await stream.outcome).toMatchObject({ status: 'interrupted', reason: 'aborted', text: 'one ' });
    expect(seen.closed).toBe(1);
  });

  test('that is read as an adapter stops at the signal too', async () => {
    const { chat, seen } = inSizes(words, [99]);
    const stop = new AbortController();
    const got: AdapterEvent[] = [];
    const reading = (async () => {
      const context = { signal: stop.signal, requestId: 'r', clock: systemClock };
      for await (const event of chat.stream({ messages: [] }, context)) if (got.push(event) === 2) stop.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
    expect(got).toHaveLength(2);
    expect(seen.closed).toBe(1);
  });

  test('answers questions that come before the last answer in turn', async () => {
    const { chat, events } = inSizes(words, [3]);
    const stream = createEngine({ chat }).stream('Hi')[Symbol.asyncIterator]();
    const answers = await Promise.all(Array.from({ length: events.length + 3 }, () => stream.next()));
    expect(answers.flatMap(({ value }) => (value ? [(value as StreamEvent).type] : []))).toEqual([
      ...events.map(({ type }) => type),
      'step_end',
      'end',
    ]);
    expect(answers.at(-1)).toEqual({ done: true, value: undefined });
  });

  test('whose burst fails half-way fails the run with what came', async () => {
    function* broken(): Generator<AdapterEvent> {
      yield { type: 'text_delta', index: 0, delta: 'so far' };
      throw new Error('boom');
    }
    async function* read() {
      yield broken();
    }
    const chat: ChatAdapter = { provider: 'p', model: 'm', stream: () => inBursts(read()) };
    const outcome = await createEngine({ chat, retry: false }).chat('Hi');
    expect(outcome).toMatchObject({ status: 'failed', text: 'so far', error: { message: expect.stringMatching(/boom/) } });
  });

  test('can be taken apart and put together', async () => {
    async function* plain() {
      yield 1;
      yield 2;
    }
    async function* together() {
      yield* burstsOf(plain());
      yield [3, 4];
    }
    expect(await collect(inBursts(together()))).toEqual([1, 2, 3, 4]);
    const bursts: number[][] = [];
    for await (const burst of burstsOf(inBursts(together()))) bursts.push([...burst]);
    expect(bursts).toEqual([[1], [2], [3, 4]]);
  });
});
