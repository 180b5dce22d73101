// How one utterance becomes a stream of transcripts, whatever decodes it: partials while it is spoken, parts when it is long, one final.

import type { Transcript } from '@antiphon/voice';
import { UtteranceBuffer } from './utterance.js';

export interface UtteranceOptions {
  /** New audio in milliseconds before the next partial; 0: none. */
  readonly partialMs: number;
  readonly signal?: AbortSignal;
}

/** Turns 16 kHz mono into text. It owns the samples it gets, and rejects when its signal aborts. */
export type Decode = (samples: Float32Array, signal: AbortSignal) => Promise<string>;

const RATE = 16_000;
/** Longer audio is decoded in parts, cut at the quietest place between the two; decoding cost and errors grow with length. */
const MIN_PART = 14 * RATE;
const MAX_PART = 28 * RATE;
/** A source that is faster than the decoder has to wait when this much is held. */
const HIGH_WATER = 90 * RATE;
/** Partials of a long part come at wider steps, so that decoding again and again stays below a third of a core. */
const PARTIAL_SHARE = 1 / 12;
/** After this much quiet the utterance is probably over: what was heard is decoded before the end is certain. */
const EARLY = 0.15 * RATE;
/** −70 dB of full scale: below that nobody speaks, and no decoder need be asked. */
const SILENT_PEAK = 3e-4;

/**
 * One decode runs at a time and the next one takes all that was heard by then, so a slow machine gets fewer partials, not a queue.
 * A pause is decoded at once: when only quiet follows, that is the final, and nobody waits for it. The end of the audio ends a partial that
 * has not seen all that was said. Throws what the audio or the decoder throws, or the signal's reason.
 */
export async function* transcribeUtterance(
  audio: AsyncIterable<Float32Array>,
  decode: Decode,
  options: UtteranceOptions,
): AsyncGenerator<Transcript> {
  const { signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const heard = createListener(audio, stop.signal);
  const onAbort = () => {
    stop.abort(signal?.reason);
    heard.wake();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  const parts: string[] = [];
  let latest: { readonly length: number; readonly text: string } | undefined;
  let shown = '';
  const joined = (last: string) => [...parts, last].filter(text => text !== '').join(' ');

  try {
    while (true) {
      stop.signal.throwIfAborted();
      heard.throwIfFailed();
      const { length } = heard.buffer;
      if (length >= MAX_PART) {
        const part = heard.take(heard.buffer.quietestCut(MIN_PART, MAX_PART));
        latest = undefined;
        parts.push(await decodeSound(part, decode, stop.signal));
      } else if (heard.ended()) {
        break;
      } else if (isPause(heard.buffer, latest?.length ?? 0) || isTimeForPartial(options.partialMs, length, latest?.length ?? 0)) {
        const stable = isPause(heard.buffer, latest?.length ?? 0);
        const text = await heard.unlessEnded(early => decodeSound(heard.buffer.snapshot(), decode, early));
        if (text === undefined) continue;
        latest = { length, text };
        const partial = joined(text);
        if (options.partialMs > 0 && (stable || partial !== shown) && partial !== '')
          yield { type: 'partial', text: partial, ...(stable ? { stable } : {}) };
        shown = partial;
      } else {
        await heard.changed();
      }
    }
    const seenAll = latest !== undefined && heard.buffer.loudUntil <= latest.length;
    const last = latest && seenAll ? latest.text : await decodeSound(heard.buffer.snapshot(), decode, stop.signal);
    yield { type: 'final', text: joined(last) };
  } finally {
    signal?.removeEventListener('abort', onAbort);
    stop.abort(new DOMException('The transcription has ended.', 'AbortError'));
    heard.leave();
  }
}

function partialStep(partialMs: number, length: number): number {
  return Math.max((partialMs / 1000) * RATE, length * PARTIAL_SHARE);
}

async function decodeSound(samples: Float32Array, decode: Decode, signal: AbortSignal): Promise<string> {
  if (!samples.some(sample => sample > SILENT_PEAK || sample < -SILENT_PEAK)) return '';
  return decode(samples, signal);
}

/** What was said and not decoded yet is followed by quiet. A long utterance costs too much to be decoded at each of its pauses. */
function isPause({ length, loudUntil }: UtteranceBuffer, decoded: number): boolean {
  return length <= MIN_PART && loudUntil > decoded && length - loudUntil >= EARLY;
}

function isTimeForPartial(partialMs: number, length: number, decoded: number): boolean {
  return partialMs > 0 && length - decoded >= partialStep(partialMs, length);
}

/** Takes the audio in beside the decoding. */
function createListener(audio: AsyncIterable<Float32Array>, stop: AbortSignal) {
  const buffer = new UtteranceBuffer();
  const iterator = audio[Symbol.asyncIterator]();
  let ended = false;
  let failure: { readonly error: unknown } | undefined;
  let wakeReader = () => {};
  let wakePump = () => {};
  let onEnd = () => {};

  const pump = async () => {
    try {
      while (!stop.aborted) {
        if (buffer.length >= HIGH_WATER) {
          await new Promise<void>(resolve => {
            wakePump = resolve;
          });
          continue;
        }
        const { done, value } = await iterator.next();
        if (done === true) break;
        buffer.push(value);
        wakeReader();
      }
      ended = true;
      onEnd();
    } catch (error) {
      failure = { error };
      onEnd();
    }
    wakeReader();
  };
  void pump();

  return {
    buffer,
    ended: () => ended,
    throwIfFailed() {
      if (failure !== undefined) throw failure.error;
    },
    take(count: number): Float32Array {
      const taken = buffer.take(count);
      wakePump();
      return taken;
    },
    /** Resolves with the next block, the end, a failure or a wake. */
    changed: () =>
      new Promise<void>(resolve => {
        wakeReader = resolve;
      }),
    wake: () => wakeReader(),
    /** Runs work that loses its point when the audio ends with more sound than the work has seen; then it gives undefined. */
    async unlessEnded<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
      const early = new AbortController();
      const seen = buffer.length;
      const onStop = () => early.abort(stop.reason);
      stop.addEventListener('abort', onStop, { once: true });
      onEnd = () => {
        if (buffer.loudUntil > seen || failure !== undefined) early.abort();
      };
      try {
        return await work(early.signal);
      } catch (error) {
        if (early.signal.aborted && !stop.aborted) return undefined;
        throw error;
      } finally {
        onEnd = () => {};
        stop.removeEventListener('abort', onStop);
      }
    },
    /** Lets the source go. It may be waiting for sound, so nobody waits for it. */
    leave() {
      wakePump();
      if (!ended && failure === undefined) iterator.return?.()?.then(undefined, () => {});
    },
  };
}
