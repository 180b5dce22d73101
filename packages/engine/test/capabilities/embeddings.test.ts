import {
  AdapterError,
  completed,
  createEngine,
  type EmbeddingAdapter,
  type EmbeddingRequest,
  normalize,
  type Vector,
} from '@antiphon/engine';
import { scriptedEmbeddings, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonCopy, settled } from '../support.js';

/** A vector that tells which text it is of. */
const vectorOf = (text: string): Vector => [text.length, text.codePointAt(0) ?? 0, 1];

/** A model that answers each text with its vector, in the order that the test wants, after the time that the test wants. */
function model(options: { maxBatchSize?: number; fails?: (request: EmbeddingRequest) => boolean; waitMs?: (call: number) => number } = {}) {
  const { maxBatchSize = 3, fails = () => false, waitMs = () => 0 } = options;
  const clock = virtualClock();
  const seen = { requests: [] as EmbeddingRequest[], running: 0, most: 0 };
  const embeddings: EmbeddingAdapter = {
    provider: 'mine',
    model: 'm',
    maxBatchSize,
    async embed(request, context) {
      const call = seen.requests.push(request);
      seen.most = Math.max(seen.most, ++seen.running);
      try {
        await new Promise<void>(resolve => void context.clock.setTimer(waitMs(call), resolve));
        if (fails(request)) throw new AdapterError('provider_unavailable', 'Down.', { retryable: false });
        const found = request.input.map((text, index) => ({ index, vector: vectorOf(text) }));
        return { embeddings: call % 2 ? found.reverse() : found, usage: { inputTokens: request.input.length }, responseId: `r${call}` };
      } finally {
        seen.running--;
      }
    },
  };
  return { clock, seen, engine: createEngine({ embeddings, clock }) };
}

