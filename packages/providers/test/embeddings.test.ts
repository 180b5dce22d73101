import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { completed, createEngine, type EmbeddingAdapter, systemClock } from '@antiphon/engine';
import { embeddingConformance } from '@antiphon/engine/testing';
import { openaiEmbeddings, voyageEmbeddings } from '@antiphon/providers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonFetch, makeUnderTest } from './support/one-answer.js';
import { KEY, type StrictServer, strictServer } from './support/strict-server.js';

let server: StrictServer;
beforeAll(async () => {
  server = await strictServer();
});
afterAll(() => server.close());

const openai = (model = 'text-embedding-3-small') => openaiEmbeddings({ model, apiKey: KEY, fetch: server.as('openai') });
const voyage = (model = 'voyage-3.5') => voyageEmbeddings({ model, apiKey: KEY, fetch: server.as('voyage') });
const context = () => ({ signal: new AbortController().signal, requestId: 'r', clock: systemClock });
const last = () => server.requests.at(-1)!;
const engineWith = (embeddings: EmbeddingAdapter) => createEngine({ embeddings, retry: false });

describe.each([
  ['openaiEmbeddings', openaiEmbeddings, (count: number) => ({ prompt_tokens: count, total_tokens: count })],
  ['voyageEmbeddings', voyageEmbeddings, (count: number) => ({ total_tokens: count })],
] as const)('%s holds the contract', (_, factory, usageOf) => {
  const cases = embeddingConformance(
    makeUnderTest(
      fetch => factory({ model: 'm', baseURL: 'http://model.test/v1', fetch }),
      ({ embeddings, usage }) => ({
        object: 'list',
        data: embeddings.map(({ index, vector }) => ({ object: 'embedding', index, embedding: vector })),
        model: 'm',
        ...(usage?.inputTokens === undefined ? {} : { usage: usageOf(usage.inputTokens) }),
      }),
    ),
  );
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(15));
  for (const { name, run } of cases) test(name, run);
});

describe('what goes out', () => {
  test('OpenAI: model, texts, dimensions; base64 to save bytes', async () => {
    const { vectors, usage, model, dimensions } = completed(await engineWith(openai()).embed(['one', 'two words'], { dimensions: 4 }));
    expect(last().path).toBe('/openai/v1/embeddings');
    expect(last().json).toEqual({ model: 'text-embedding-3-small', input: ['one', 'two words'], dimensions: 4, encoding_format: 'base64' });
    expect(vectors).toEqual([[3, 1, 0.5, 0.5], [9, 2, 0.5, 0.5]]); // biome-ignore format: a table
    expect({ usage, model, dimensions }).toEqual({
      usage: { inputTokens: 3, totalTokens: 3 },
      model: 'text-embedding-3-small',
      dimensions: 4,
    });
  });

  test('another server is not asked for base64', async () => {
    const adapter = openaiEmbeddings({ model: 'text-embedding-3-small', baseURL: server.at('openai/v1'), apiKey: KEY });
    expect(completed(await engineWith(adapter).embed('one')).vectors).toEqual([[3, 1, 0.5]]);
    expect(last().json).toEqual({ model: 'text-embedding-3-small', input: ['one'] });
  });

  test('Voyage: task, dimensions and truncation in its own words', async () => {
    const outcome = await engineWith(voyage()).embed('one', { task: 'query', dimensions: 2, truncate: false });
    expect(completed(outcome)).toMatchObject({ vectors: [[3, 1]], usage: { inputTokens: 1, totalTokens: 1 }, warnings: [] });
    expect(last().json).toEqual({ model: 'voyage-3.5', input: ['one'], input_type: 'query', output_dimension: 2, truncation: false });
  });

  test.each([
    ['OpenAI and a task', openai, { task: 'query' }, ['task']],
    ['OpenAI cannot cut', openai, { truncate: true }, ['truncate']],
    ['OpenAI never cuts', openai, { truncate: false }, []],
    ['Voyage and a task that it does not know', voyage, { task: 'clustering' }, ['task']],
    ['Voyage and a field that is replaced', voyage, { truncate: true, providerOptions: { voyage: { truncation: false } } }, ['truncation']],
  ] as const)('what cannot be said comes back as a warning: %s', async (_, make, options, settings) => {
    const { warnings } = completed(await engineWith(make()).embed('one', options));
    expect(warnings.map(({ setting }) => setting)).toEqual(settings);
  });

  test.each([
    ['https://api.openai.com/v1', '/v1/embeddings'],
    ['https://api.openai.com/v1/', '/v1/embeddings'],
    ['https://api.openai.com', '/v1/embeddings'],
    ['https://api.openai.com/', '/v1/embeddings'],
    ['https://api.openai.com/v1/embeddings', '/v1/embeddings'],
    ['https://me.openai.azure.com/openai/deployments/e?api-version=1', '/openai/deployments/e/embeddings?api-version=1'],
    ['http://127.0.0.1:11434', '/v1/embeddings'],
    ['https://proxy.test/models', '/models/embeddings'],
  ])('base URL %s', async (baseURL, path) => {
    const { fetch, seen } = jsonFetch({ data: [{ index: 0, embedding: [1] }] });
    await openaiEmbeddings({ model: 'm', baseURL, apiKey: KEY, fetch }).embed({ input: ['x'] }, context());
    expect(seen[0]!.url.pathname + seen[0]!.url.search).toBe(path);
  });
});

