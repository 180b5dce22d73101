import { getEventListeners } from 'node:events';
import {
  AdapterError,
  type AdapterReason,
  type ChatAdapter,
  ConfigurationError,
  createEngine,
  fallback,
  foldEvents,
  type StreamEvent,
  sleep,
  user,
} from '@antiphon/engine';
import { type ScriptedTurn, scripted, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collect, settled } from './support.js';

/** A scripted model under a name of its own. */
function model(provider: string, turns: readonly ScriptedTurn[], more: Partial<ChatAdapter> = {}) {
  return Object.assign(scripted(turns, { model: `${provider}-1` }), { provider, ...more });
}
const fails = (reason: AdapterReason, retryable = false, retryAfterMs?: number) =>
  new AdapterError(reason, `It is ${reason}.`, { retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

function setUp(adapters: readonly ChatAdapter[], options = {}) {
  const clock = virtualClock();
  const engine = createEngine({ chat: fallback(adapters, options), clock, retry: false });
  return { clock, engine, ask: (more = {}) => settled(clock, engine.chat('Hi', more)) };
}

describe('fallback', () => {
  test.each<readonly [AdapterReason, boolean, boolean]>([
    ['rate_limited', true, true],
    ['insufficient_quota', false, true],
    ['authentication_failed', false, true],
    ['permission_denied', false, true],
    ['model_not_found', false, true],
    ['provider_unavailable', true, true],
    ['network_error', true, true],
    ['network_error', false, true],
    ['timeout', true, true],
    ['malformed_response', false, true],
    ['truncated', true, true],
    ['unsupported', false, true],
    ['unknown', true, true],
    ['unknown', false, false],
    ['invalid_request', false, false],
    ['invalid_request', true, false],
    ['context_length_exceeded', false, false],
    ['content_filter', false, false],
  ])('%s (retryable: %s) asks the next one: %s', async (reason, retryable, moves) => {
    const [a, b] = [model('a', [fails(reason, retryable)]), model('b', ['Hello'])];
    const outcome = await setUp([a, b]).ask();
    expect(outcome.status).toBe(moves ? 'completed' : 'failed');
    expect(b.requests).toHaveLength(moves ? 1 : 0);
    if (moves) expect(outcome.warnings).toMatchObject([{ message: expect.stringContaining(`a (a-1) did not answer (${reason})`) }]);
    else expect(outcome).toMatchObject({ error: { reason } });
  });

  test('says who answers', async () => {
    const { engine, clock } = setUp([model('a', [fails('timeout', true)]), model('b', ['Hello'])]);
    const events = await settled(clock, collect(engine.stream('Hi')));
    expect(events.find(event => event.type === 'message_start')).toMatchObject({ provider: 'b', model: 'b-1' });
    expect(events.at(-1)).toMatchObject({ outcome: { text: 'Hello', model: 'b-1' } });
  });

  test.each<readonly [string, ScriptedTurn, boolean]>([
    ['text', { text: 'Half', error: fails('network_error', true) }, false],
    ['reasoning', { reasoning: 'Hm', error: fails('network_error', true) }, false],
    ['a call', { toolCalls: [{ name: 'x' }], error: fails('network_error', true) }, false],
    ['a start and a warning', [{ type: 'message_start' }, { type: 'warning', warning: { code: 'other', message: 'w' } }], true],
    ['nothing at all', [], true],
  ])('after %s was shown another model answers: %s', async (_, turn, moves) => {
    const [a, b] = [model('a', [turn]), model('b', ['Hello'])];
    expect((await setUp([a, b]).ask()).status).toBe(moves ? 'completed' : 'failed');
    expect(b.requests).toHaveLength(moves ? 1 : 0);
  });

  test('one that failed is asked last until it has cooled down, and that is said', async () => {
    const [a, b] = [model('a', [fails('provider_unavailable', true), 'A is back']), model('b', ['B', 'B again'])];
    const { ask, clock } = setUp([a, b], { coolDownMs: 1000 });
    expect(await ask()).toMatchObject({ text: 'B' });
    await clock.advance(400);
    expect(await ask()).toMatchObject({ text: 'B again', warnings: [{ message: expect.stringContaining('600 ms more') }] });
    expect(a.requests).toHaveLength(1);
    await clock.advance(600);
    expect(await ask()).toMatchObject({ text: 'A is back', warnings: [] });
  });

  test('a provider that asks for a longer wait gets it', async () => {
    const [a, b] = [model('a', [fails('rate_limited', true, 5000), 'A']), model('b', ['B', 'B'])];
    const { ask, clock } = setUp([a, b], { coolDownMs: 1000 });
    await ask();
    await clock.advance(4999);
    expect(await ask()).toMatchObject({ text: 'B' });
    await clock.advance(1);
    expect(await ask()).toMatchObject({ text: 'A' });
  });

  test('one that is cooling is better than none', async () => {
    const [a, b] = [model('a', [fails('timeout', true), 'A']), model('b', ['B', fails('timeout', true)])];
    const { ask } = setUp([a, b]);
    expect(await ask()).toMatchObject({ text: 'B' });
    expect(await ask()).toMatchObject({ text: 'A', status: 'completed' });
  });

  test('when all fail, the most hopeful failure is told, and the engine tries again', async () => {
    const turns = () => [
      model('a', [fails('insufficient_quota'), fails('insufficient_quota')]),
      model('b', [fails('rate_limited', true, 70), 'B']),
      model('c', [fails('authentication_failed'), 'C']),
    ];
    const failed = await setUp(turns()).ask();
    expect(failed).toMatchObject({ status: 'failed', error: { reason: 'rate_limited', retryable: true, retryAfterMs: 70 } });
    expect(failed.warnings).toHaveLength(3);
    expect(failed.status === 'failed' && failed.error.message).toMatch(/None of 3 models answered.*quota.*rate_limited.*authentication/);
    const { ask, clock } = setUp(turns());
    expect(await ask({ retry: { maxRetries: 1 } })).toMatchObject({ status: 'completed' });
    expect(clock.now()).toBe(70);
  });

  test('a missing key asks the next one', async () => {
    const none = model('a', [
      () => {
        throw new ConfigurationError('missing_key', 'a needs a key.');
      },
    ]);
    expect(await setUp([none, model('b', ['B'])]).ask()).toMatchObject({ text: 'B' });
  });

  test('a first-byte deadline moves the next try to another model', async () => {
    const deaf = model('a', []);
    const silent: ChatAdapter = {
      ...deaf,
      // biome-ignore lint/correctness/useYield: it never says anything.
      async *stream(_, { clock, signal }) {
        await sleep(clock, 10_000, signal);
      },
    };
    const { ask, clock } = setUp([silent, model('b', ['B'])]);
    const outcome = await ask({ timeouts: { firstByteMs: 100 }, retry: { maxRetries: 1, baseMs: 0 } });
    expect(outcome).toMatchObject({ status: 'completed', text: 'B' });
    expect([clock.now(), clock.pending]).toEqual([100, 0]);
  });

  test('each model has the first-byte time for itself', async () => {
    const late = (ms: number, then: ScriptedTurn): ChatAdapter => {
      const inner = model('x', [then]);
      return {
        ...inner,
        async *stream(request, context) {
          await sleep(context.clock, ms, context.signal);
          yield* inner.stream(request, context);
        },
      };
    };
    const { ask } = setUp([late(80, fails('timeout', true)), late(80, 'B')]);
    expect(await ask({ timeouts: { firstByteMs: 100 } })).toMatchObject({ status: 'completed', text: 'B' });
  });

  test('the model of a call goes to its own provider only', async () => {
    const [a, b] = [model('a', [fails('timeout', true)]), model('b', ['B'])];
    const outcome = await setUp([a, b]).ask({ model: 'a-large' });
    expect([a.requests[0]?.model, b.requests[0]?.model]).toEqual(['a-large', undefined]);
    expect(outcome.warnings).toHaveLength(2);
  });

  test('it says of itself what all of them say', () => {
    const yes = { structuredOutput: true, continuation: true };
    expect(fallback([model('a', [], yes), model('b', [], yes)])).toMatchObject({ provider: 'a', model: 'a-1', ...yes });
    expect(fallback([model('a', [], yes), model('b', [])])).toMatchObject({ structuredOutput: false, continuation: false });
  });

  test.each([[[]], [[{}]], [[undefined]]])('fallback(%j) is refused', list => {
    expect(() => fallback(list as ChatAdapter[])).toThrow(expect.objectContaining({ reason: 'invalid_option' }));
  });

  test('an abort asks nobody else', async () => {
    const [a, b] = [model('a', [{ text: 'A', firstTokenMs: 100 }]), model('b', ['B'])];
    const { engine, clock } = setUp([a, b]);
    const stop = new AbortController();
    const done = engine.chat('Hi', { signal: stop.signal });
    await clock.advance(50);
    stop.abort();
    expect(await settled(clock, done)).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    expect([b.requests.length, clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0, 0]);
  });

  test('whatever fails: one end, each model asked at most once a try, nothing left behind', async () => {
    const turn = fc.constantFrom<ScriptedTurn>(
      'Fine.',
      fails('rate_limited', true, 5),
      fails('invalid_request'),
      fails('authentication_failed'),
      [],
      {
        text: 'Half',
        error: fails('network_error', true),
      },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(turn, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
        fc.nat(12),
        async (scripts, abortAt) => {
          const clock = virtualClock();
          const stop = new AbortController();
          const models = scripts.map((turns, i) => model(`m${i}`, turns));
          const engine = createEngine({ chat: fallback(models), clock, retry: { baseMs: 1 } });
          const stream = engine.stream('Hi', { signal: stop.signal });
          const events: StreamEvent[] = [];
          const read = (async () => {
            for await (const event of stream) if (events.push(event) === abortAt) stop.abort();
            return stream.outcome;
          })();
          const outcome = await settled(clock, read);
          expect(events.filter(event => event.type === 'end')).toHaveLength(1);
          expect(foldEvents(events, { messages: [user('Hi')] })).toStrictEqual(outcome);
          for (const { requests } of models) expect(requests.length).toBeLessThanOrEqual(3);
          const starts = events.filter(event => event.type === 'message_start');
          expect(starts.length).toBeLessThanOrEqual(1);
          expect([clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
