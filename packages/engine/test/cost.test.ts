import { type Cost, costOf, createEngine, findPrice, foldEvents, type PriceTable, type Usage, user } from '@antiphon/engine';
import { type ScriptedTurn, scripted, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calls, collect, plainTool, settled } from './support.js';

const PRICES: PriceTable = { plain: { input: 2, output: 10 }, cached: { input: 4, output: 20, cachedInput: 1, cacheWrite: 5 } };
const total = (cost: Cost | undefined) => cost && [cost.input, cost.output, cost.total];

describe('cost of a call', () => {
  test.each<readonly [string, Usage, string, readonly number[] | undefined]>([
    ['prompt and answer', { inputTokens: 500_000, outputTokens: 100_000 }, 'plain', [1, 1, 2]],
    ['nothing', { inputTokens: 0, outputTokens: 0 }, 'plain', [0, 0, 0]],
    ['cache reads at their price', { inputTokens: 1_000_000, cachedInputTokens: 750_000, outputTokens: 0 }, 'cached', [1.75, 0, 1.75]],
    ['cache writes at their price', { inputTokens: 1_000_000, cacheWriteTokens: 200_000, outputTokens: 0 }, 'cached', [4.2, 0, 4.2]],
    ['both', { inputTokens: 1_000_000, cachedInputTokens: 500_000, cacheWriteTokens: 500_000, outputTokens: 50_000 }, 'cached', [3, 1, 4]],
    ['a cache without a price of its own', { inputTokens: 1_000_000, cachedInputTokens: 500_000, outputTokens: 0 }, 'plain', [2, 0, 2]],
    ['no usage', {}, 'plain', undefined],
    ['half of the usage', { inputTokens: 5 }, 'plain', undefined],
  ])('%s', (_, usage, model, expected) => expect(total(costOf(usage, PRICES[model]!))).toEqual(expected));

  test.each<readonly [readonly (string | undefined)[], string | undefined]>([
    [['plain'], 'plain'],
    [['plain-2026-01-31'], 'plain'],
    [['plain-20260131'], 'plain'],
    [['plain-mini'], undefined],
    [[undefined, 'unknown', 'cached'], 'cached'],
    [['toString'], undefined],
    [['__proto__'], undefined],
  ])('%j is %s', (names, model) => expect(findPrice(PRICES, names)).toBe(model && PRICES[model]));
});

describe('cost of a run', () => {
  const usage = { inputTokens: 500_000, outputTokens: 100_000 };
  async function run(turns: readonly ScriptedTurn[], prices?: PriceTable, model = 'plain', options = {}) {
    const clock = virtualClock();
    const tools = [plainTool('works', () => 1)];
    const engine = createEngine({ chat: scripted(turns, { model }), clock, tools, ...(prices ? { prices } : {}) });
    const stream = engine.stream('Hi', options);
    const events = await settled(clock, collect(stream));
    const outcome = await stream.outcome;
    expect(foldEvents(events, { messages: [user('Hi')] })).toStrictEqual(outcome);
    return outcome;
  }

  test('is summed over the steps', async () => {
    const outcome = await run(
      [
        { ...calls('works'), usage },
        { text: 'Fine.', usage },
      ],
      PRICES,
    );
    expect(outcome.cost).toEqual({ currency: 'USD', input: 2, output: 2, total: 4 });
    expect(outcome.steps.map(step => step.cost?.total)).toEqual([2, 2]);
  });

  test.each<readonly [string, ScriptedTurn[], PriceTable | undefined, string, object]>([
    ['no prices', [{ text: 'a', usage }], undefined, 'plain', {}],
    ['an unknown model', [{ text: 'a', usage }], PRICES, 'other', {}],
    ['a step without usage', [{ ...calls('works'), usage }, 'Fine.'], PRICES, 'plain', {}],
    ['a model of the call that has no price', [{ text: 'a', usage }], PRICES, 'plain', { model: 'other' }],
  ])('is unknown with %s', async (_, turns, prices, model, options) => {
    expect(await run(turns, prices, model, options)).not.toHaveProperty('cost');
  });

  test('what lost tries used is paid for too', async () => {
    const clock = virtualClock();
    const lost: ScriptedTurn = [
      { type: 'message_start', usage: { inputTokens: 500_000 } },
      { type: 'text_delta', index: 0, delta: 'a' },
    ];
    const chat = Object.assign(scripted([lost, { text: 'b', usage }], { model: 'plain' }), { continuation: true });
    const engine = createEngine({ chat, clock, prices: PRICES, retry: { baseMs: 1 } });
    expect(await settled(clock, engine.chat('Hi', { onStreamError: 'continue' }))).toMatchObject({
      text: 'ab',
      cost: { input: 2, output: 1, total: 3 },
    });
  });

  test('the whole is the sum of its parts', async () => {
    const tokens = fc.nat(1_000_000);
    const step = fc.record({ inputTokens: tokens, outputTokens: tokens, cachedInputTokens: fc.nat(1000), cacheWriteTokens: fc.nat(1000) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async usages => {
        const turns = usages.map(
          (usage, i): ScriptedTurn => (i < usages.length - 1 ? { ...calls('works'), usage } : { text: 'Fine.', usage }),
        );
        const { cost } = await run(turns, PRICES, 'cached');
        expect(cost?.total).toBeCloseTo((cost?.input ?? 0) + (cost?.output ?? 0));
        expect(cost?.total).toBeCloseTo(usages.reduce((sum, usage) => sum + (costOf(usage, PRICES.cached!)?.total ?? 0), 0));
      }),
      { numRuns: 50 },
    );
  });

  test.each([{ m: { input: -1, output: 1 } }, { m: { input: 1 } }, { m: null }, { m: { input: 1, output: 1, cachedInput: '1' } }])(
    'prices %j are refused',
    prices => {
      expect(() => createEngine({ prices: prices as unknown as PriceTable })).toThrow(
        expect.objectContaining({ reason: 'invalid_option' }),
      );
    },
  );
});
