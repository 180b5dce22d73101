import type { Clock } from '@antiphon/engine';
import type { AudioSink } from '../interfaces/sink.js';
import type { WordMark } from '../interfaces/tts.js';
import { HoldSound } from './hold-sound.js';
import { PlayoutLedger } from './ledger.js';

/** Audio on its way to the loudspeaker; of no generation when it is no speech. */
interface Part {
  readonly generation: number | undefined;
  samples: Float32Array;
}

/** How far the sink is kept ahead of what it plays, and how often its position is read; milliseconds. */
const AHEAD_MS = 80;
const TICK_MS = 20;
/** −12 dB, and how long it takes to get there, so that nothing clicks. */
const DUCKED = 0.25;
const RAMP_MS = 30;

/** What the player tells: the first sample of a generation was played; everything it had was played. */
export interface PlayerListener {
  started(generation: number): void;
  drained(generation: number): void;
}

/**
 * Feeds the sink from the queue of audio that waits, a little at a time, and keeps the ledger. What was not played is here or can be taken back
 * from the sink, so a flush is cheap, and a pause loses and repeats no sample. Runs only while there is something to play.
 */
export class Player {
  readonly ledger = new PlayoutLedger();
  readonly #sink: AudioSink;
  readonly #clock: Clock;
  readonly #listener: PlayerListener;
  readonly #hold: HoldSound | undefined;
  #waiting: Part[] = [];
  /** Given to the sink and not played yet. */
  #sent: Part[] = [];
  #played: number;
  #audible: number | undefined;
  #isHeld = false;
  #gain = 1;
  #targetGain = 1;
  #cancelTick: (() => void) | undefined;

  /** `holdSound`: what `startHoldSound` plays, over and over; mono, at the sink's rate. */
  constructor(sink: AudioSink, clock: Clock, listener: PlayerListener, holdSound?: Float32Array) {
    this.#sink = sink;
    this.#clock = clock;
    this.#listener = listener;
    this.#played = sink.played;
    this.#hold = holdSound && new HoldSound(holdSound, sink.sampleRate);
  }

  /** Audio of a clause that the ledger knows. */
  queue(generation: number, clause: number, samples: Float32Array, words?: readonly WordMark[]): void {
    this.ledger.queue(clause, samples.length, words);
    if (samples.length === 0) return;
    this.#waiting.push({ generation, samples });
    this.#tick();
  }

  /** Plays nothing more until `release`, which goes on at the very sample. */
  hold(): void {
    this.#isHeld = true;
    this.#takeBack();
    this.#audible = undefined;
    this.#stop();
  }

  release(): void {
    this.#isHeld = false;
    this.#tick();
  }

  set gain(gain: 'full' | 'ducked') {
    this.#targetGain = gain === 'full' ? 1 : DUCKED;
  }

  /** Drops everything of this generation that was not played. */
  flush(generation: number): void {
    this.#takeBack();
    this.#waiting = this.#waiting.filter(part => part.generation !== generation);
    this.ledger.flush(generation);
    if (this.#audible === generation) this.#audible = undefined;
    this.#tick();
  }

  startHoldSound(): void {
    this.#hold?.start();
    this.#tick();
  }

  stopHoldSound(): void {
    const tail = this.#hold?.stop();
    if (!tail) return;
    this.#takeBack();
    const speech = this.#waiting.filter(part => part.generation !== undefined);
    this.#waiting = [{ generation: undefined, samples: tail }, ...speech];
    this.#tick();
  }

  /** Samples of speech that wait here or in the sink. */
  get waiting(): number {
    const speech = [...this.#sent, ...this.#waiting].filter(part => part.generation !== undefined);
    return samplesIn(speech);
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#sink.close();
  }

  #tick(): void {
    this.#readPosition();
    if (!this.#isHeld) this.#feed();
    const works = this.#sent.length > 0 || (!this.#isHeld && (this.#waiting.length > 0 || this.#hold?.plays));
    if (!works) return this.#stop();
    this.#cancelTick ??= this.#clock.setTimer(TICK_MS, () => {
      this.#cancelTick = undefined;
      this.#tick();
    });
  }

  #feed(): void {
    const limit = (AHEAD_MS * this.#sink.sampleRate) / 1000;
    for (;;) {
      const room = Math.floor(limit - samplesIn(this.#sent));
      if (room <= 0) return;
      const part = this.#next(room);
      if (!part) return;
      this.#sink.write(this.#shaped(part.samples));
      this.#sent.push(part);
      this.#readPosition();
    }
  }

  /** The next audio to play, at most `room` samples. */
  #next(room: number): Part | undefined {
    const [first] = this.#waiting;
    if (!first) return this.#hold?.plays ? { generation: undefined, samples: this.#hold.next(room) } : undefined;
    if (first.samples.length <= room) return this.#waiting.shift();
    const part = { generation: first.generation, samples: first.samples.subarray(0, room) };
    first.samples = first.samples.subarray(room);
    return part;
  }

  /** With the gain of the moment, which moves to its target without a click. */
  #shaped(samples: Float32Array): Float32Array {
    if (this.#gain === 1 && this.#targetGain === 1) return samples;
    const step = (1 - DUCKED) / ((RAMP_MS * this.#sink.sampleRate) / 1000);
    return samples.map(sample => {
      const away = this.#targetGain - this.#gain;
      this.#gain = Math.abs(away) <= step ? this.#targetGain : this.#gain + Math.sign(away) * step;
      return sample * this.#gain;
    });
  }

  /** What the sink was given and has not played waits again. */
  #takeBack(): void {
    this.#readPosition();
    this.#sink.flush();
    this.#waiting = [...this.#sent, ...this.#waiting];
    this.#sent = [];
  }

  #readPosition(): void {
    const position = this.#sink.played;
    let left = position - this.#played;
    this.#played = position;
    for (let part = this.#sent[0]; part && left > 0; part = this.#sent[0]) {
      const { generation } = part;
      const count = Math.min(left, part.samples.length);
      left -= count;
      if (count === part.samples.length) this.#sent.shift();
      else part.samples = part.samples.subarray(count);
      if (generation === undefined) continue;
      this.ledger.advance(count);
      if (this.#audible !== generation) {
        this.#audible = generation;
        this.#listener.started(generation);
      }
      if (![...this.#sent, ...this.#waiting].some(other => other.generation === generation)) {
        this.#audible = undefined;
        this.#listener.drained(generation);
      }
    }
    if (left > 0) throw new RangeError(`The sink reports ${left} samples played that were never given to it.`);
  }

  #stop(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }
}

function samplesIn(parts: readonly Part[]): number {
  let sum = 0;
  for (const { samples } of parts) sum += samples.length;
  return sum;
}