describe('laws of batching', () => {
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 25 });

  test('batches give what one big call gives, in the order of the texts', async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 6 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 50 })),
        async (input, maxBatchSize, concurrency, waits) => {
          const { clock, seen, engine } = model({ maxBatchSize, waitMs: () => waits.next().value as number });
          const outcome = completed(await settled(clock, engine.embed(input, { concurrency })));
          expect(outcome.vectors).toEqual(input.map(vectorOf));
          expect(outcome).toMatchObject({ dimensions: 3, usage: { inputTokens: input.length } });
          expect(seen.requests).toHaveLength(Math.ceil(input.length / maxBatchSize));
          expect(seen.most).toBeLessThanOrEqual(concurrency);
          expect(outcome.responseIds).toHaveLength(seen.requests.length);
          expect(jsonCopy(outcome)).toStrictEqual(outcome);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('a failure keeps what is done, and a second call asks for the rest only', async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(),
        async (input, maxBatchSize, concurrency, bad) => {
          const poison = bad % input.length;
          const marked = input.map((text, i) => (i === poison ? `${text}☠` : text));
          const first = model({ maxBatchSize, fails: request => request.input.some(text => text.endsWith('☠')), waitMs: call => call });
          const outcome = await settled(first.clock, first.engine.embed(marked, { concurrency, task: 'document' }));
          if (outcome.status !== 'failed') throw new Error(outcome.status);
          expect(outcome.error.reason).toBe('provider_unavailable');
          const { missing, request } = jsonCopy(outcome.resume);
          expect(outcome.vectors).toEqual(marked.map((text, i) => (missing.includes(i) ? null : vectorOf(text))));
          expect(missing).toContain(poison);
          expect(outcome.usage.inputTokens ?? 0).toBe(marked.length - missing.length);

          const second = model({ maxBatchSize });
          const rest = completed(await settled(second.clock, second.engine.embed(request, { done: jsonCopy(outcome.vectors) })));
          expect(rest.vectors).toEqual(marked.map(vectorOf));
          expect(second.seen.requests.flatMap(({ input: sent }) => sent)).toEqual(missing.map(i => marked[i]));
          expect(second.seen.requests.every(({ task }) => task === 'document')).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('the result of the second call does not depend on where the first one stopped', async () => {
    const input = Array.from({ length: 10 }, (_, i) => `text ${i}`);
    const stop = new AbortController();
    const { clock, engine } = model({ waitMs: call => call * 100 });
    const call = engine.embed(input, { concurrency: 1, signal: stop.signal });
    await clock.advance(350);
    stop.abort();
    const outcome = await settled(clock, call);
    expect(outcome).toMatchObject({ status: 'interrupted', resume: { missing: [6, 7, 8, 9] } });
    const again = model();
    const rest = await settled(again.clock, again.engine.embed(input, { done: outcome.vectors }));
    expect(completed(rest).vectors).toEqual(input.map(vectorOf));
  });
});

describe('a batch that fails', () => {
  test('lets those under way finish, begins no other, and ends their waits', async () => {
    const input = Array.from({ length: 12 }, (_, i) => `${i}`);
    const { clock, seen, engine } = model({ maxBatchSize: 2, fails: ({ input: [first] }) => first === '2', waitMs: call => call * 10 });
    const outcome = await settled(clock, engine.embed(input, { concurrency: 3 }));
    expect(outcome).toMatchObject({ status: 'failed', resume: { missing: [2, 3, 8, 9, 10, 11] } });
    expect(seen.requests.map(({ input: [first] }) => first)).toEqual(['0', '2', '4', '6']);
  });

  test('is halved when it is too long as a whole, down to the text that is too long alone', async () => {
    const sent: (readonly string[])[] = [];
    const most = (limit: number): EmbeddingAdapter => ({
      provider: 'mine',
      model: 'm',
      maxBatchSize: 8,
      async embed({ input }) {
        sent.push(input);
        if (input.join('').length > limit) throw new AdapterError('context_length_exceeded', 'Too long.');
        return { embeddings: input.map((text, index) => ({ index, vector: vectorOf(text) })) };
      },
    });
    const input = ['aaaa', 'b', 'c', 'dddd', 'e'];
    expect(completed(await createEngine({ embeddings: most(6) }).embed(input)).vectors).toEqual(input.map(vectorOf));
    expect(sent).toEqual([input, ['aaaa', 'b', 'c'], ['dddd', 'e']]);
    const outcome = await createEngine({ embeddings: most(3) }).embed(['b', 'c', 'dddd', 'e']);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason: 'context_length_exceeded' },
      vectors: [vectorOf('b'), vectorOf('c'), null, null],
    });
  });

  test('a sibling that waits for another try gives up', async () => {
    const clock = virtualClock();
    const busy = new AdapterError('rate_limited', 'Slow.', { retryable: true, retryAfterMs: 50_000 });
    const hopeless = new AdapterError('authentication_failed', 'No.');
    let calls = 0;
    const embeddings: EmbeddingAdapter = {
      provider: 'mine',
      model: 'm',
      maxBatchSize: 1,
      async embed(_, context) {
        const mine = ++calls;
        await new Promise<void>(resolve => void context.clock.setTimer(mine * 10, resolve));
        throw mine === 1 ? busy : hopeless;
      },
    };
    const outcome = await settled(clock, createEngine({ embeddings, clock }).embed(['a', 'b']));
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'authentication_failed' } });
    expect([clock.now(), calls, clock.pending]).toEqual([20, 2, 0]);
  });
});

