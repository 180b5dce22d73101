import { type AdapterEvent, BlockWriter } from '@antiphon/engine';
import type { Lease } from './runtime.js';

/**
 * Pieces that are written ahead of the reader while nobody else waits for the model. Whoever does must not wait for a reader who stopped: then
 * the answer is written to its end, of which the size of the context is the bound.
 */
const MAX_AHEAD = 512;

/** What a generation is given of its `Work`. */
export interface Desk {
  readonly blocks: BlockWriter;
  /** Something was written to `blocks`, or the work goes on without a word. */
  readonly progress: (written: boolean) => void;
  /** Resolves when a further piece may be written: at once, or when the reader has caught up. Rejects when the work is called off. */
  readonly room: () => Promise<void>;
}

/** A generation under way, between the native code that writes and the reader that takes. It gives its sequence back by itself, however it ends. */
export class Work {
  readonly #blocks = new BlockWriter();
  readonly #lease: Lease;
  readonly #signal: AbortSignal;
  readonly #news = new Bell();
  readonly #room = new Bell();
  #ahead = 0;
  over = false;
  failure: { readonly thrown: unknown } | undefined;

  constructor(lease: Lease, signal: AbortSignal) {
    this.#lease = lease;
    this.#signal = signal;
  }

  /** `onSilence`: the work goes on without a word. */
  run(generate: (desk: Desk) => Promise<void>, onSilence: () => void): void {
    const progress = (written: boolean) => {
      if (!written) return onSilence();
      this.#ahead++;
      this.#news.ring();
    };
    const lease = this.#lease;
    lease.onWanted = () => this.#room.ring();
    const room = async () => {
      while (this.#ahead >= MAX_AHEAD && !lease.isWanted()) await orAborted(this.#room.rung(), this.#signal);
    };
    void generate({ blocks: this.#blocks, progress, room })
      .catch(thrown => {
        this.failure = { thrown };
      })
      .finally(() => {
        this.over = true;
        this.#lease.release();
        this.#news.ring();
      });
  }

  /** The events since the last call. */
  take(): AdapterEvent[] {
    this.#ahead = 0;
    this.#room.ring();
    return this.#blocks.take();
  }

  /** Resolves when there may be something to take. */
  news(): Promise<void> {
    return orAborted(this.#news.rung(), this.#signal);
  }
}

/** One waits until the other rings; a ring that nobody waited for is heard by the next. */
class Bell {
  #heard = () => {};
  #isRung = false;

  ring(): void {
    this.#isRung = true;
    this.#heard();
  }

  async rung(): Promise<void> {
    if (!this.#isRung)
      await new Promise<void>(resolve => {
        this.#heard = resolve;
      });
    this.#isRung = false;
  }
}

/** The work's result, or the signal's reason if that comes first. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
