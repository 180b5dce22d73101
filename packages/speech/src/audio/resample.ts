// Changes the sample rate with libsamplerate. One filter serves whole clips and streams, so that both give the same samples.

import libsamplerate from '@alexanderolsen/libsamplerate-js';
import { AudioError } from '../errors.js';

/**
 * How much of the band below the lower Nyquist frequency is kept, at what cost per second of 48 kHz audio:
 * `fast` 80 %, about 7 ms; `medium` 90 %, about 20 ms; `best` 97 %, about 70 ms. Aliases lie below −97 dB in all.
 */
export type ResampleQuality = 'fast' | 'medium' | 'best';

export interface Resampler {
  /** Converts the next block, of any length. Gives what is ready: the filter looks ahead by some milliseconds. */
  push(block: Float32Array): Float32Array;
  /** Gives the rest, so that all pieces together are `round(input × to / from)` samples long. The resampler is then done. */
  flush(): Float32Array;
}

const converters = { best: 0, medium: 1, fast: 2 } as const;
/** Samples handed to the filter at once; bounds its memory. */
const SLICE = 8192;
/** libsamplerate refuses more, either way. */
const MAX_RATIO = 256;

/**
 * Opens a resampler for a stream of mono blocks. Blocks of any size give the same samples as one call with all of them.
 *
 * Throws AudioError `invalid` for rates that are not 1 to 1 000 000 Hz or more than 256-fold apart.
 *
 * @example
 * const resampler = await createResampler(48_000, 16_000);
 * for await (const block of microphone) send(resampler.push(block));
 * send(resampler.flush());
 */
export async function createResampler(from: number, to: number, quality: ResampleQuality = 'medium'): Promise<Resampler> {
  assertRates(from, to);
  if (from === to) return { push: block => block, flush: () => new Float32Array(0) };
  const filter = await libsamplerate.create(1, from, to, { converterType: converters[quality] });
  let taken = 0;
  let given = 0;
  let done = false;

  function run(block: Float32Array): Float32Array {
    const pieces: Float32Array[] = [];
    for (let at = 0; at < block.length; at += SLICE) {
      // The filter's answer is a window on its own memory.
      pieces.push(filter.full(block.subarray(at, at + SLICE)).slice());
    }
    return concat(pieces);
  }

  return {
    push(block) {
      if (done) throw new AudioError('invalid', 'The resampler was flushed already.', 'Create a new one for the next stream.');
      taken += block.length;
      const output = run(block);
      given += output.length;
      return output;
    },
    flush() {
      if (done) return new Float32Array(0);
      done = true;
      const left = Math.max(0, Math.round((taken * to) / from) - given);
      const pieces: Float32Array[] = [];
      let have = 0;
      // Silence pushes out what the filter still holds back; more than a few rounds would mean that it gives nothing.
      const silence = new Float32Array(Math.max(1024, Math.ceil((from / to) * 64)));
      for (let round = 0; have < left && round < 64; round++) {
        const piece = run(silence);
        pieces.push(piece);
        have += piece.length;
      }
      filter.destroy();
      const rest = new Float32Array(left);
      rest.set(concat(pieces).subarray(0, left));
      return rest;
    },
  };
}

/**
 * Changes the sample rate of a whole mono clip; the result is `round(length × to / from)` samples long.
 *
 * Throws AudioError `invalid` like `createResampler`.
 *
 * @example
 * const at16k = await resample(toMono(wav), wav.sampleRate, 16_000);
 */
export async function resample(
  samples: Float32Array,
  from: number,
  to: number,
  quality: ResampleQuality = 'medium',
): Promise<Float32Array> {
  const resampler = await createResampler(from, to, quality);
  const body = resampler.push(samples);
  const rest = resampler.flush();
  return rest.length === 0 ? body : concat([body, rest]);
}

function concat(pieces: readonly Float32Array[]): Float32Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const whole = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function assertRates(from: number, to: number): void {
  for (const rate of [from, to]) {
    if (!(rate >= 1 && rate <= 1_000_000)) {
      throw new AudioError('invalid', `${rate} Hz is not a sample rate.`, 'Use 1 to 1000000 Hz.');
    }
  }
  if (Math.max(from, to) / Math.min(from, to) > MAX_RATIO) {
    throw new AudioError('invalid', `Going from ${from} to ${to} Hz is more than ${MAX_RATIO}-fold.`, 'Convert in two steps.');
  }
}
