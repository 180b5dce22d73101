import { getEventListeners } from 'node:events';
import {
  AdapterError,
  type AdapterEvent,
  type CallOptions,
  type ChatAdapter,
  createEngine,
  foldEvents,
  sleep,
  type Timeouts,
} from '@antiphon/engine';
import { virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calls, collect, deaf, plainTool, settled, setUp } from './support.js';

type Try = readonly [start: number, first: number, second: number];

/** A model that waits so many milliseconds before its start, its first word and its second one; one list a try, the last for all that follow. */
function slow(...tries: readonly Try[]) {
  const seen = { requests: 0, closed: 0, reasons: [] as unknown[] };
  const chat: ChatAdapter = {
    provider: 'slow',
    model: 'slow-1',
    async *stream(_, { clock, signal }): AsyncGenerator<AdapterEvent> {
      const [start, first, second] = tries[Math.min(seen.requests++, tries.length - 1)] ?? [0, 0, 0];
      try {
        await sleep(clock, start, signal);
        yield { type: 'message_start' };
        await sleep(clock, first, signal);
        yield { type: 'text_delta', index: 0, delta: 'one' };
        await sleep(clock, second, signal);
        yield { type: 'text_delta', index: 0, delta: ' two' };
        yield { type: 'text_end', index: 0, text: 'one two' };
        yield { type: 'message_end', finishReason: 'stop', usage: {} };
      } finally {
        seen.closed++;
        if (signal.aborted) seen.reasons.push(signal.reason);
      }
    },
  };
  const clock = virtualClock();
  return { seen, clock, engine: createEngine({ chat, clock, retry: { maxRetries: 1, baseMs: 10, random: () => 1 } }) };
}

