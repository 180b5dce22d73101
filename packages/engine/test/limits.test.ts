import { getEventListeners } from 'node:events';
import { type ChatAdapter, createEngine, type Limits, limited, sleep } from '@antiphon/engine';
import { scripted, type VirtualClock, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collect, settled } from './support.js';

/** A model whose answers take so long, and a note of when each request left and how many were under way. */
function busy(clock: VirtualClock, answerMs: number, tokens = 0) {
  const seen = { left: [] as { at: number; text: string }[], active: 0, most: 0 };
  const chat: ChatAdapter = {
    provider: 'busy',
    model: 'busy-1',
    async *stream(request, { signal }) {
      signal.throwIfAborted();
      seen.left.push({ at: clock.now(), text: String(request.messages.at(-1)?.content) });
      seen.most = Math.max(seen.most, ++seen.active);
      try {
        yield { type: 'message_start' };
        await sleep(clock, answerMs, signal);
        yield { type: 'text_delta', index: 0, delta: 'ok' };
        yield { type: 'message_end', finishReason: 'stop', usage: tokens === 0 ? {} : { totalTokens: tokens } };
      } finally {
        seen.active--;
      }
    },
  };
  return { seen, chat };
}

describe('limited', () => {
  test.each<readonly [string, Limits, number, number, number, readonly number[]]>([
    ['nothing', {}, 5, 100, 0, [0, 0, 0, 0, 0]],
    ['two at a time', { maxConcurrent: 2 }, 5, 100, 0, [0, 0, 100, 100, 200]],
    ['one at a time', { maxConcurrent: 1 }, 3, 100, 0, [0, 100, 200]],
    ['two a minute', { requestsPerMinute: 2 }, 5, 100, 0, [0, 0, 60_000, 60_000, 120_000]],
    ['one at a time, two a minute', { maxConcurrent: 1, requestsPerMinute: 2 }, 4, 100, 0, [0, 100, 60_000, 60_100]],
    ['100 tokens a minute, 60 each', { tokensPerMinute: 100, maxConcurrent: 1 }, 3, 100, 60, [0, 100, 60_000]],
    ['fewer tokens than one request', { tokensPerMinute: 1 }, 2, 100, 60, [0, 60_000]],
  ])('%s', async (_, limits, count, answerMs, tokens, expected) => {
    const clock = virtualClock();
    const { seen, chat } = busy(clock, answerMs, tokens);
    const engine = createEngine({ chat: limited(chat, limits), clock });
    const all = Promise.all(Array.from({ length: count }, (_, i) => engine.chat(String(i))));
    await settled(clock, all);
    expect(seen.left.map(({ at }) => at)).toEqual(expected);
    expect(seen.left.map(({ text }) => text)).toEqual(Array.from({ length: count }, (_, i) => String(i)));
    expect(clock.pending).toBe(0);
  });

  test('one instance is one limit, whoever uses it', async () => {
    const clock = virtualClock();
    const { seen, chat } = busy(clock, 100);
    const shared = limited(chat, { maxConcurrent: 1 });
    const engines = [createEngine({ chat: shared, clock }), createEngine({ chat: shared, clock })];
    await settled(clock, Promise.all(engines.map(engine => engine.chat('Hi'))));
    expect([seen.most, seen.left.map(({ at }) => at)]).toEqual([1, [0, 100]]);
  });

  test('whoever stops waiting makes room, and never asks', async () => {
    const clock = virtualClock();
    const { seen, chat } = busy(clock, 100);
    const engine = createEngine({ chat: limited(chat, { maxConcurrent: 1 }), clock });
    const stop = new AbortController();
    const done = [engine.chat('a'), engine.chat('b', { signal: stop.signal }), engine.chat('c')];
    await clock.advance(50);
    stop.abort();
    const outcomes = await settled(clock, Promise.all(done));
    expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'interrupted', 'completed']);
    expect(seen.left.map(({ text, at }) => [text, at])).toEqual([
      ['a', 0],
      ['c', 100],
    ]);
    expect([clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0]);
  });

  test('a reader who leaves early gives the place back', async () => {
    const clock = virtualClock();
    const { seen, chat } = busy(clock, 100);
    const engine = createEngine({ chat: limited(chat, { maxConcurrent: 1 }), clock });
    const left = (async () => {
      for await (const event of engine.stream('a')) if (event.type === 'text_delta') break;
    })();
    await settled(clock, Promise.all([left, engine.chat('b')]));
    expect([seen.left.length, seen.active]).toEqual([2, 0]);
  });

  test('a request that fails gives the place back', async () => {
    const clock = virtualClock();
    const chat = limited(scripted([new Error('bug'), 'Fine.']), { maxConcurrent: 1 });
    const engine = createEngine({ chat, clock });
    expect(await settled(clock, engine.chat('a'))).toMatchObject({ status: 'failed' });
    expect(await settled(clock, engine.chat('b'))).toMatchObject({ status: 'completed' });
  });

  test('waiting in the queue is not the model’s time', async () => {
    const clock = virtualClock();
    const { chat } = busy(clock, 100);
    const engine = createEngine({ chat: limited(chat, { maxConcurrent: 1 }), clock, retry: false });
    const all = Promise.all(['a', 'b', 'c'].map(text => engine.chat(text, { timeouts: { firstByteMs: 50 } })));
    expect((await settled(clock, all)).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(clock.pending).toBe(0);
  });

  test('it says of itself what the model says', () => {
    const inner = Object.assign(scripted([]), { structuredOutput: true, continuation: true });
    expect(limited(inner, { maxConcurrent: 1 })).toMatchObject({ provider: 'scripted', structuredOutput: true, continuation: true });
  });

  test.each([{ maxConcurrent: 0 }, { requestsPerMinute: 1.5 }, { tokensPerMinute: -1 }, { perSecond: 1 }])('%j is refused', limits => {
    expect(() => limited(scripted([]), limits as Limits)).toThrow(expect.objectContaining({ reason: 'invalid_option' }));
  });

  test('never more than allowed, in the order of asking, and nothing left behind', async () => {
    const limit = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
    const call = fc.record({ at: fc.nat(90_000), abortAfter: fc.option(fc.nat(90_000), { nil: undefined }) });
    await fc.assert(
      fc.asyncProperty(
        limit,
        limit,
        fc.array(call, { maxLength: 8 }),
        fc.integer({ min: 1, max: 40_000 }),
        async (maxConcurrent, perMinute, asks, answerMs) => {
          const clock = virtualClock();
          const { seen, chat } = busy(clock, answerMs);
          const limits = { ...(maxConcurrent ? { maxConcurrent } : {}), ...(perMinute ? { requestsPerMinute: perMinute } : {}) };
          const engine = createEngine({ chat: limited(chat, limits), clock });
          const order = [...asks].sort((a, b) => a.at - b.at);
          const stops: AbortController[] = [];
          const all = Promise.all(
            order.map(async ({ at, abortAfter }, i) => {
              await sleep(clock, at);
              const stop = new AbortController();
              stops.push(stop);
              if (abortAfter !== undefined) clock.setTimer(abortAfter, () => stop.abort());
              await collect(engine.stream(String(i), { signal: stop.signal }));
            }),
          );
          await settled(clock, all);
          expect(seen.most).toBeLessThanOrEqual(maxConcurrent ?? 99);
          for (const [i, { at }] of seen.left.entries()) {
            const earlier = seen.left[i - (perMinute ?? 99)];
            if (earlier) expect(at - earlier.at).toBeGreaterThanOrEqual(60_000);
          }
          const numbers = seen.left.map(({ text }) => Number(text));
          expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
          expect([seen.active, clock.pending, ...stops.map(stop => getEventListeners(stop.signal, 'abort').length)]).toEqual([
            0,
            0,
            ...stops.map(() => 0),
          ]);
        },
      ),
      { numRuns: 100 },
    );
  });
});
