import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { completed, createEngine, type RerankAdapter, systemClock } from '@antiphon/engine';
import { rerankConformance } from '@antiphon/engine/testing';
import { cohereRerank, voyageRerank } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonFetch, makeUnderTest } from './support/one-answer.js';
import { KEY, type StrictServer, strictServer } from './support/strict-server.js';

let server: StrictServer;
beforeAll(async () => {
  server = await strictServer();
});
afterAll(() => server.close());

const cohere = () => cohereRerank({ model: 'rerank-v3.5', apiKey: KEY, fetch: server.as('cohere') });
const voyage = () => voyageRerank({ model: 'rerank-2.5', apiKey: KEY, fetch: server.as('voyage') });
const engineWith = (rerank: RerankAdapter) => createEngine({ rerank, retry: false });
const last = () => server.requests.at(-1)!;

const scoresOf = (results: readonly { index: number; score: number }[]) =>
  results.map(({ index, score }) => ({ index, relevance_score: score }));
describe.each([
  [
    'cohereRerank',
    cohereRerank,
    (results: object[], count?: number) => ({ id: 'r', results, meta: { tokens: count === undefined ? {} : { input_tokens: count } } }),
  ],
  [
    'voyageRerank',
    voyageRerank,
    (data: object[], count?: number) => ({
      object: 'list',
      data,
      model: 'm',
      ...(count === undefined ? {} : { usage: { total_tokens: count } }),
    }),
  ],
] as const)('%s holds the contract', (_, factory, wire) => {
  const cases = rerankConformance(
    makeUnderTest(
      fetch => factory({ model: 'm', baseURL: 'http://model.test/v1', fetch }),
      ({ results, usage }) => wire(scoresOf(results), usage?.inputTokens),
    ),
  );
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(13));
  for (const { name, run } of cases) test(name, run);
});

const documents = ['sun and sand', 'rain and wind and hail', 'rain'];
const query = 'rain wind hail';

test('Cohere: the best first, its units and its words', async () => {
  const providerOptions = { cohere: { max_tokens_per_doc: 100 } };
  const { results, usage, responseIds } = completed(await engineWith(cohere()).rerank(query, { documents, topN: 2, providerOptions }));
  expect(last()).toMatchObject({
    path: '/cohere/v2/rerank',
    json: { model: 'rerank-v3.5', query, documents, top_n: 2, max_tokens_per_doc: 100 },
  });
  expect(results).toEqual([{ index: 1, score: 0.75, document: documents[1] }, { index: 2, score: 0.25, document: 'rain' }]); // biome-ignore format: a table
  expect({ usage, responseIds }).toEqual({ usage: { searchUnits: 1 }, responseIds: ['rr-1'] });
});

test('Voyage: the best first, its tokens and its words', async () => {
  const providerOptions = { voyage: { truncation: false } };
  const { results, usage, model } = completed(await engineWith(voyage()).rerank(query, { documents, topN: 9, providerOptions }));
  expect(last()).toMatchObject({ path: '/voyage/v1/rerank', json: { model: 'rerank-2.5', query, documents, top_k: 3, truncation: false } });
  expect(results.map(({ index }) => index)).toEqual([1, 2, 0]);
  expect({ usage, model }).toEqual({ usage: { inputTokens: 9, totalTokens: 9 }, model: 'rerank-2.5' });
});

test('a field that the server does not know, in its own words', async () => {
  const outcome = await engineWith(cohere()).rerank(query, { documents, providerOptions: { cohere: { top_k: 1 } } });
  expect(outcome).toMatchObject({
    status: 'failed',
    error: { reason: 'invalid_request', status: 422, message: expect.stringMatching(/unknown field: top_k/) },
  });
});

test.each([
  ['cohere', cohere, 10_000],
  ['voyage', voyage, 1000],
] as const)('%s: more documents than it takes are refused before anything is sent', async (_, make, most) => {
  const before = server.requests.length;
  const many = Array<string>(most + 1).fill('x');
  expect(await engineWith(make()).rerank('x', { documents: many })).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
  const context = { signal: new AbortController().signal, requestId: 'r', clock: systemClock };
  await expect(make().rerank({ query: 'x', documents: many }, context)).rejects.toMatchObject({ reason: 'unsupported' });
  expect(server.requests.length).toBe(before);
});