describe('answers that cannot be right', () => {
  const with_ = (embeddings: unknown, input: string[] = ['a', 'b'], options = {}) =>
    createEngine({ embeddings: { provider: 'mine', model: 'm', maxBatchSize: 5, embed: async () => ({ embeddings }) as never } }).embed(
      input,
      options,
    );
  const at = (index: unknown, vector: unknown = [1]) => ({ index, vector });
  test.each<readonly [string, unknown, RegExp]>([
    ['too few', [at(0)], /2 texts were sent and 1 vectors came/],
    ['too many', [at(0), at(1), at(2)], /3 vectors came/],
    ['one place twice', [at(0), at(0)], /two embeddings have the index 0/],
    ['a place that is none', [at(0), at(7)], /the index 7/],
    ['a place that is no number', [at(0), at('1')], /the index "1"/],
    ['an empty vector', [at(0), at(1, [])], /embedding 1 is empty/],
    ['no numbers', [at(0), at(1, ['x'])], /something else than numbers/],
    ['not a number', [at(0), at(1, [Number.NaN])], /something else than numbers/],
    ['a hole', [at(0), at(1, new Array(2))], /something else than numbers/],
    ['bytes', [at(0), at(1, new Float32Array(2))], /no list of numbers/],
    ['another width', [at(0, [1, 2]), at(1, [1])], /vector 1 has 1 numbers, the first has 2/],
  ])('%s', async (_, embeddings, message) => {
    const outcome = await with_(embeddings);
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
    expect(outcome.status === 'failed' && outcome.error.message).toMatch(message);
  });

  test('dimensions that were asked for and not given', async () => {
    expect(await with_([at(0, [1, 2])], ['a'], { dimensions: 3 })).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported' },
      vectors: [[1, 2]],
    });
  });
});

describe('bad requests', () => {
  const { engine, seen } = model();
  test.each<readonly [string, unknown, object, readonly string[]]>([
    ['nothing', undefined, {}, ['input']],
    ['an empty list', [], {}, ['input']],
    ['an empty text', '', {}, ['input[0]']],
    ['some empty, some no texts', ['a', '', 5, null], {}, ['input[1]', 'input[2]', 'input[3]']],
    ['a number', 5, {}, ['input']],
    [
      'wrong settings',
      { input: ['a'], dimensions: 0, task: 'poetry', truncate: 1, colour: 'red' },
      { concurrency: 0 },
      ['dimensions', 'task', 'truncate', 'colour', 'concurrency'],
    ],
    ['done of another length', ['a', 'b'], { done: [null] }, ['done']],
    ['done with a broken vector', ['a'], { done: [['x']] }, ['done']],
  ])('%s: every fault is listed', async (_, input, options, paths) => {
    const error = await engine.embed(input as never, options).then(
      () => undefined,
      thrown => thrown,
    );
    expect(error).toMatchObject({ name: 'ValidationError', reason: 'invalid_request' });
    expect(error.issues.map(({ path }: { path: string }) => path)).toEqual(paths);
    expect(seen.requests).toHaveLength(0);
  });

  test('100 000 faults are counted, ten are told', async () => {
    const error = await engine.embed(Array.from({ length: 100_000 }, () => '')).catch(thrown => thrown);
    expect(error.issues).toHaveLength(100_000);
    expect(error.message).toContain('and 99990 more');
    expect(error.message.length).toBeLessThan(1000);
  });

  test('20 000 texts go through', async () => {
    const input = Array.from({ length: 20_000 }, (_, i) => `t${i}`);
    const big = model({ maxBatchSize: 1000 });
    const outcome = completed(await settled(big.clock, big.engine.embed(input)));
    expect(outcome.vectors).toHaveLength(20_000);
    expect(big.seen.most).toBe(4);
  });
});

describe('settings', () => {
  test('options win over the request', async () => {
    const embeddings = scriptedEmbeddings([[[1]]]);
    const engine = createEngine({ embeddings });
    await engine.embed({ input: ['a'], model: 'one', task: 'query' }, { model: 'two', truncate: false });
    expect(embeddings.requests).toEqual([{ input: ['a'], model: 'two', task: 'query', truncate: false }]);
  });

  test('normalize', () => {
    expect(normalize([3, 4])).toEqual([0.6, 0.8]);
    expect(normalize([0, 0])).toEqual([0, 0]);
    expect(normalize([1e200, 1e200])[0]).toBeCloseTo(Math.SQRT1_2);
    expect(normalize([5e-324, 0])).toEqual([1, 0]);
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, min: -1e150, max: 1e150 }), { minLength: 1, maxLength: 9 }), vector => {
        const length = Math.hypot(...normalize(vector));
        expect(vector.every(value => value === 0) ? length === 0 : Math.abs(length - 1) < 1e-9).toBe(true);
      }),
    );
  });
});
