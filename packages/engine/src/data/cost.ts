import type { Usage } from './usage.js';

/** US dollars per million tokens. */
export interface Price {
  /** For prompt tokens that came from no cache. */
  readonly input: number;
  readonly output: number;
  /** For prompt tokens read from a cache; default the price of `input`. */
  readonly cachedInput?: number;
  /** For prompt tokens written to a cache; default the price of `input`. */
  readonly cacheWrite?: number;
}

/** Prices by the model's name as the request or the answer names it. A date at the end of a model's name need not be written. */
export interface PriceTable {
  readonly [model: string]: Price;
}

/** What one or more model calls cost. `input` has cache reads and writes in it. */
export interface Cost {
  readonly currency: 'USD';
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

const PER = 1_000_000;

/**
 * What these tokens cost; undefined when the provider did not report them. Tokens read from or written to a cache count at their own price,
 * the rest of the prompt at the usual one.
 *
 * ```ts
 * costOf({ inputTokens: 1_000_000, cachedInputTokens: 900_000, outputTokens: 0 }, { input: 2, output: 8, cachedInput: 0.5 })?.total; // 0.65
 * ```
 */
export function costOf(usage: Usage, price: Price): Cost | undefined {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  // Divided once, so that whole prices give exact sums.
  const input =
    plain * price.input + cachedInputTokens * (price.cachedInput ?? price.input) + cacheWriteTokens * (price.cacheWrite ?? price.input);
  const output = outputTokens * price.output;
  return { currency: 'USD', input: input / PER, output: output / PER, total: (input + output) / PER };
}

/** Sums two costs. `addCost(undefined, cost)` → `cost` */
export function addCost(a: Cost | undefined, b: Cost): Cost {
  if (!a) return b;
  return { currency: 'USD', input: a.input + b.input, output: a.output + b.output, total: a.total + b.total };
}

/** The price of the first of these names that the table knows, with or without the date at the end of a name. */
export function findPrice(prices: PriceTable, names: readonly (string | undefined)[]): Price | undefined {
  for (const name of names) {
    if (name === undefined) continue;
    for (const key of [name, name.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2})$/, '')]) if (Object.hasOwn(prices, key)) return prices[key];
  }
  return undefined;
}
