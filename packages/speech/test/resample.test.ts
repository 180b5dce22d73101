import { AudioError, createResampler, type ResampleQuality, resample } from '@antiphon/speech';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amplitudeAt, join, noise, sine } from './support.js';

const pairs: readonly [from: number, to: number][] = [
  [8_000, 16_000],
  [11_025, 16_000],
  [16_000, 8_000],
  [16_000, 24_000],
  [16_000, 48_000],
  [22_050, 16_000],
  [24_000, 16_000],
  [44_100, 16_000],
  [44_100, 48_000],
  [48_000, 16_000],
  [48_000, 44_100],
];

function decibels(ratio: number): number {
  return 20 * Math.log10(ratio);
}

describe('resample', () => {
  it.each(pairs)('%i to %i Hz keeps a sine where it was and as loud as it was', async (from, to) => {
    const output = await resample(sine(1_000, from, 1), from, to);
    expect(output).toHaveLength(to);
    const middle = output.subarray(to / 10, to - to / 10);
    const loudness = (hertz: number) => amplitudeAt(middle, hertz, to);
    expect(loudness(1_000)).toBeCloseTo(0.5, 2);
    // A sine that had moved by a hertz would be stronger beside its place than on it.
    expect(loudness(1_000)).toBeGreaterThan(loudness(999));
    expect(loudness(1_000)).toBeGreaterThan(loudness(1_001));
  });

  it.each([
    [48_000, 16_000],
    [44_100, 16_000],
    [24_000, 16_000],
  ])('%i to %i Hz leaves no alias above −60 dB', async (from, to) => {
    for (const hertz of [8_200, 9_000, 10_000, 11_500]) {
      const output = await resample(sine(hertz, from, 0.5, 1), from, to);
      const loudest = output.subarray(1_000, -1_000).reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
      expect(decibels(loudest)).toBeLessThan(-60);
    }
  });

  it('gives round(length × to / from) samples for any length and rates', async () => {
    const rate = fc.integer({ min: 4_000, max: 96_000 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 5_000 }), rate, rate, async (length, from, to) => {
        const output = await resample(new Float32Array(length), from, to, 'fast');
        expect(output).toHaveLength(Math.round((length * to) / from));
      }),
      { numRuns: 25 },
    );
  });

  it('has its end: the last samples are sound, not silence', async () => {
    const output = await resample(sine(200, 48_000, 0.5), 48_000, 16_000);
    const end = output.subarray(-160);
    expect(amplitudeAt(end, 200, 16_000)).toBeGreaterThan(0.4);
  });

  it.each(['fast', 'medium', 'best'] as ResampleQuality[])('works in quality %s', async quality => {
    const output = await resample(sine(1_000, 48_000, 0.5), 48_000, 16_000, quality);
    expect(amplitudeAt(output, 1_000, 16_000)).toBeCloseTo(0.5, 2);
  });

  it('gives the samples themselves when there is nothing to do', async () => {
    const samples = noise(10);
    expect(await resample(samples, 16_000, 16_000)).toBe(samples);
  });

  it.each([
    [0, 16_000],
    [16_000, -1],
    [Number.NaN, 16_000],
    [16_000, Number.POSITIVE_INFINITY],
    [1, 1_000_000],
  ])('refuses %d to %d Hz', async (from, to) => {
    const attempt = resample(new Float32Array(10), from, to);
    await expect(attempt).rejects.toBeInstanceOf(AudioError);
    await expect(attempt).rejects.toMatchObject({ reason: 'invalid' });
  });
});

describe('createResampler', () => {
  it.each(pairs)('%i to %i Hz in blocks of any size equals the whole', async (from, to) => {
    const input = noise(Math.round(from / 5));
    const whole = await resample(input, from, to);
    for (const sizes of [[1, 7, 640], [160], [441, 3, 5_000]]) {
      const resampler = await createResampler(from, to);
      const pieces: Float32Array[] = [];
      for (let at = 0, turn = 0; at < input.length; turn++) {
        const size = sizes[turn % sizes.length]!;
        pieces.push(resampler.push(input.subarray(at, at + size)));
        at += size;
      }
      pieces.push(resampler.flush());
      expect(join(pieces)).toEqual(whole);
    }
  });

  it('is used up by flush', async () => {
    const resampler = await createResampler(48_000, 16_000);
    resampler.push(new Float32Array(480));
    expect(resampler.flush().length).toBeGreaterThan(0);
    expect(resampler.flush()).toHaveLength(0);
    expect(() => resampler.push(new Float32Array(480))).toThrow(/flushed already/);
  });
});
