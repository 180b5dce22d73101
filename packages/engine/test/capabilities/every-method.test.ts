// What holds for every capability: slots, gates, endings, aborts, deadlines, retries, broken adapters.
import { getEventListeners } from 'node:events';
import { AdapterError, AntiphonError, ConfigurationError, completed, createEngine, ValidationError } from '@antiphon/engine';
import { virtualClock } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { deaf, jsonCopy, settled } from '../support.js';
import { engineOf, goodVerb, METHODS, type Verb } from './methods.js';

const busy = (more: object = {}) => new AdapterError('rate_limited', 'Slow down.', { retryable: true, ...more });

describe.each(METHODS)('$name', method => {
  const answered = goodVerb(method);

  test('a good answer completes, with a report, as JSON', async () => {
    const outcome = await method.call(engineOf(method, answered), { requestId: 'r1' });
    expect(outcome).toMatchObject({ status: 'completed', provider: 'mine', requestId: 'r1', usage: {}, warnings: [], responseIds: [] });
    expect(jsonCopy(outcome)).toStrictEqual(outcome);
    expect(completed(outcome as { status: 'completed' })).toBe(outcome);
  });

  test('an empty slot is named, with an example', async () => {
    const call = (async () => method.call(createEngine({})))();
    await expect(call).rejects.toThrow(ConfigurationError);
    await expect(call).rejects.toMatchObject({ reason: 'missing_adapter' });
    await expect(call).rejects.toThrow(new RegExp(`createEngine\\(\\{ ${method.slot}: `));
  });

  test('a slot with no adapter in it is refused at once', () => {
    for (const wrong of [
      null,
      {},
      'openai',
      () => {},
      { provider: 'p', model: 'm' },
      { ...(method.adapter(answered) as object), provider: 1 },
    ]) {
      expect(() => createEngine({ [method.slot]: wrong } as never)).toThrow(ConfigurationError);
    }
  });

  test.each<readonly [string, object, RegExp]>([
    ['an unknown option', { tempo: 3 }, /tempo is unknown/],
    ['a wrong signal', { signal: 'now' }, /signal must be/],
    ['wrong times', { timeoutMs: -1, requestId: '' }, /timeoutMs must be.*requestId must be/],
    ['a wrong retry', { retry: { tries: 3 } }, /retry must be/],
    ['a wrong model and wrong provider options', { model: 5, providerOptions: { openai: 1n } }, /model must be.*providerOptions must be/],
    ['no object', 7 as never, /options must be an object/],
  ])('%s is a mistake of the programmer', async (_, options, message) => {
    const calls: unknown[] = [];
    const call = (async () => method.call(engineOf(method, goodVerb(method, calls)), options))();
    if (typeof options === 'number' && ['editImage', 'classify', 'rerank'].includes(method.name)) return void (await call);
    await expect(call).rejects.toThrow(ValidationError);
    await expect(call).rejects.toThrow(message);
    expect(calls).toEqual([]);
  });

  test('an aborted signal sends nothing', async () => {
    const calls: unknown[] = [];
    const outcome = await method.call(engineOf(method, goodVerb(method, calls)), { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    expect(calls).toEqual([]);
    expect(() => completed(outcome as { status: 'interrupted' })).toThrow('aborted');
  });

  test.each<readonly [string, Verb]>([
    ['heeds it', (_, ...rest) => heeding(rest.at(-1) as { signal: AbortSignal }, method.streams)],
    ['is deaf', () => (method.streams ? { [Symbol.asyncIterator]: () => ({ next: deaf, return: deaf }) } : deaf())],
  ])('an abort while the adapter works, which %s', async (_, verb) => {
    const clock = virtualClock();
    const stop = new AbortController();
    const call = method.call(engineOf(method, verb, { clock }), { signal: stop.signal });
    await clock.advance(10);
    stop.abort(new Error('enough'));
    expect(await settled(clock, call)).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    expect(clock.now()).toBeLessThan(2000);
    expect([clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0]);
  });

  test('an adapter that never answers ends at the deadline', async () => {
    for (const [options, after] of [
      [{ timeoutMs: 3000 }, 3500],
      [{}, method.streams ? 60_500 : 600_500],
    ] as const) {
      const clock = virtualClock();
      const never = () => (method.streams ? { [Symbol.asyncIterator]: () => ({ next: deaf }) } : deaf());
      const outcome = await settled(clock, method.call(engineOf(method, never, { clock }), options));
      expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'timeout', retryable: true } });
      expect([clock.now(), clock.pending]).toEqual([after, 0]);
    }
  });

  test.each<readonly [string, unknown, string]>([
    ['an error of the family', new AdapterError('insufficient_quota', 'No money.'), 'insufficient_quota'],
    ['a missing key', new ConfigurationError('missing_key', 'No key.'), 'missing_key'],
    ['an error of another kind', new TypeError('x is not a function'), 'unknown'],
    ['a text', 'oh no', 'unknown'],
    ['nothing', undefined, 'unknown'],
    ['a hostile object', { toJSON: () => { throw new Error('ha'); } }, 'unknown'], // biome-ignore format: one line a case
  ])('an adapter that throws %s', async (_, thrown, reason) => {
    const throwing = () => {
      throw thrown;
    };
    const rejecting = method.streams
      ? async function* () {
          yield* [];
          throw thrown;
        }
      : async () => throwing();
    for (const verb of [throwing, rejecting]) {
      const outcome = await method.call(engineOf(method, verb as Verb));
      expect(outcome).toMatchObject({ status: 'failed', error: { reason } });
      expect(AntiphonError.isInstance(outcome.error)).toBe(true);
      expect(() => completed(outcome as never)).toThrow(outcome.error);
    }
  });

  test.each<readonly [string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'hello'],
    ['a list', [1]],
    ['an empty object', {}],
    ['an answer with wrong usage', { usage: { inputTokens: 'many' } }],
    ['an answer with wrong warnings', { warnings: 'none' }],
  ])('an adapter that gives %s', async (_, garbage) => {
    const verb = method.streams
      ? async function* () {
          yield* (method.answer as unknown[]).slice(0, -1);
          yield garbage;
        }
      : async () =>
          typeof garbage === 'object' && garbage !== null && 'usage' in garbage ? { ...(method.answer as object), ...garbage } : garbage;
    const outcome = await method.call(engineOf(method, verb as Verb));
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
    expect(outcome.error?.message).toMatch(/^mine: /);
  });

  test('a stream that is none', async () => {
    if (!method.streams) return;
    for (const none of [undefined, 5, {}, { [Symbol.asyncIterator]: () => ({}) }]) {
      expect(await method.call(engineOf(method, () => none))).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
    }
  });

  test.each<readonly [string, Error[], object, number, string]>([
    ['a failure that may pass', [busy({ retryAfterMs: 1000 })], {}, 2, 'completed'],
    ['three of them', [busy(), busy(), busy()], {}, 3, 'failed'],
    ['three of them, and patience', [busy(), busy(), busy()], { retry: { maxRetries: 3 } }, 4, 'completed'],
    ['one that will not', [new AdapterError('invalid_request', 'No.')], {}, 1, 'failed'],
    ['retry: false', [busy()], { retry: false }, 1, 'failed'],
    ['a wait above the cap', [busy({ retryAfterMs: 7_200_000 })], {}, 1, 'failed'],
  ])('%s', async (_, errors, options, sent, status) => {
    const clock = virtualClock();
    const left = [...errors];
    let calls = 0;
    const verb: Verb = (request, ...rest) => {
      calls++;
      const error = left.shift();
      if (error) throw error;
      return answered(request, ...rest);
    };
    const outcome = await settled(clock, method.call(engineOf(method, verb, { clock }), options));
    expect([outcome.status, calls, clock.pending]).toEqual([status, sent, 0]);
  });

  test('an abort ends the wait before another try', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const verb = () => {
      throw busy({ retryAfterMs: 50_000 });
    };
    const call = method.call(engineOf(method, verb, { clock }), { signal: stop.signal });
    await clock.advance(10);
    stop.abort();
    expect(await settled(clock, call)).toMatchObject({ status: 'interrupted' });
    expect([clock.now(), clock.pending]).toEqual([10, 0]);
  });

  test('usage that was not reported is missing, and zero is zero', async () => {
    const withUsage = (usage: object) => {
      const answer = method.streams
        ? (method.answer as object[]).map(event => ('usage' in event ? { ...event, usage } : event))
        : { ...(method.answer as object), usage };
      return method.call(engineOf(method, goodVerb({ ...method, answer })));
    };
    expect((await withUsage({})).usage).toStrictEqual({});
    expect((await withUsage({ inputTokens: 0, outputTokens: undefined, totalTokens: 7 })).usage).toStrictEqual({
      inputTokens: 0,
      totalTokens: 7,
    });
  });

  test('the engine’s keys reach the adapter, and no error', async () => {
    const asked: unknown[] = [];
    const keys = (provider: string, { context }: { context: unknown }) => {
      asked.push([provider, context]);
      return 'sk-very-secret';
    };
    const verb = async (...args: unknown[]) => {
      const { apiKey } = args.at(-1) as { apiKey: (provider: string) => Promise<string> };
      throw new AdapterError('authentication_failed', `Bad key ${await apiKey('mine')}`);
    };
    const streaming = (...args: unknown[]) =>
      (async function* () {
        yield await verb(...args);
      })();
    const outcome = await method.call(engineOf(method, method.streams ? streaming : verb, { keys, context: 'everyone' }), {
      context: 'me',
    });
    expect(asked).toEqual([['mine', 'me']]);
    expect(outcome.error?.message).toBe('Bad key [redacted]');
  });

  test('leaves no listener after many calls', async () => {
    const stop = new AbortController();
    for (let i = 0; i < 30; i++) await method.call(engineOf(method, answered), { signal: stop.signal });
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });
});

/** Work that ends with the signal, and rejects with its reason. */
function heeding({ signal }: { signal: AbortSignal }, streams: boolean): unknown {
  const ended = () => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  if (!streams) return ended();
  return (async function* () {
    yield await ended();
  })();
}