test.each([
  ['https://api.cohere.com', '/v2/rerank', 'cohere'],
  ['http://127.0.0.1:8080', '/v1/rerank', 'llama.cpp'],
  ['https://api.cohere.com/v2/', '/v2/rerank', 'cohere'],
  ['https://api.cohere.com/v2/rerank', '/v2/rerank', 'cohere'],
  ['https://api.together.xyz/v1', '/v1/rerank', 'together'],
  ['https://proxy.test/to/api.cohere.com', '/to/api.cohere.com/rerank', 'cohere-compatible'],
  ['https://rerank.test/v1', '/v1/rerank', 'cohere-compatible'],
])('cohereRerank at %s', async (baseURL, path, provider) => {
  const { fetch, seen } = jsonFetch({ results: [{ index: 0, relevance_score: 1 }] });
  const adapter = cohereRerank({ model: 'm', baseURL, apiKey: KEY, fetch });
  completed(await engineWith(adapter).rerank('x', { documents: ['x'] }));
  expect([seen[0]!.url.pathname, adapter.provider]).toEqual([path, provider]);
});

test.each([
  [{ total_tokens: 7 }, { inputTokens: 7, totalTokens: 7 }],
  [
    { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 },
    { inputTokens: 7, outputTokens: 0, totalTokens: 7 },
  ],
])('another server’s account: %j', async (told, usage) => {
  const { fetch } = jsonFetch({ results: [{ index: 0, relevance_score: 1 }], usage: told });
  const adapter = cohereRerank({ model: 'm', baseURL: 'https://rerank.test/v1', fetch });
  expect(completed(await engineWith(adapter).rerank('x', { documents: ['x'] })).usage).toEqual(usage);
});

test('what Cohere warns of is passed on', async () => {
  const { fetch } = jsonFetch({ results: [{ index: 0, relevance_score: 1 }], meta: { warnings: ['This model will be retired.'] } });
  const { warnings } = completed(await engineWith(cohereRerank({ model: 'm', apiKey: KEY, fetch })).rerank('x', { documents: ['x'] }));
  expect(warnings).toEqual([{ code: 'other', message: 'This model will be retired.' }]);
});

const one = { index: 0, relevance_score: 1 };
test.each<[string, unknown]>([
  ['no list', undefined],
  ['too few', []],
  ['no score', [{ index: 0 }, { index: 1 }]],
  ['no index', [{ relevance_score: 1 }]],
  ['one document twice', [one, one]],
  ['a document that is not there', [one, { index: 9, relevance_score: 1 }]],
])('a broken ranking is no ranking: %s', async (_, list) => {
  for (const adapter of [
    cohereRerank({ model: 'm', apiKey: KEY, fetch: jsonFetch({ results: list }).fetch }),
    voyageRerank({ model: 'm', apiKey: KEY, fetch: jsonFetch({ data: list }).fetch }),
  ]) {
    const outcome = await engineWith(adapter).rerank('x', { documents: ['a', 'b'] });
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
  }
});

describe('recorded answers', () => {
  const root = fileURLToPath(new URL('../../../../shared/streams/', import.meta.url));
  const present = existsSync(`${root}facts.json`);
  if (!present) console.log('skipped: the recorded answers are not beside this checkout');
  const read = (file: string) => JSON.parse(readFileSync(root + file, 'utf8'));
  test.skipIf(!present).each([
    ['rerank/cohere-reranking.1.json', { searchUnits: 1 }],
    ['rerank/togetherai-reranking.1.json', { inputTokens: 2966, outputTokens: 0, totalTokens: 2966 }],
  ])('%s', async (file, usage) => {
    const { facts } = read('facts.json')[file];
    const adapter = cohereRerank({ model: 'm', apiKey: KEY, fetch: jsonFetch(read(file)).fetch });
    const outcome = completed(await engineWith(adapter).rerank('x', { documents: Array(6).fill('x'), topN: facts.ranking.length }));
    expect(outcome.results.map(({ index, score }) => [index, Number(score.toFixed(4))])).toEqual(facts.ranking);
    expect(outcome.usage).toEqual(usage);
  });
});
