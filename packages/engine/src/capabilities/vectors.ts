import type { Vector } from './embeddings.js';

/**
 * The vector scaled to length 1; one of zeros stays as it is.
 *
 * ```ts
 * normalize([3, 4]); // [0.6, 0.8]
 * ```
 */
export function normalize(vector: Vector): number[] {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest === 0) return [...vector];
  // Scaled first: squares of very large or very small numbers leave the range.
  const scaled = vector.map(value => value / largest);
  const length = Math.sqrt(scaled.reduce((sum, value) => sum + value * value, 0));
  return scaled.map(value => value / length);
}