describe('deadlines', () => {
  test.each<readonly [string, Timeouts, readonly Try[], object, number, number]>([
    ['in time', { firstByteMs: 50, idleMs: 50, stepMs: 200 }, [[40, 40, 40]], { status: 'completed', text: 'one two' }, 1, 120],
    ['no first byte, twice', { firstByteMs: 50 }, [[60, 0, 0]], { error: { reason: 'timeout', retryable: true }, text: '' }, 2, 110],
    [
      'no first byte, once',
      { firstByteMs: 50 },
      [
        [60, 0, 0],
        [1, 1, 1],
      ],
      { status: 'completed', text: 'one two' },
      2,
      63,
    ],
    [
      'still before the first word, once',
      { idleMs: 50 },
      [
        [60, 60, 0],
        [0, 0, 0],
      ],
      { status: 'completed' },
      2,
      120,
    ],
    [
      'still in the middle',
      { idleMs: 50 },
      [
        [0, 0, 60],
        [0, 0, 0],
      ],
      { error: { reason: 'timeout' }, text: 'one' },
      1,
      50,
    ],
    ['a step that is too long', { stepMs: 100 }, [[40, 40, 40]], { error: { reason: 'timeout' }, text: 'one' }, 1, 100],
    ['a step that is over while a try waits', { firstByteMs: 50, stepMs: 55 }, [[60, 0, 0]], { error: { reason: 'timeout' } }, 1, 55],
    ['a step whose tries are too long together', { firstByteMs: 50, stepMs: 90 }, [[60, 0, 0]], { error: { reason: 'timeout' } }, 2, 90],
    ['no limits', {}, [[9000, 9000, 9000]], { status: 'completed' }, 1, 27_000],
  ])('%s', async (_, timeouts, tries, expected, requests, elapsed) => {
    const { seen, clock, engine } = slow(...tries);
    expect(await settled(clock, engine.chat('Hi', { timeouts }))).toMatchObject(expected);
    expect([seen.requests, seen.closed, clock.now(), clock.pending]).toEqual([requests, requests, elapsed, 0]);
  });

  test.each<readonly [Timeouts, string]>([
    [{ firstByteMs: 5 }, 'timeouts.firstByteMs'],
    [{ idleMs: 5 }, 'timeouts.idleMs'],
    [{ stepMs: 5 }, 'timeouts.stepMs'],
  ])('the error of %j says what to do, and the adapter is told why', async (timeouts, hint) => {
    const { seen, clock, engine } = slow(timeouts.idleMs ? [0, 20, 0] : [20, 20, 20]);
    const outcome = await settled(clock, engine.chat('Hi', { timeouts, retry: false }));
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'timeout', provider: 'slow' } });
    if (outcome.status !== 'failed') return;
    expect(outcome.error.message).toContain(hint);
    expect(seen.reasons).toEqual([outcome.error]);
  });

  test('a slow reader does not make the answer stand still', async () => {
    const { clock, engine } = slow([0, 0, 0]);
    const read = (async () => {
      const stream = engine.stream('Hi', { timeouts: { firstByteMs: 50, idleMs: 50 } });
      for await (const _ of stream) await sleep(clock, 1000);
      return stream.outcome;
    })();
    expect(await settled(clock, read)).toMatchObject({ status: 'completed' });
  });

  test('an adapter that ignores its signal is left alone after half a second', async () => {
    const clock = virtualClock();
    const chat: ChatAdapter = {
      provider: 'deaf',
      model: 'd',
      // biome-ignore lint/correctness/useYield: it never says anything.
      async *stream() {
        await deaf();
      },
    };
    const done = createEngine({ chat, clock }).chat('Hi', { timeouts: { firstByteMs: 100 }, retry: false });
    expect(await settled(clock, done)).toMatchObject({ status: 'failed', error: { reason: 'timeout' } });
    expect([clock.now(), clock.pending]).toEqual([600, 0]);
  });

  test('a tool has the time of toolMs, unless it has its own', async () => {
    const tools = [plainTool('a', deaf), plainTool('b', deaf, { timeoutMs: 70 })];
    const { clock, engine } = setUp([calls('a', 'b'), 'Fine'], { tools });
    const events = await settled(clock, collect(engine.stream('Hi', { timeouts: { toolMs: 50 } })));
    expect(events.flatMap(event => (event.type === 'tool_result' ? [event.content] : []))).toEqual([
      expect.stringContaining('within 50 ms'),
      expect.stringContaining('within 70 ms'),
    ]);
  });

  test('the engine may have them for all calls; a call’s own win', async () => {
    for (const [options, status] of [
      [{}, 'failed'],
      [{ timeouts: { firstByteMs: 100 } }, 'completed'],
    ] as const) {
      const { clock, engine } = slow([50, 0, 0]);
      const strict = engine.with({ defaults: { timeouts: { firstByteMs: 10 } }, retry: false });
      expect(await settled(clock, strict.chat('Hi', options))).toMatchObject({ status });
    }
  });

  test('an abort is an abort, whatever the deadlines', async () => {
    for (const at of [0, 5, 15, 25]) {
      const { clock, engine } = slow([10, 10, 10]);
      const stop = new AbortController();
      const done = engine.chat('Hi', { signal: stop.signal, timeouts: { firstByteMs: 1000, idleMs: 1000, stepMs: 1000 } });
      await clock.advance(at);
      stop.abort(new AdapterError('timeout', 'the caller’s own word'));
      expect(await settled(clock, done)).toMatchObject({ status: 'interrupted', reason: 'aborted' });
      expect([clock.now(), clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([at, 0, 0]);
    }
  });

  test.each([{ firstByteMs: 0 }, { idleMs: -1 }, { stepMs: '5' }, { unknown: 5 }, 5, null])('timeouts %j are refused', timeouts => {
    const { engine } = setUp([]);
    expect(() => engine.stream('Hi', { timeouts } as CallOptions)).toThrow(expect.objectContaining({ reason: 'invalid_option' }));
  });

  test('whatever is slow: one end, no timer, no listener, as many requests as allowed', async () => {
    const wait = fc.integer({ min: 0, max: 60 });
    const limit = fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(wait, wait, wait), { minLength: 1, maxLength: 3 }),
        fc.record({ firstByteMs: limit, idleMs: limit, stepMs: limit }),
        fc.constantFrom('surface', 'restart', 'continue'),
        fc.option(wait, { nil: undefined }),
        async (tries, timeouts, onStreamError, abortAt) => {
          const { seen, clock, engine } = slow(...tries);
          const stop = new AbortController();
          const stream = engine.stream('Hi', { timeouts: timeouts as Timeouts, onStreamError, signal: stop.signal });
          const events = collect(stream);
          if (abortAt !== undefined) {
            await clock.advance(abortAt);
            stop.abort();
          }
          const seenEvents = await settled(clock, events);
          expect(seenEvents.filter(event => event.type === 'end')).toHaveLength(1);
          expect(foldEvents(seenEvents, { messages: [{ role: 'user', content: 'Hi' }] })).toStrictEqual(await stream.outcome);
          expect(seen.requests).toBeLessThanOrEqual(2);
          expect([seen.closed, clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([seen.requests, 0, 0]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
