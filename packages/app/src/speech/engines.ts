import { createModelCache, flite, type ModelCache, moonshine, sileroVad } from '@antiphon/speech';
import type { SpeechToText, TextToSpeech, VoiceActivityDetector } from '@antiphon/voice';
import type { Config } from '../config.js';
import { concat } from './hear.js';

/** Models that a spoken conversation needs. */
export const SPEECH_MODELS = ['silero-vad-v6', 'moonshine-tiny-en-int8', 'flite'] as const;

/** The hearing half: voice activity and speech to text. */
export async function openEars(cache: ModelCache = createModelCache()): Promise<{ vad: VoiceActivityDetector; stt: SpeechToText }> {
  const [vad, stt] = await Promise.all([sileroVad({ cache }), moonshine({ cache })]);
  return { vad, stt };
}

export async function openVoice(config: Config, cache: ModelCache = createModelCache()): Promise<TextToSpeech> {
  return flite({ cache, ...(config.voice === undefined ? {} : { voice: config.voice as 'rms' }) });
}

/** All audio of a text, clause by clause. */
export async function synthesize(tts: TextToSpeech, texts: Iterable<string>, signal?: AbortSignal): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  for (const text of texts) {
    for await (const { samples } of tts.synthesize(text, signal ? { signal } : {})) parts.push(samples);
  }
  return concat(parts);
}
