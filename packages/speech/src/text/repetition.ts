/** Longest piece whose repetition is looked for, in tokens. */
const MAX_PERIOD = 16;
/** A piece said this often in a row is a decoder gone round in circles; short pieces ("no, no, no") get more room. */
const MIN_REPEATS = 4;
const MIN_LOOP_TOKENS = 16;

/**
 * Finds a loop at the end of what a decoder gave: a piece of up to 16 tokens that stands there at least four times, 16 tokens
 * in all. Gives the length to keep, which is everything up to the end of the piece's first time, or undefined.
 */
export function repetitionStart(tokens: readonly number[]): number | undefined {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const repeats = Math.max(MIN_REPEATS, Math.ceil(MIN_LOOP_TOKENS / period));
    const start = tokens.length - repeats * period;
    if (start < 0) continue;
    let same = true;
    for (let i = start + period; i < tokens.length && same; i++) same = tokens[i] === tokens[i - period];
    if (same) return start + period;
  }
  return undefined;
}
