import { fuzz } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';

const EACH = 1000;

describe('ten thousand conversations by chance keep every law', () => {
  test.each(Array.from({ length: 10 }, (_, i) => i * EACH))('from seed %i', { timeout: 120_000 }, async first => {
    for (let seed = first; seed < first + EACH; seed++) {
      const { violations } = await fuzz(seed);
      expect({ seed, violations }).toEqual({ seed, violations: [] });
    }
  });

  test('a seed gives the same conversation', async () => {
    expect((await fuzz(7)).trace).toEqual((await fuzz(7)).trace);
  });
});
