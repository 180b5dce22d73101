import type { SpeechAudio, SynthesizeOptions, TextToSpeech } from '@antiphon/voice';
import { createResampler, type ResampleQuality } from './resample.js';

/**
 * The same voice at another sample rate, as a sink may want it. Word marks move with the sound.
 *
 * Throws AudioError `invalid` while it speaks, for rates that `createResampler` refuses.
 *
 * @example
 * const tts = resampledTts(await flite(), 48_000);
 */
export function resampledTts(tts: TextToSpeech, sampleRate: number, quality: ResampleQuality = 'medium'): TextToSpeech {
  if (tts.sampleRate === sampleRate) return tts;
  const ratio = sampleRate / tts.sampleRate;
  return {
    name: tts.name,
    sampleRate,
    async *synthesize(text: string, options?: SynthesizeOptions): AsyncGenerator<SpeechAudio> {
      // One resampler for the clause, so that its pieces join without a click.
      const resampler = await createResampler(tts.sampleRate, sampleRate, quality);
      let rest: Float32Array = new Float32Array(0);
      try {
        for await (const { samples, words } of tts.synthesize(text, options)) {
          const marks = words?.map(word => ({ ...word, sample: Math.round(word.sample * ratio) }));
          yield { samples: resampler.push(samples), ...(marks ? { words: marks } : {}) };
        }
      } finally {
        // Also lets go of the filter's memory when the clause was left early.
        rest = resampler.flush();
      }
      if (rest.length > 0) yield { samples: rest };
    },
    close: () => tts.close(),
  };
}
