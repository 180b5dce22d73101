// Audio sources made of what is at hand: a WAV file, or another source at another rate.

import type { AudioSource } from '@antiphon/voice';
import { AudioError } from '../errors.js';
import { type AudioClip, readWav } from './read-wav.js';
import { createResampler, resample } from './resample.js';
import { toMono } from './to-mono.js';

/** What pacing needs of a clock; the clocks of `@antiphon/engine` fit. */
export interface PaceClock {
  /** Milliseconds since any fixed moment. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function takes it back. */
  setTimer(ms: number, fire: () => void): () => void;
}

export interface WavSourceOptions {
  /** `real`: as fast as it was spoken, so it hears like a microphone. `fast` (default): as fast as it is taken. */
  readonly pace?: 'real' | 'fast';
  /** Default: the machine's. */
  readonly clock?: PaceClock;
  /** Silence after the end, in milliseconds, so that an endpoint is heard. Default 0. */
  readonly tailSilenceMs?: number;
  /** Length of a block. Default 20. */
  readonly blockMs?: number;
  /** Hz. Default 16 000, what a voice session takes. */
  readonly sampleRate?: number;
}

const machineClock: PaceClock = {
  now: () => performance.now(),
  setTimer(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Plays a recording as if it came from a microphone: mono, 16 kHz, in blocks of `blockMs` (the last one may be shorter).
 * Real pace follows the clock without drift: a late block does not make the later ones late. `frames()` may be called again.
 *
 * Throws what `readWav` throws, and AudioError `invalid` for options out of range.
 *
 * @example
 * const source = await wavSource('question.wav', { pace: 'real', tailSilenceMs: 800 });
 */
export async function wavSource(from: string | URL | Uint8Array | AudioClip, options: WavSourceOptions = {}): Promise<AudioSource> {
  const { pace = 'fast', clock = machineClock, tailSilenceMs = 0, blockMs = 20, sampleRate = 16_000 } = options;
  if (!(blockMs > 0 && blockMs <= 10_000)) throw new AudioError('invalid', `A block of ${blockMs} ms is out of range.`, 'Use 1 to 10000.');
  if (!(tailSilenceMs >= 0 && tailSilenceMs <= 600_000)) {
    throw new AudioError('invalid', `${tailSilenceMs} ms of silence is out of range.`, 'Use 0 to 600000.');
  }
  const audio = typeof from === 'string' || from instanceof URL || from instanceof Uint8Array ? await readWav(from) : from;
  const speech = await resample(toMono(audio), audio.sampleRate, sampleRate);
  const total = speech.length + Math.round((tailSilenceMs / 1000) * sampleRate);
  const blockSamples = Math.max(1, Math.round((blockMs / 1000) * sampleRate));
  return {
    name: typeof from === 'string' ? from : 'wav',
    sampleRate,
    async *frames(signal) {
      const begin = clock.now();
      for (let at = 0; at < total; at += blockSamples) {
        const end = Math.min(total, at + blockSamples);
        // A microphone hands a block over when it has ended.
        if (pace === 'real') await until(clock, begin + (end / sampleRate) * 1000, signal);
        if (signal.aborted) return;
        const block = new Float32Array(end - at);
        if (at < speech.length) block.set(speech.subarray(at, end));
        yield block;
      }
    },
  };
}

/**
 * The same sound at another sample rate, in blocks as they come.
 *
 * @example
 * const at16k = resampledSource(microphone, 16_000);
 */
export function resampledSource(source: AudioSource, sampleRate: number): AudioSource {
  if (source.sampleRate === sampleRate) return source;
  return {
    name: source.name,
    sampleRate,
    async *frames(signal) {
      const resampler = await createResampler(source.sampleRate, sampleRate);
      for await (const block of source.frames(signal)) {
        const output = resampler.push(block);
        if (output.length > 0) yield output;
      }
      const rest = resampler.flush();
      if (rest.length > 0 && !signal.aborted) yield rest;
    },
  };
}

/** Resolves at the moment or as soon as the signal aborts. */
function until(clock: PaceClock, moment: number, signal: AbortSignal): Promise<void> {
  const wait = moment - clock.now();
  if (wait <= 0 || signal.aborted) return Promise.resolve();
  return new Promise(resolve => {
    let cancel: (() => void) | undefined;
    const finish = () => {
      cancel?.();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    cancel = clock.setTimer(wait, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}
