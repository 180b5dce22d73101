import type { Deadline } from '../adapters/chat.js';
import { follow } from '../async/signals.js';
import type { Clock } from '../clock.js';
import { AdapterError } from '../errors.js';

/** How long the parts of a run may take, in milliseconds above 0. What is left out has no limit, apart from `toolMs`. */
export interface Timeouts {
  /** From a request to the first sign of its answer. Tried again under the retry policy. */
  readonly firstByteMs?: number;
  /** Between two events of an answer; counts only while the engine waits for the model, not while the reader is slow. */
  readonly idleMs?: number;
  /** One model call from its first request to its end, all tries and the waits between them included. Final. */
  readonly stepMs?: number;
  /** One tool call, for tools without a `timeoutMs` of their own; default 30 000. */
  readonly toolMs?: number;
}

const OURS = new WeakSet<object>();

/** True for the error of a first-byte, idle or step deadline; false for anything that a caller aborts with. */
export function isDeadlineError(reason: unknown): boolean {
  return typeof reason === 'object' && reason !== null && OURS.has(reason);
}

/**
 * The deadlines of one model call. One that expires aborts the try's own signal with an AdapterError `timeout`, so that the adapter closes
 * its socket. `close` and the end of each try leave no timer and no listener.
 */
export class CallDeadlines {
  readonly #timeouts: Timeouts;
  readonly #clock: Clock;
  readonly #provider: string;
  readonly #stop = new AbortController();
  readonly #release: () => void;
  #cancelStep = () => {};

  constructor(timeouts: Timeouts, signal: AbortSignal, clock: Clock, provider: string) {
    this.#timeouts = timeouts;
    this.#clock = clock;
    this.#provider = provider;
    this.#release = follow(this.#stop, signal);
    const { stepMs } = timeouts;
    if (stepMs === undefined || signal.aborted) return;
    this.#cancelStep = clock.setTimer(stepMs, () =>
      this.#stop.abort(this.#error(`the model call was not done after ${stepMs} ms. Raise timeouts.stepMs, or ask for a shorter answer.`)),
    );
  }

  /** Aborts with the caller's signal, or when the step's time is up. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The events of one try under a signal of its own. When its time is up it throws that error, whatever the source says about it. */
  async *watch<T>(open: (signal: AbortSignal, deadline: Deadline) => AsyncIterable<T>): AsyncGenerator<T> {
    const own = new AbortController();
    const release = follow(own, this.signal);
    let begun = false;
    let cancel = () => {};
    const pause = () => cancel();
    const restart = () => {
      cancel();
      const ms = begun ? this.#timeouts.idleMs : this.#timeouts.firstByteMs;
      cancel = ms === undefined ? () => {} : this.#clock.setTimer(ms, () => own.abort(this.#expired(begun, ms)));
    };
    const source = open(own.signal, { pause, restart })[Symbol.asyncIterator]();
    let over = false;
    try {
      for (;;) {
        restart();
        const { done, value } = await source.next();
        cancel();
        over = done === true;
        if (over) return;
        begun = true;
        yield value;
      }
    } catch (thrown) {
      over = true;
      throw own.signal.aborted ? own.signal.reason : thrown;
    } finally {
      cancel();
      release();
      if (!over) await source.return?.();
    }
  }

  close(): void {
    this.#cancelStep();
    this.#release();
  }

  #expired(begun: boolean, ms: number): AdapterError {
    return this.#error(
      begun
        ? `the answer stood still for ${ms} ms. The connection may be dead; if the model only thinks that long, raise timeouts.idleMs.`
        : `no answer began within ${ms} ms. The model may be loading or busy: raise timeouts.firstByteMs, or add a second one with fallback().`,
    );
  }

  #error(what: string): AdapterError {
    const error = new AdapterError('timeout', `${this.#provider}: ${what}`, { retryable: true, provider: this.#provider });
    OURS.add(error);
    return error;
  }
}
