import type { Clock } from '@antiphon/engine';
import type { AudioSink } from '../interfaces/sink.js';
import type { WordMark } from '../interfaces/tts.js';
import { PlayoutLedger } from './ledger.js';

interface Block {
  readonly generation: number;
  readonly samples: Float32Array;
  offset: number;
}

/** How far the sink is kept ahead of what it plays, and how often its position is read; milliseconds. */
const AHEAD_MS = 80;
const TICK_MS = 20;

/** What the player tells: the first sample of a generation was played; everything it had was played. */
export interface PlayerListener {
  started(generation: number): void;
  drained(generation: number): void;
}

/**
 * Feeds the sink from the queue of audio that waits, a little at a time, and keeps the ledger. What was not played yet stays here, so a flush
 * is cheap. Runs only while there is something to play.
 */
export class Player {
  readonly ledger = new PlayoutLedger();
  readonly #sink: AudioSink;
  readonly #clock: Clock;
  readonly #listener: PlayerListener;
  #blocks: Block[] = [];
  #written = 0;
  #played = 0;
  #cancelTick: (() => void) | undefined;
  #audible: number | undefined;
  #origin: { readonly generation: number; end: number }[] = [];

  constructor(sink: AudioSink, clock: Clock, listener: PlayerListener) {
    this.#sink = sink;
    this.#clock = clock;
    this.#listener = listener;
    this.#written = sink.played;
    this.#played = sink.played;
  }

  /** Audio of a clause that the ledger knows. */
  queue(generation: number, clause: number, samples: Float32Array, words?: readonly WordMark[]): void {
    this.ledger.queue(clause, samples.length, words);
    if (samples.length === 0) return;
    this.#blocks.push({ generation, samples, offset: 0 });
    this.#tick();
  }

  /** Drops everything of this generation that was not played. */
  flush(generation: number): void {
    this.#readPosition();
    this.#blocks = this.#blocks.filter(block => block.generation !== generation);
    const dropped = this.#sink.flush();
    this.#written -= dropped;
    this.#origin = this.#origin.filter(span => span.generation !== generation);
    this.ledger.flush(generation);
    if (this.#audible === generation) this.#audible = undefined;
    if (this.#blocks.length === 0) this.#stop();
  }

  /** Samples that wait here or in the sink. */
  get waiting(): number {
    return this.#blocks.reduce((sum, block) => sum + block.samples.length - block.offset, 0) + this.#written - this.#played;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#sink.close();
  }

  #tick(): void {
    this.#readPosition();
    const limit = (AHEAD_MS * this.#sink.sampleRate) / 1000;
    while (this.#blocks.length > 0) {
      const room = Math.floor(limit - (this.#written - this.#played));
      if (room <= 0) break;
      this.#writeSome(room);
      this.#readPosition();
    }
    if (this.#blocks.length === 0 && this.#written === this.#played) return this.#stop();
    this.#cancelTick ??= this.#clock.setTimer(TICK_MS, () => {
      this.#cancelTick = undefined;
      this.#tick();
    });
  }

  #writeSome(room: number): void {
    const block = this.#blocks[0];
    if (!block) return;
    const part = block.samples.subarray(block.offset, block.offset + room);
    block.offset += part.length;
    if (block.offset === block.samples.length) this.#blocks.shift();
    this.#sink.write(part);
    this.#written += part.length;
    const last = this.#origin.at(-1);
    if (last?.generation === block.generation) last.end = this.#written;
    else this.#origin.push({ generation: block.generation, end: this.#written });
  }

  #readPosition(): void {
    const position = this.#sink.played;
    if (position === this.#played) return;
    this.ledger.advance(position - this.#played);
    this.#played = position;
    for (let span = this.#origin[0]; span; span = this.#origin[0]) {
      if (this.#audible !== span.generation) {
        this.#audible = span.generation;
        this.#listener.started(span.generation);
      }
      if (span.end > position) break;
      this.#origin.shift();
      if (!this.#blocks.some(block => block.generation === span.generation)) this.#drained(span.generation);
    }
  }

  #drained(generation: number): void {
    this.#audible = undefined;
    this.#listener.drained(generation);
  }

  #stop(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }
}
