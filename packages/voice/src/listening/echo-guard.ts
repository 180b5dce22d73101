import type { EchoGuard } from '../interfaces/echo-guard.js';
import { BANDS, BandLevels } from './band-levels.js';

export interface EchoGuardOptions {
  /** Hz of the frames that are heard, and of what is played. */
  readonly sourceRate: number;
  readonly sinkRate: number;
}

/** Slots of 10 ms in which an echo may come: the delay of loudspeaker and microphone, and the room. */
const LAGS = 50;
/** Slots of playing after which the echo is known well enough. Until then it may be as loud as what is played. */
const WARM_UP = 120;
/** How fast it is learned, at first and later: later whoever speaks over it must not be learned too. */
const RATE = { first: 0.3, later: 0.002 };
/** What is heard differs from what is expected by this factor without being anything else. */
const MARGIN = 1.7;
/** With this share of what cannot be echo, it is surely something else. */
const SURE = 0.7;
/** What stays of a slot's say after the next frame: a single slot says little. */
const MEMORY = 0.6;
/** Growth of the noise floor in a slot, and how far noise rises above it. */
const NOISE = { growth: 1.003, margin: 2 };
/** Below this level nothing is played or heard; and so many slots in a row that are louder are more than a click. */
const SILENCE = 1e-3;
const CLICK = 3;
/** Slots that may wait: the loudspeaker is given sound some 80 ms early, and one that runs faster than the source must not fall behind. */
const MAX_WAITING = 20;

/**
 * An echo guard that learns, band by band, how loud and how late the microphone hears what is played, and expects no less. It takes away no
 * sound and needs no exact clocks; in the first second of playing it hears only what is louder than the loudspeaker.
 *
 * ```ts
 * const guard = echoGuard({ sourceRate: 16_000, sinkRate: 24_000 });
 * guard.playing(samples); // as the loudspeaker gets them
 * const probability = (await vad.detect(frame)) * guard.judge(frame);
 * ```
 */
export function echoGuard({ sourceRate, sinkRate }: EchoGuardOptions): EchoGuard {
  const played = new BandLevels(sinkRate);
  const heard = new BandLevels(sourceRate);
  const bands = Array.from({ length: BANDS }, () => new BandEcho());
  const waiting: Float32Array[] = [];
  let loudFor = 0;
  let quietFor = LAGS;
  let warmUp = WARM_UP;
  let foreign = 0;
  let total = 0;

  const advance = () => {
    const slot = waiting.shift();
    loudFor = slot?.some(level => level > SILENCE) ? loudFor + 1 : 0;
    quietFor = loudFor >= CLICK ? 0 : quietFor + 1;
    for (const [i, band] of bands.entries()) band.play(slot?.[i] ?? 0);
  };
  return {
    name: 'echo guard',
    playing(samples) {
      waiting.push(...played.push(samples));
      // Nobody may be listening.
      if (waiting.length > LAGS) waiting.splice(0, waiting.length - LAGS);
    },
    flushed: () => void waiting.splice(0),
    judge(frame) {
      if (quietFor >= LAGS && waiting.length === 0) return 1;
      foreign *= MEMORY;
      total *= MEMORY;
      for (const slot of heard.push(frame)) {
        do advance();
        while (waiting.length > MAX_WAITING);
        if (quietFor >= LAGS) continue;
        if (warmUp > 0) warmUp--;
        for (const [i, band] of bands.entries()) {
          const level = slot[i] ?? 0;
          foreign += Math.max(0, level - band.expect(level, warmUp));
          total += level;
        }
      }
      return total > SILENCE ? Math.min(1, foreign / total / SURE) : 1;
    },
  };
}

/** How the echo in one band follows what is played: a weight for each delay. */
class BandEcho {
  /** The newest first. */
  readonly #played = new Float32Array(LAGS);
  readonly #weights = new Float32Array(LAGS);
  #noise = Number.POSITIVE_INFINITY;

  play(level: number): void {
    this.#played.copyWithin(1, 0);
    this.#played[0] = level;
  }

  /** The most that echo and noise can be now; learns from what was heard. */
  expect(heard: number, warmUp: number): number {
    const played = this.#played;
    const weights = this.#weights;
    this.#noise = Math.min(heard, this.#noise * NOISE.growth);
    let echo = 0;
    let power = 1e-7;
    let loudest = 0;
    for (let lag = 0; lag < LAGS; lag++) {
      const level = played[lag]!;
      echo += weights[lag]! * level;
      power += level * level;
      if (level > loudest) loudest = level;
    }
    // What is much louder than expected is somebody, once the echo is known.
    const error = Math.min(heard - echo, warmUp > 0 ? Number.POSITIVE_INFINITY : echo / 2 + 1e-4);
    const rate = RATE.later + RATE.first * (warmUp / WARM_UP) ** 2;
    for (let lag = 0; lag < LAGS; lag++) weights[lag] = Math.max(0, weights[lag]! + (rate * error * played[lag]!) / power);
    return Math.max(echo * MARGIN, warmUp > 0 ? loudest : 0) + this.#noise * NOISE.margin;
  }
}
