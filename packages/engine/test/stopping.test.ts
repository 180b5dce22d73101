import { AdapterError, type AdapterEvent, type ChatAdapter, createEngine, user } from '@antiphon/engine';
import { type ScriptedTurn, scripted, virtualClock } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { call, calls, collect, deaf, plainTool, resultsOf, settled, setUp } from './support.js';

describe('being stopped', () => {
  test('a signal that is aborted beforehand sends nothing', async () => {
    for (const method of ['generate', 'step', 'chat'] as const) {
      const { chat, engine } = setUp(['Hi']);
      expect(await engine[method]('Hi', { signal: AbortSignal.abort() })).toMatchObject({
        status: 'interrupted',
        reason: 'aborted',
        messages: [user('Hi')],
      });
      expect(chat.requests).toHaveLength(0);
    }
  });

  test.each<readonly [string, unknown]>([
    ['no reason', undefined],
    ['text', 'barge-in'],
    ['an error of the family', new AdapterError('timeout', 'mine')],
  ])('an abort with %s interrupts, whatever the reason is', async (_, reason) => {
    const stop = new AbortController();
    const { clock, engine } = setUp([{ chunks: ['a', 'b'], perChunkMs: 100 }]);
    const done = engine.chat('Hi', { signal: stop.signal });
    await clock.advance(50);
    stop.abort(reason);
    expect(await settled(clock, done)).toMatchObject({
      status: 'interrupted',
      reason: 'aborted',
      text: 'a',
      message: { interrupted: true },
    });
    expect(clock.now()).toBe(50);
  });

  test('the handler is told, and one that pays no heed does not hold up the run', async () => {
    const stop = new AbortController();
    let told = false;
    const tools = [
      plainTool('hangs', (_, { signal }) => {
        signal.addEventListener('abort', () => (told = true));
        return deaf();
      }),
      plainTool('waits_for_its_turn', deaf, { maxConcurrency: 1 }),
    ];
    const { clock, engine } = setUp(
      [{ toolCalls: [call('hangs'), call('waits_for_its_turn', {}, 'w1'), call('waits_for_its_turn', {}, 'w2')] }],
      { tools },
    );
    const stream = engine.stream('Hi', { signal: stop.signal });
    const events = collect(stream);
    await clock.advance(10);
    stop.abort();
    const outcome = await settled(clock, stream.outcome);
    expect(told).toBe(true);
    expect(outcome).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    expect(resultsOf(outcome).map(([id]) => id)).toEqual(['hangs', 'w1', 'w2']);
    expect((await events).flatMap(event => (event.type === 'tool_start' ? [event.call.id] : []))).toEqual(['hangs', 'w1']);
    expect([clock.now(), clock.pending]).toEqual([10, 0]);
  });

  test('an adapter that pays no heed holds the run up for half a second and no longer', async () => {
    const stop = new AbortController();
    const clock = virtualClock();
    const chat: ChatAdapter = {
      ...scripted([]),
      async *stream(): AsyncGenerator<AdapterEvent> {
        yield { type: 'text_delta', index: 0, delta: 'Half' };
        await deaf();
      },
    };
    const done = createEngine({ chat, clock }).chat('Hi', { signal: stop.signal });
    await clock.advance(10);
    stop.abort();
    expect(await settled(clock, done)).toMatchObject({ status: 'interrupted', reason: 'aborted', text: 'Half' });
    expect([clock.now(), clock.pending]).toEqual([510, 0]);
  });

  test('calls that came whole before the answer was cut are answered', async () => {
    const whole = { id: 'c', name: 'works', arguments: {}, rawArguments: '{}' };
    const { engine } = setUp([[{ type: 'tool_call', index: 0, call: whole }]], { tools: [plainTool('works', () => 'done')] });
    const outcome = await engine.chat('Hi');
    expect(outcome.status).toBe('failed');
    expect(resultsOf(outcome)).toEqual([['c', expect.stringContaining('was stopped')]]);
  });

  test.each<readonly [string, ScriptedTurn[], string]>([
    ['the model', [{ chunks: ['a', 'b'], perChunkMs: 100 }], 'a'],
    ['a tool', [{ text: 'a', ...calls('hangs') }], 'a'],
    ['a wait before a retry', [new AdapterError('rate_limited', 'slow down', { retryable: true, retryAfterMs: 5000 })], ''],
  ])('timeoutMs ends the whole run as failed, in the middle of %s', async (_, turns, text) => {
    const { clock, engine } = setUp(turns, { tools: [plainTool('hangs', deaf)] });
    const outcome = await settled(clock, engine.chat('Hi', { timeoutMs: 60 }));
    expect(outcome).toMatchObject({ status: 'failed', text, error: { reason: 'timeout', retryable: true } });
    expect([clock.now(), clock.pending]).toEqual([60, 0]);
  });
});

describe('an answer that breaks off', () => {
  const counted = { inputTokens: 100, cachedInputTokens: 90, outputTokens: 1, totalTokens: 101 };
  const breaking = (failure: 'fails' | 'is aborted', stop: AbortController): ChatAdapter => ({
    provider: 'test',
    model: 'm',
    async *stream(): AsyncGenerator<AdapterEvent> {
      yield { type: 'message_start', usage: counted };
      yield { type: 'text_delta', index: 0, delta: 'Once' };
      if (failure === 'fails') throw new AdapterError('provider_unavailable', 'Overloaded.');
      stop.abort();
      yield { type: 'text_delta', index: 0, delta: ' upon' };
    },
  });

  test.each(['fails', 'is aborted'] as const)('has used what its provider had counted when it %s', async failure => {
    const stop = new AbortController();
    const { status, usage, steps } = await createEngine({ chat: breaking(failure, stop) }).chat('Hi', { signal: stop.signal });
    expect(status).toBe(failure === 'fails' ? 'failed' : 'interrupted');
    expect(usage).toEqual(counted);
    expect(steps[0]?.usage).toEqual(counted);
  });
});