describe('what comes in', () => {
  test('base64 is decoded to exactly the 32-bit numbers', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 50 }), async numbers => {
        const embedding = Buffer.from(new Float32Array(numbers).buffer).toString('base64');
        const { fetch } = jsonFetch({ data: [{ index: 0, embedding }] });
        const { embeddings } = await openaiEmbeddings({ model: 'm', apiKey: KEY, fetch }).embed({ input: ['x'] }, context());
        expect(embeddings).toEqual([{ index: 0, vector: numbers }]);
      }),
      { numRuns: 100 },
    ));

  test.each([
    ['no list', {}],
    ['null', null],
    ['no vector', { data: [{ index: 0 }] }],
    ['an empty vector', { data: [{ index: 0, embedding: [] }] }],
    ['a vector with null', { data: [{ index: 0, embedding: [1, null] }] }],
    ['base64 of half a number', { data: [{ index: 0, embedding: 'AAAA' }] }],
    ['no base64', { data: [{ index: 0, embedding: '%%%%' }] }],
    ['an index that is text', { data: [{ index: 'a', embedding: [1] }] }],
    ['an index that no text has', { data: [{ index: 7, embedding: [1] }] }],
    ['too many vectors', { data: [{ index: 0, embedding: [1] }, { index: 1, embedding: [1] }] }], // biome-ignore format: a table
  ])('is refused: %s', async (_, body) => {
    for (const factory of [openaiEmbeddings, voyageEmbeddings]) {
      const outcome = await engineWith(factory({ model: 'm', apiKey: KEY, fetch: jsonFetch(body).fetch })).embed('x');
      expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'malformed_response', retryable: false } });
    }
  });

  test.each<[string, unknown, object]>([
    ['missing', undefined, {}],
    ['null', null, {}],
    ['without counts', {}, {}],
    ['zero', { prompt_tokens: 0, total_tokens: 0 }, { inputTokens: 0, totalTokens: 0 }],
    ['of the wrong type', { prompt_tokens: '12', total_tokens: -1 }, {}],
  ])('usage that is %s', async (_, usage, expected) => {
    const { fetch } = jsonFetch({ data: [{ index: 0, embedding: [1] }], usage });
    expect((await engineWith(openaiEmbeddings({ model: 'm', apiKey: KEY, fetch })).embed('x')).usage).toEqual(expected);
  });
});

