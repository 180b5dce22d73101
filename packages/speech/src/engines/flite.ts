// Text to speech by CMU Flite, compiled to WebAssembly, in a worker thread.

import type { SpeechAudio, TextToSpeech } from '@antiphon/voice';
import { resample } from '../audio/resample.js';
import { trimSilence } from '../audio/trim-silence.js';
import { EngineError } from '../errors.js';
import { createModelCache, type ModelCache } from '../models/cache.js';
import { cutPieces, isSpoken, plainAscii } from '../text/plain-ascii.js';
import type { FliteContract } from '../worker/flite.worker.js';
import { shareWorkerClient } from '../worker/shared.js';
import { started } from './start.js';

/** `rms`, `slt` and `awb` sound best; `kal16` and `kal` (8 kHz) are older, smaller and faster. */
export const fliteVoices = ['rms', 'slt', 'awb', 'kal16', 'kal'] as const;
export type FliteVoice = (typeof fliteVoices)[number];

export interface FliteOptions {
  /** Where the model comes from. Default: the machine's model cache. */
  readonly cache?: ModelCache;
  /** A `flite.wasm` of your own. */
  readonly modelPath?: string;
  /** Default `rms`. */
  readonly voice?: FliteVoice;
}

/** A call cannot be stopped while it runs, so text is spoken in pieces of bounded length. */
const MAX_CHARS = 200;

/**
 * CMU Flite, English: 16 kHz (8 kHz for the voice `kal`), at about 0.03 of real time; clear and plainly synthetic. Any text is
 * taken: what the voice cannot say (emoji, other scripts, control characters) is left out, and text without a letter or digit
 * gives no audio. Silence at the ends is trimmed to 20 ms in front and 80 ms behind. An abort drops the result at once; the
 * engine finishes its current piece (at most 200 characters) unheard.
 *
 * Throws ModelError `missing` or `damaged`, EngineError `failed`, or `invalid_option` for an unknown voice.
 *
 * @example
 * const tts = await flite({ voice: 'slt' });
 * for await (const { samples } of tts.synthesize('Good morning.')) play(samples, tts.sampleRate);
 */
export async function flite(options: FliteOptions = {}): Promise<TextToSpeech> {
  const voice = knownVoice(options.voice ?? 'rms');
  const modelPath = options.modelPath ?? (await (options.cache ?? createModelCache()).path('flite', 'flite.wasm'));
  const worker = shareWorkerClient<FliteContract>({
    name: 'flite',
    script: new URL('../worker/flite.worker.js', import.meta.url),
    workerData: { modelPath },
  });
  // The first call pays for compilation, and its result says at which rate this voice really speaks.
  const { sampleRate } = await started(worker, worker.call('speak', { voice, text: 'ok' }), modelPath);

  return {
    name: `flite-${voice}`,
    sampleRate,
    async *synthesize(text, { signal, voice: wanted } = {}): AsyncGenerator<SpeechAudio> {
      const speaker = wanted === undefined ? voice : knownVoice(wanted);
      signal?.throwIfAborted();
      for (const piece of cutPieces(plainAscii(text), MAX_CHARS)) {
        if (!isSpoken(piece)) continue;
        const spoken = await worker.call('speak', { voice: speaker, text: piece }, signal === undefined ? {} : { signal });
        const trimmed = trimSilence(spoken.samples, spoken.sampleRate, { leadMs: 20, tailMs: 80 });
        const samples = await resample(trimmed, spoken.sampleRate, sampleRate);
        signal?.throwIfAborted();
        if (samples.length > 0) yield { samples };
      }
    },
    close: () => worker.close(),
  };
}

function knownVoice(voice: string): FliteVoice {
  const known = fliteVoices.find(name => name === voice);
  if (known !== undefined) return known;
  throw new EngineError('invalid_option', `Flite has no voice called "${voice}".`, `Its voices: ${fliteVoices.join(', ')}.`);
}
