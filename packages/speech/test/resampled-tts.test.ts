import { resampledTts } from '@antiphon/speech';
import type { TextToSpeech } from '@antiphon/voice';
import { describe, expect, test } from 'vitest';

/** A voice that hums 440 Hz, 10 ms for each character, in three pieces. */
function hum(sampleRate: number): TextToSpeech {
  return {
    name: 'hum',
    sampleRate,
    async *synthesize(text) {
      const total = Math.round((text.length * sampleRate) / 100);
      const whole = new Float32Array(total).map((_, i) => Math.sin((2 * Math.PI * 440 * i) / sampleRate) * 0.5);
      const cuts = [0, Math.floor(total / 3) + 1, Math.floor(total / 2), total];
      for (let i = 0; i < 3; i++) {
        yield {
          samples: whole.slice(cuts[i], cuts[i + 1]),
          ...(i === 0 ? { words: [{ start: 0, end: 4, sample: sampleRate / 100 }] } : {}),
        };
      }
    },
    close: async () => {},
  };
}

async function speak(tts: TextToSpeech, text: string) {
  const pieces: Float32Array[] = [];
  let marks: readonly { readonly sample: number }[] = [];
  for await (const { samples, words } of tts.synthesize(text)) {
    pieces.push(samples);
    marks = [...marks, ...(words ?? [])];
  }
  return { samples: Float32Array.from(pieces.flatMap(piece => [...piece])), marks };
}

describe('resampledTts', () => {
  test.each([
    [22_050, 48_000],
    [24_000, 16_000],
    [16_000, 44_100],
  ])('%d → %d Hz keeps length, pitch and joints', async (from, to) => {
    const { samples, marks } = await speak(resampledTts(hum(from), to), 'a'.repeat(60));
    expect(Math.abs(samples.length - 0.6 * to)).toBeLessThanOrEqual(1);
    expect(marks[0]?.sample).toBe(Math.round(to / 100));
    const body = samples.slice(Math.round(to * 0.05), Math.round(to * 0.55));
    const crossings = body.reduce((count, sample, i) => count + (i > 0 && sample >= 0 && (body[i - 1] ?? 0) < 0 ? 1 : 0), 0);
    expect(Math.abs(crossings / 0.5 - 440)).toBeLessThanOrEqual(3);
    // A sine of 440 Hz never moves further than this from one sample to the next.
    const steepest = 0.5 * 2 * Math.PI * (440 / to);
    for (let i = 1; i < body.length; i++) expect(Math.abs((body[i] ?? 0) - (body[i - 1] ?? 0))).toBeLessThan(steepest * 1.1);
  });

  test('the same rate is the same voice', () => {
    const tts = hum(16_000);
    expect(resampledTts(tts, 16_000)).toBe(tts);
  });
});