describe('limits', () => {
  const many = (count: number, text = 'x') => Array.from({ length: count }, (_, i) => `${text}${'y'.repeat(i % 7)}`);

  test.each([
    ['openai', openai, 2048],
    ['voyage', voyage, 1000],
  ] as const)('%s: longer lists go in batches and come back in order', async (_, make, size) => {
    const before = server.requests.length;
    const texts = many(2 * size + 1);
    const { vectors, usage } = completed(await engineWith(make()).embed(texts));
    expect(vectors.map(([length]) => length)).toEqual(texts.map(text => text.length));
    const sent = server.requests.slice(before).map(({ json }) => (json!.input as string[]).length);
    expect(sent.sort((a, b) => a - b)).toEqual([1, size, size]);
    expect(usage.inputTokens).toBe(texts.length);
  });

  test.each([
    ['openai', openai, 2049],
    ['voyage', voyage, 1001],
  ] as const)('%s: an adapter refuses a longer list before anything is sent, even before a key is asked for', async (_, make, count) => {
    const before = server.requests.length;
    const keyless = { ...context(), apiKey: () => Promise.reject(new Error('asked')) };
    await expect(make().embed({ input: many(count) }, keyless)).rejects.toMatchObject({ reason: 'unsupported' });
    expect(server.requests.length).toBe(before);
  });

  test('Voyage: packed vectors in base64 are refused before anything is sent', async () => {
    const providerOptions = { voyage: { output_dtype: 'int8', encoding_format: 'base64' } };
    expect(await engineWith(voyage()).embed('x', { providerOptions })).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported' },
    });
  });

  test.each([
    ['OpenAI: a text', openai, () => ['w '.repeat(8193)], {}, /8192 tokens/],
    ['Voyage: a text that must not be cut', voyage, () => ['w '.repeat(32_001)], { truncate: false }, /too many tokens/],
  ] as const)('too many tokens: %s', async (_, make, texts, options, message) => {
    const outcome = await engineWith(make()).embed(texts(), options);
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'context_length_exceeded', retryable: false, status: 400 } });
    if (outcome.status === 'failed') expect(outcome.error.message).toMatch(message);
  });

  test.each([
    ['OpenAI', openai, () => Array.from({ length: 100 }, () => 'w '.repeat(3100)), 'max 300000 tokens per request'],
    ['Voyage', voyage, () => Array.from({ length: 20 }, () => 'w '.repeat(20_000)), 'max allowed tokens per submitted batch'],
  ] as const)('%s: a batch with too many tokens is refused by the server and halved by the engine', async (_, make, texts, message) => {
    const refusal = { reason: 'context_length_exceeded', retryable: false, status: 400, message: expect.stringContaining(message) };
    await expect(make().embed({ input: texts() }, context())).rejects.toMatchObject(refusal);
    const before = server.requests.length;
    expect(completed(await engineWith(make()).embed(texts())).vectors).toHaveLength(texts().length);
    expect(server.requests.length - before).toBe(3);
  });

  test('a server that takes fewer texts is sent no more', async () => {
    const few = openaiEmbeddings({ model: 'text-embedding-3-small', apiKey: KEY, fetch: server.as('openai'), maxBatchSize: 2 });
    expect(completed(await engineWith(few).embed(['a', 'b', 'c'])).vectors).toHaveLength(3);
    expect((last().json as { input: string[] }).input).toEqual(['c']);
  });

  test('a batch that fails leaves the others; the rest is asked for later', async () => {
    let requests = 0;
    const flaky = openaiEmbeddings({
      model: 'text-embedding-3-small',
      apiKey: KEY,
      fetch: async (url, init) =>
        ++requests === 2 ? new Response('{"error":{"message":"Down."}}', { status: 500 }) : server.as('openai')(url, init),
    });
    const texts = many(5000);
    const first = await engineWith(flaky).embed(texts, { concurrency: 1 });
    expect(first).toMatchObject({ status: 'failed', error: { reason: 'provider_unavailable', message: expect.stringContaining('Down.') } });
    if (first.status !== 'failed') return;
    expect(first.resume.missing).toEqual(Array.from({ length: 5000 - 2048 }, (_, i) => 2048 + i));
    const rest = completed(await engineWith(flaky).embed(first.resume.request, { done: first.vectors }));
    expect(rest.vectors.map(([length]) => length)).toEqual(texts.map(text => text.length));
    expect(requests).toBe(4);
  });
});

describe('recorded answers', () => {
  const root = fileURLToPath(new URL('../../../../shared/streams/', import.meta.url));
  const present = existsSync(`${root}facts.json`);
  if (!present) console.log('skipped: the recorded answers are not beside this checkout');
  const read = (file: string) => JSON.parse(readFileSync(root + file, 'utf8'));
  const facts = present ? read('facts.json') : {};
  test.skipIf(!present).each([
    ['embedding/openai-embedding.json', openaiEmbeddings],
    ['embedding/voyage-embedding.json', voyageEmbeddings],
    ['other-openai-node/embeddings-float-response.json', openaiEmbeddings],
  ] as const)('%s', async (file, factory) => {
    const { vectors: count, first, usage, model } = facts[file].facts;
    const adapter = factory({ model: 'm', apiKey: KEY, fetch: jsonFetch(read(file)).fetch });
    const outcome = completed(await engineWith(adapter).embed(Array.from({ length: count }, (_, i) => `text ${i}`)));
    expect(outcome.vectors).toHaveLength(count);
    expect(outcome.vectors[0]!.slice(0, first.length)).toEqual(first);
    expect(outcome.usage).toEqual({ inputTokens: usage.prompt_tokens ?? usage.total_tokens, totalTokens: usage.total_tokens });
    expect(outcome.model).toBe(model);
  });

  test.skipIf(!present)('the same recording in base64 gives the same vector', async () => {
    const recorded = read('other-openai-node/embeddings-float-response.json');
    const floats: number[] = recorded.data[0].embedding;
    recorded.data[0].embedding = Buffer.from(new Float32Array(floats).buffer).toString('base64');
    const adapter = openaiEmbeddings({ model: 'm', apiKey: KEY, fetch: jsonFetch(recorded).fetch });
    const [vector] = completed(await engineWith(adapter).embed('x')).vectors;
    expect(vector).toEqual(floats.map(Math.fround));
  });
});
