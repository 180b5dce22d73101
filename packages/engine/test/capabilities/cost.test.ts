// What the calls of the capabilities cost.
import { AdapterError, type CapabilityUsage, createEngine, type PriceTable } from '@antiphon/engine';
import { scriptedEmbeddings } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { engineOf, goodVerb, METHODS } from './methods.js';

const PRICES: PriceTable = { m: { input: 1_000_000, output: 3_000_000 } };
const WITHOUT_OUTPUT = ['embed', 'moderate', 'rerank'];

describe.each(METHODS)('$name', method => {
  const costOf = async (usage: CapabilityUsage | undefined, prices?: PriceTable, more: object = {}, options: object = {}) => {
    const report = { ...(usage ? { usage } : {}), ...more };
    const answer = method.streams
      ? (method.answer as object[]).map(event => ('usage' in event ? { type: (event as { type?: string }).type, ...report } : event))
      : { ...(method.answer as object), ...report };
    const outcome = await method.call(engineOf(method, goodVerb({ ...method, answer }), prices ? { prices } : {}), options);
    expect(outcome.status).toBe('completed');
    return 'cost' in outcome ? outcome.cost : 'none';
  };
  const usage = { inputTokens: 2, outputTokens: 1 };
  const cost = { currency: 'USD', input: 2, output: 3, total: 5 };

  test('by the name of the model that was asked for, or that answered', async () => {
    expect(await costOf(usage, PRICES)).toEqual(cost);
    expect(await costOf(usage, { other: PRICES.m! }, {}, { model: 'other' })).toEqual(cost);
    expect(await costOf(usage, { answered: PRICES.m! }, { model: 'answered-2026-01-31' })).toEqual(cost);
  });

  test.each<readonly [string, CapabilityUsage | undefined, PriceTable | undefined]>([
    ['no prices', usage, undefined],
    ['no price for this model', usage, { other: PRICES.m! }],
    ['no usage', undefined, PRICES],
    ['no tokens', { characters: 5, audioSeconds: 1, images: 1, searchUnits: 1 }, PRICES],
    ['no tokens of the input', { outputTokens: 1 }, PRICES],
  ])('%s: it is not known, and no zero', async (_, reported, prices) => {
    expect(await costOf(reported, prices)).toBe('none');
  });

  test('a price of zero is known', async () => {
    expect(await costOf(usage, { m: { input: 0, output: 0 } })).toEqual({ currency: 'USD', input: 0, output: 0, total: 0 });
  });

  test('tokens of the output need not be reported where there are none', async () => {
    expect(await costOf({ inputTokens: 2 }, PRICES)).toEqual(
      WITHOUT_OUTPUT.includes(method.name) ? { currency: 'USD', input: 2, output: 0, total: 2 } : 'none',
    );
  });
});

describe('several requests', () => {
  const prices = { scripted: { input: 1_000_000, output: 0 } };
  const answer = (usage?: CapabilityUsage) => ({ embeddings: [{ index: 0, vector: [1] }], ...(usage ? { usage } : {}) });
  const embedded = (turns: Parameters<typeof scriptedEmbeddings>[0]) =>
    createEngine({ embeddings: scriptedEmbeddings(turns, { maxBatchSize: 1 }), prices }).embed(['a', 'b'], { concurrency: 1 });

  test('are summed', async () => {
    expect((await embedded([answer({ inputTokens: 2 }), answer({ inputTokens: 3 })])).cost?.total).toBe(5);
  });

  test('one without usage leaves the sum unknown', async () => {
    for (const turns of [
      [answer({ inputTokens: 2 }), answer()],
      [answer(), answer({ inputTokens: 2 })],
    ])
      expect(await embedded(turns)).not.toHaveProperty('cost');
  });

  test('a failure keeps the cost of what was answered before it', async () => {
    const outcome = await embedded([answer({ inputTokens: 2 }), new AdapterError('invalid_request', 'No.')]);
    expect(outcome).toMatchObject({ status: 'failed', cost: { total: 2 } });
  });
});
