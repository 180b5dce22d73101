import type { Clock } from '@antiphon/engine';
import type { AudioSink } from '../interfaces/sink.js';

export interface MemorySink extends AudioSink {
  /** Everything that was played, joined. */
  readonly audio: Float32Array;
}

/**
 * A loudspeaker in memory. With a clock it plays in that clock's real time, with silence where nothing was there to play; without one
 * everything is played the moment it is written.
 */
export function memorySink(options: { readonly clock?: Clock; readonly sampleRate?: number } = {}): MemorySink {
  const sampleRate = options.sampleRate ?? 16_000;
  const { clock } = options;
  let waiting: { samples: Float32Array; offset: number }[] = [];
  let waitingSamples = 0;
  let played = 0;
  let playedUntil = clock?.now() ?? 0;
  const kept: Float32Array[] = [];

  const play = (count: number) => {
    let left = count;
    for (let block = waiting[0]; block && left > 0; block = waiting[0]) {
      const part = block.samples.subarray(block.offset, block.offset + left);
      kept.push(part);
      block.offset += part.length;
      left -= part.length;
      if (block.offset === block.samples.length) waiting.shift();
    }
    played += count - left;
    waitingSamples -= count - left;
  };
  const advance = () => {
    if (!clock) return play(waitingSamples);
    const now = clock.now();
    if (waitingSamples > 0) play(Math.min(waitingSamples, Math.round(((now - playedUntil) * sampleRate) / 1000)));
    playedUntil = now;
  };
  return {
    name: 'memory',
    sampleRate,
    write(samples) {
      advance();
      waiting.push({ samples: samples.slice(), offset: 0 });
      waitingSamples += samples.length;
      advance();
    },
    get played() {
      advance();
      return played;
    },
    flush() {
      advance();
      const dropped = waitingSamples;
      waiting = [];
      waitingSamples = 0;
      return dropped;
    },
    close: async () => {},
    get audio() {
      const joined = new Float32Array(played);
      let at = 0;
      for (const part of kept) {
        joined.set(part, at);
        at += part.length;
      }
      return joined;
    },
  };
}
