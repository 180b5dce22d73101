/**
 * Tokens of one or more model calls. `inputTokens` is the whole prompt, cache reads and writes included; `outputTokens` is everything
 * generated, reasoning included. A missing field was not reported; 0 was reported as zero.
 */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

const FIELDS = ['inputTokens', 'outputTokens', 'totalTokens', 'cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;

/** Sums two usages; a field that neither reports stays missing. `addUsage({ inputTokens: 1 }, { inputTokens: 2 })` → `{ inputTokens: 3 }` */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {};
  for (const field of FIELDS) {
    if (a[field] !== undefined || b[field] !== undefined) sum[field] = (a[field] ?? 0) + (b[field] ?? 0);
  }
  return sum;
}
