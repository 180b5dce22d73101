import type { Clock } from '@antiphon/engine';
import type { AudioSink } from '../interfaces/sink.js';
import type { WordMark } from '../interfaces/tts.js';
import { type HoldPosition, HoldSound } from './hold-sound.js';
import { PlayoutLedger } from './ledger.js';

/** Audio on its way to the loudspeaker; of no generation when it is no speech. */
interface Part {
  readonly generation: number | undefined;
  samples: Float32Array;
}

/** Audio that the sink has and has not played, and what it takes to have it back. */
interface SentPart extends Part {
  /** The gain before its first sample, and the one it moves to. */
  gain: number;
  readonly target: number;
  /** Of a hold sound: where it stood before the part, which way it went, and how much of the part was played since. */
  readonly hold: { readonly from: HoldPosition; readonly rises: boolean; played: number } | undefined;
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
  /** How far the gain moves in one sample. */
  readonly #gainStep: number;
  #waiting: Part[] = [];
  /** Given to the sink and not played yet. */
  #sent: SentPart[] = [];
  /** What the listener is to be told when the work at hand is done: it may call back. */
  #news: (() => void)[] = [];
  #played: number;
  #audible: number | undefined;
  #isHeld = false;
  #wantsHoldSound = false;
  #gain = 1;
  #targetGain = 1;
  #cancelTick: (() => void) | undefined;

  /** `holdSound`: what `startHoldSound` plays, over and over; mono, at the sink's rate. */
  constructor(sink: AudioSink, clock: Clock, listener: PlayerListener, holdSound?: Float32Array) {
    this.#sink = sink;
    this.#clock = clock;
    this.#listener = listener;
    this.#played = sink.played;
    this.#hold = holdSound && holdSound.length > 0 ? new HoldSound(holdSound, sink.sampleRate) : undefined;
    this.#gainStep = (1 - DUCKED) / ((RAMP_MS * sink.sampleRate) / 1000);
  }

  /** Audio of a clause that the ledger knows. */
  queue(generation: number, clause: number, samples: Float32Array, words?: readonly WordMark[]): void {
    this.ledger.queue(clause, samples.length, words);
    if (samples.length === 0) return;
    this.#waiting.push({ generation, samples });
    this.#tick();
  }

  /** Tells what was played since it last looked. */
  update(): void {
    this.#readPosition();
    this.#tell();
  }

  /** Plays nothing more until `release`, which goes on at the very sample. */
  hold(): void {
    this.#isHeld = true;
    this.#takeBack();
    this.#hold?.cut();
    this.#audible = undefined;
    this.#stop();
    this.#tell();
  }

  /** Plays nothing more, ever; the sink stays open. */
  end(): void {
    this.hold();
    this.#waiting = [];
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

  /** Heard whenever there is no speech to play. */
  startHoldSound(): void {
    this.#wantsHoldSound = true;
    this.#tick();
  }

  /** It fades out; speech comes after it. */
  stopHoldSound(): void {
    if (!this.#wantsHoldSound) return;
    this.#wantsHoldSound = false;
    this.#takeBack();
    this.#tick();
  }

  /** Samples of speech that wait here or in the sink. */
  get waiting(): number {
    const speech = [...this.#sent, ...this.#waiting].filter(part => part.generation !== undefined);
    return samplesIn(speech);
  }

  #tick(): void {
    this.#readPosition();
    if (!this.#isHeld) this.#feed();
    const works = this.#sent.length > 0 || (!this.#isHeld && (this.#waiting.length > 0 || this.#playsHoldSound));
    if (!works) this.#stop();
    else
      this.#cancelTick ??= this.#clock.setTimer(TICK_MS, () => {
        this.#cancelTick = undefined;
        this.#tick();
      });
    this.#tell();
  }

  #feed(): void {
    const limit = (AHEAD_MS * this.#sink.sampleRate) / 1000;
    for (;;) {
      const room = Math.floor(limit - samplesIn(this.#sent));
      if (room <= 0) return;
      const part = this.#next(room);
      if (!part) return;
      const samples = this.#shaped(part.samples);
      this.#sent.push(part);
      this.#sink.write(samples);
      this.#readPosition();
      // A hold sound has no end, and some sinks play at once.
      if (part.hold?.rises) return;
    }
  }

  /** The next audio to play, at most `room` samples. */
  #next(room: number): SentPart | undefined {
    const about = { gain: this.#gain, target: this.#targetGain, hold: undefined };
    const [first] = this.#waiting;
    if (this.#hold && this.#playsHoldSound) {
      const hold = { from: this.#hold.position, rises: this.#wantsHoldSound && !first, played: 0 };
      if (hold.rises || !this.#hold.isSilent) return { ...about, generation: undefined, samples: this.#hold.next(room, hold.rises), hold };
    }
    if (!first) return undefined;
    const { generation, samples } = first;
    if (samples.length <= room) this.#waiting.shift();
    else first.samples = samples.subarray(room);
    return { ...about, generation, samples: samples.subarray(0, room) };
  }

  get #playsHoldSound(): boolean {
    return this.#hold !== undefined && (this.#wantsHoldSound || !this.#hold.isSilent);
  }

  /** With the gain of the moment, which moves to its target without a click. */
  #shaped(samples: Float32Array): Float32Array {
    if (this.#gain === 1 && this.#targetGain === 1) return samples;
    return samples.map(sample => {
      this.#gain = moved(this.#gain, this.#targetGain, this.#gainStep);
      return sample * this.#gain;
    });
  }

  /** What the sink was given and has not played waits again, and is as if it had never been given. */
  #takeBack(): void {
    // First the flush: what the sink plays until then is played.
    this.#sink.flush();
    this.#readPosition();
    const hold = this.#sent.find(part => part.hold)?.hold;
    if (this.#hold && hold) {
      this.#hold.position = hold.from;
      this.#hold.next(hold.played, hold.rises);
    }
    this.#gain = this.#sent[0]?.gain ?? this.#gain;
    this.#waiting = [...this.#sent.filter(part => !part.hold), ...this.#waiting];
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
      part.gain = moved(part.gain, part.target, count * this.#gainStep);
      if (part.hold) part.hold.played += count;
      if (generation === undefined) continue;
      this.ledger.advance(count);
      if (this.#audible !== generation) {
        this.#audible = generation;
        this.#news.push(() => this.#listener.started(generation));
      }
      if (![...this.#sent, ...this.#waiting].some(other => other.generation === generation)) {
        this.#audible = undefined;
        this.#news.push(() => this.#listener.drained(generation));
      }
    }
    if (left > 0) throw new RangeError(`The sink reports ${left} samples played that were never given to it.`);
  }

  #tell(): void {
    for (let tell = this.#news.shift(); tell; tell = this.#news.shift()) tell();
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

function moved(from: number, to: number, by: number): number {
  return Math.abs(to - from) <= by ? to : from + Math.sign(to - from) * by;
}
