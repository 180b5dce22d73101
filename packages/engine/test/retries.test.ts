import { AdapterError, type EngineConfig } from '@antiphon/engine';
import type { ScriptedTurn } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { calls, collect, plainTool, settled, setUp, typesOf } from './support.js';

describe('retries', () => {
  const busy = (retryAfterMs?: number) =>
    new AdapterError('rate_limited', 'Slow down.', {
      retryable: true,
      status: 429,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });

  test('a failure before the first content is tried again, told, and leaves nothing behind', async () => {
    const { chat, clock, engine } = setUp([
      busy(100),
      [
        { type: 'message_start', model: 'lost' },
        { type: 'warning', warning: { code: 'other', message: 'lost' } },
      ],
      'Hi',
    ]);
    const stream = engine.stream('Hi', { requestId: 'r' });
    const events = await settled(clock, collect(stream));
    expect(typesOf(events)).toEqual(['retry', 'retry', 'message_start', 'text_delta', 'text_end', 'message_end', 'step_end', 'end']);
    expect(events[0]).toMatchObject({ attempt: 1, delayMs: 100, error: { reason: 'rate_limited', status: 429 } });
    expect(await stream.outcome).toMatchObject({ status: 'completed', text: 'Hi', warnings: [], steps: [{ model: 'scripted' }] });
    expect(chat.requests).toHaveLength(3);
  });

  test('the waits double, within the jitter', async () => {
    const { clock, engine } = setUp([busy(), busy(), busy(), 'Hi'], { retry: { maxRetries: 3, baseMs: 100, capMs: 250 } });
    const events = await settled(clock, collect(engine.stream('Hi')));
    const waits = events.flatMap(event => (event.type === 'retry' ? [event.delayMs] : []));
    expect(waits.every((wait, i) => wait >= [50, 100, 125][i]! && wait <= [100, 200, 250][i]!)).toBe(true);
    expect(clock.now()).toBeCloseTo(waits.reduce((sum, wait) => sum + wait, 0));
  });

  test.each<readonly [string, ScriptedTurn[], EngineConfig['retry'], number]>([
    ['two retries are the default', [busy(1), busy(1), busy(1), 'never'], undefined, 3],
    ['retry: false', [busy(1), 'never'], false, 1],
    ['no retries', [busy(1), 'never'], { maxRetries: 0 }, 1],
    ['an error that is not retryable', [new AdapterError('authentication_failed', 'No.'), 'never'], undefined, 1],
    ['an error of an unknown kind', [new Error('bug'), 'never'], undefined, 1],
    ['a wait above the cap', [busy(60_001), 'never'], undefined, 1],
    ['a wait above a cap of one’s own', [busy(11), 'never'], { capMs: 10 }, 1],
    ['content was shown', [{ text: 'Half', error: busy(1) }, 'never'], undefined, 1],
    ['reasoning was shown', [{ reasoning: 'Hm', error: busy(1) }, 'never'], undefined, 1],
    ['an answer with nothing at all', [[], [], [], 'never'], { baseMs: 1 }, 3],
  ])('%s', async (_, turns, retry, sent) => {
    const { chat, clock, engine } = setUp(turns, retry === undefined ? {} : { retry });
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'failed' });
    expect(chat.requests).toHaveLength(sent);
  });

  test('the jitter is the policy’s own random number', async () => {
    for (const [random, waits] of [
      [0, [50, 100]],
      [0.5, [75, 150]],
    ] as const) {
      const { clock, engine } = setUp([busy(), busy(), 'Hi'], { retry: { baseMs: 100, random: () => random } });
      const events = await settled(clock, collect(engine.stream('Hi')));
      expect(events.flatMap(event => (event.type === 'retry' ? [event.delayMs] : []))).toEqual(waits);
    }
  });

  test('without one the jitter comes from the clock: the same run waits the same', async () => {
    const waits = async () => {
      const { clock, engine } = setUp([busy(), busy(), 'Hi']);
      const events = await settled(clock, collect(engine.stream('Hi')));
      return events.flatMap(event => (event.type === 'retry' ? [event.delayMs] : []));
    };
    const [first, second] = [await waits(), await waits()];
    expect(first).toEqual(second);
    expect(new Set(first).size).toBe(2);
  });

  test('an empty account is never asked again, even when the server says so', async () => {
    const empty = new AdapterError('insufficient_quota', 'Pay first.', { retryable: true, retryAfterMs: 1 });
    const { chat, clock, engine } = setUp([empty, 'never']);
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'failed', error: { reason: 'insufficient_quota' } });
    expect(chat.requests).toHaveLength(1);
  });

  test('warnings of the last try are told when all fail', async () => {
    const turn: ScriptedTurn = [{ type: 'warning', warning: { code: 'other', message: 'Beware.' } }];
    const { clock, engine } = setUp([turn, turn]);
    const outcome = await settled(clock, engine.chat('Hi', { retry: { maxRetries: 1, baseMs: 1 } }));
    expect(outcome).toMatchObject({ status: 'failed', warnings: [{ message: 'Beware.' }] });
    expect(outcome.warnings).toHaveLength(1);
  });

  test('a call may have a policy of its own', async () => {
    const { chat, clock, engine } = setUp([busy(1), 'Hi'], { retry: false });
    expect(await settled(clock, engine.chat('Hi', { retry: { maxRetries: 1 } }))).toMatchObject({ status: 'completed' });
    expect(chat.requests).toHaveLength(2);
  });

  test('a wait of exactly the cap is obeyed', async () => {
    const { clock, engine } = setUp([busy(60_000), 'Hi']);
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'completed' });
    expect(clock.now()).toBe(60_000);
  });

  test('an abort ends the wait at once', async () => {
    const stop = new AbortController();
    const { chat, clock, engine } = setUp([busy(10_000), 'never']);
    const done = engine.chat('Hi', { signal: stop.signal });
    await clock.advance(5);
    stop.abort();
    expect(await settled(clock, done)).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    expect([clock.now(), clock.pending, chat.requests.length]).toEqual([5, 0, 1]);
  });

  test('a later model call of the run is tried again too, and the tools are not run twice', async () => {
    let ran = 0;
    const { clock, engine } = setUp([calls('works'), busy(1), 'Fine'], { tools: [plainTool('works', () => ++ran)] });
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'completed', text: 'Fine' });
    expect(ran).toBe(1);
  });
});
