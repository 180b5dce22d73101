// What several tests share: the real models, and small signals.

import { createModelCache, type ModelCache } from '@antiphon/speech';

/**
 * The machine's cache with these models in it, fetched when needed. Without a registry: undefined and a loud line, so that
 * the tests can be skipped; on a build server that is a failure.
 */
export async function realModels(...names: string[]): Promise<ModelCache | undefined> {
  const cache = createModelCache();
  try {
    for (const name of names) await cache.pull(name);
    return cache;
  } catch (error) {
    if (process.env.CI) throw error;
    console.warn(`SKIPPED: tests with real models. ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

export function sine(hertz: number, sampleRate: number, seconds: number, amplitude = 0.5): Float32Array {
  return Float32Array.from(
    { length: Math.round(sampleRate * seconds) },
    (_, i) => amplitude * Math.sin((2 * Math.PI * hertz * i) / sampleRate),
  );
}

/** White noise, −1 to 1, the same in every run. */
export function noise(length: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

export function rootMeanSquare(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** Strength of one frequency, as the amplitude of a sine. */
export function amplitudeAt(samples: Float32Array, hertz: number, sampleRate: number): number {
  let cosine = 0;
  let sinus = 0;
  let weight = 0;
  for (let i = 0; i < samples.length; i++) {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / samples.length);
    const phase = (2 * Math.PI * hertz * i) / sampleRate;
    cosine += samples[i]! * window * Math.cos(phase);
    sinus += samples[i]! * window * Math.sin(phase);
    weight += window;
  }
  return (2 * Math.hypot(cosine, sinus)) / weight;
}

export async function* blocks(samples: Float32Array, size = 320): AsyncGenerator<Float32Array> {
  for (let at = 0; at < samples.length; at += size) yield samples.subarray(at, at + size);
}

export function join(pieces: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
