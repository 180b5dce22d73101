import { completed, createEngine, imagePart, systemClock, textPart } from '@antiphon/engine';
import { moderationConformance } from '@antiphon/engine/testing';
import { openaiModeration } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonFetch, makeUnderTest } from './support/one-answer.js';
import { KEY, PNG, type StrictServer, strictServer } from './support/strict-server.js';

let server: StrictServer;
beforeAll(async () => {
  server = await strictServer();
});
afterAll(() => server.close());

const adapter = (model = 'omni-moderation-latest') => openaiModeration({ model, apiKey: KEY, fetch: server.as('openai') });
const engine = (model?: string) => createEngine({ moderation: adapter(model), retry: false });
const context = () => ({ signal: new AbortController().signal, requestId: 'r', clock: systemClock });
const last = () => server.requests.at(-1)!;
const picture = imagePart(PNG, 'image/png');

describe('openaiModeration holds the contract', () => {
  const cases = moderationConformance(scenario => {
    // OpenAI reports no usage for moderation.
    if (scenario.kind === 'answer' && scenario.answer.usage?.inputTokens !== undefined) return undefined;
    return makeUnderTest(
      fetch => openaiModeration({ model: 'm', baseURL: 'http://model.test/v1', fetch }),
      ({ results }: { results: readonly { flagged: boolean; categories: object; scores: object }[] }) => ({
        id: 'modr-1',
        model: 'm',
        results: results.map(({ flagged, categories, scores }) => ({ flagged, categories, category_scores: scores })),
      }),
    )(scenario);
  });
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(13));
  for (const { name, run } of cases) test(name, run);
});

describe('verdicts', () => {
  test('on texts, one each; a category that the model does not know is left out', async () => {
    const outcome = completed(await engine().moderate(['Good day', 'I will kill you']));
    expect(last().json).toEqual({ model: 'omni-moderation-latest', input: ['Good day', 'I will kill you'] });
    expect(outcome.results).toEqual([
      { flagged: false, categories: { violence: false, hate: false }, scores: { violence: 0.001, hate: 0.002 } },
      { flagged: true, categories: { violence: true, hate: false }, scores: { violence: 0.9, hate: 0.002 } },
    ]);
    expect(outcome).toMatchObject({ flagged: true, model: 'omni-moderation-2024-09-26', responseIds: ['modr-1'], usage: {}, warnings: [] });
  });

  test('on a picture; what was not judged is told', async () => {
    const outcome = completed(await engine().moderate({ input: [[picture]] }));
    expect(last().json!.input).toEqual([{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }]);
    expect(outcome.flagged).toBe(false);
    expect(outcome.warnings).toEqual([{ code: 'other', message: expect.stringContaining('not judged: hate.') }]);
  });

  test('on a picture with words, as one; on parts that are words alone, too', async () => {
    const remote = imagePart({ url: 'https://pictures.test/a.png' });
    const input = [[textPart('I will kill'), remote], 'Good day', [textPart('I will'), textPart('kill you')]] as const;
    const { results } = completed(await engine().moderate(input, { concurrency: 1 }));
    expect(results.map(({ flagged }) => flagged)).toEqual([true, false, true]);
    expect(server.requests.slice(-3).map(({ json }) => json!.input)).toEqual([
      ['Good day'],
      [{ type: 'text', text: 'I will kill' }, { type: 'image_url', image_url: { url: remote.url } }],
      ['I will\n\nkill you'],
    ]); // biome-ignore format: a table
  });

  test('say by which input each category was judged, to whoever asks the adapter', async () => {
    const { results } = await adapter().moderate({ input: [[textPart('Hm'), picture]] }, context());
    expect(results[0]!.appliedInputTypes).toEqual({ violence: ['text', 'image'], hate: ['text'] });
  });

  test('on more than a thousand texts go in batches and come back in order', async () => {
    const texts = Array.from({ length: 2001 }, (_, i) => (i % 500 === 0 ? 'kill' : 'pat'));
    const { results } = completed(await engine().moderate(texts));
    expect(results.flatMap(({ flagged }, i) => (flagged ? [i] : []))).toEqual([0, 500, 1000, 1500, 2000]);
  });
});

describe('is refused before anything is sent', () => {
  test('a picture for a model that reads only', async () => {
    const before = server.requests.length;
    expect(await engine('text-moderation-latest').moderate({ input: [[picture]] })).toMatchObject({ error: { reason: 'unsupported' } });
    expect(await engine().moderate({ input: [[picture]], model: 'text-moderation-stable' })).toMatchObject({
      error: { reason: 'unsupported' },
    });
    expect(server.requests.length).toBe(before);
  });

  test('a picture among other items, and too many texts, at the adapter itself', async () => {
    const before = server.requests.length;
    await expect(adapter().moderate({ input: ['x', [picture]] }, context())).rejects.toMatchObject({ reason: 'unsupported' });
    await expect(adapter().moderate({ input: Array(1001).fill('x') }, context())).rejects.toMatchObject({ reason: 'unsupported' });
    expect(server.requests.length).toBe(before);
  });
});

const good = { flagged: false, categories: { hate: false }, category_scores: { hate: 0 } };
test.each<[string, unknown]>([
  ['no results', {}],
  ['null', null],
  ['a verdict that is none', { results: [null] }],
  ['no flag', { results: [{ ...good, flagged: undefined }] }],
  ['a flag that is text', { results: [{ ...good, flagged: 'false' }] }],
  ['no categories', { results: [{ ...good, categories: undefined }] }],
  ['a category that is a number', { results: [{ ...good, categories: { hate: 0 } }] }],
  ['a score that is text', { results: [{ ...good, category_scores: { hate: '0' } }] }],
  ['fewer verdicts than items', { results: [] }],
  ['more verdicts than items', { results: [good, good] }],
])('a broken verdict is never a clean one: %s', async (_, body) => {
  const moderation = openaiModeration({ model: 'm', apiKey: KEY, fetch: jsonFetch(body).fetch });
  const outcome = await createEngine({ moderation, retry: false }).moderate('x');
  expect(outcome).toMatchObject({ status: 'failed', results: [null], error: { reason: 'malformed_response' } });
});
