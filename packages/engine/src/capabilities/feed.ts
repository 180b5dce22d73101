// Input that goes to a provider while it is written, and the deadline for the provider's silence beside it.

import { abortable } from '../async/abortable.js';
import type { Clock } from '../clock.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';
import type { Call } from './run-call.js';

/** Tells a provider that is silent from a caller whose input is. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onSilence: () => void;
  #cancel: (() => void) | undefined;
  #inputWaits = 0;

  constructor(clock: Clock, idleMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#onSilence = onSilence;
  }

  /** The provider is waited for, from now. */
  start(): void {
    this.stop();
    this.#cancel = this.#clock.setTimer(this.#idleMs, () => {
      this.#cancel = undefined;
      if (this.#inputWaits > 0) this.start();
      else this.#onSilence();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Passes input through; while it is awaited, the provider's silence is no fault of its own. */
  async *input<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        this.#inputWaits++;
        const { done, value } = await iterator.next().finally(() => {
          this.#inputWaits--;
          if (this.#cancel) this.start();
        });
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
}

/** The caller's text or sound on its way to the adapter: checked piece by piece, ended by the signal, closed with the call. */
export class Feed<T> {
  readonly #taken = new AbortController();
  readonly #items: AsyncGenerator<T>;
  #over = true;
  /** What the caller's own source threw. */
  failure: AntiphonError | undefined;

  constructor(
    source: AsyncIterable<unknown> | Iterable<unknown>,
    read: (item: unknown) => Iterable<T>,
    end: () => Iterable<T>,
    call: Call,
  ) {
    this.#items = this.#read(source, read, end, call);
  }

  /** Aborts once something was taken: from then on the call cannot be tried again. */
  get taken(): AbortSignal {
    return this.#taken.signal;
  }

  /** For the adapter; once only. */
  get items(): AsyncIterable<T> {
    return this.#items;
  }

  /** Closes what was not read to its end, even a source that is being waited for. */
  close(call: Call): void {
    if (!this.#over) call.stop.abort();
    void this.#items.return(undefined).catch(() => {});
  }

  async *#read(
    source: AsyncIterable<unknown> | Iterable<unknown>,
    read: (item: unknown) => Iterable<T>,
    end: () => Iterable<T>,
    { context: { signal, clock } }: Call,
  ): AsyncGenerator<T> {
    this.#taken.abort();
    this.#over = false;
    try {
      for await (const item of abortable(asAsync(source), signal, clock)) yield* read(item);
      yield* end();
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      this.failure = AntiphonError.isInstance(thrown)
        ? thrown
        : new AdapterError('invalid_request', `The input stream failed: ${describe(thrown)}`, { cause: thrown });
      throw this.failure;
    } finally {
      this.#over = true;
    }
  }
}

async function* asAsync(source: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<unknown> {
  yield* source;
}
