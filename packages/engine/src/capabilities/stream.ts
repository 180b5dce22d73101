// What the caller holds of a stream of speech or transcription. How one runs is told in `run-stream.ts`.
import type { CapabilityOptions } from './call.js';

/** Options of a streamed call. */
export interface StreamOptions extends CapabilityOptions {
  /** Milliseconds of silence of the provider before the call is given up; waiting for the caller's own input does not count. Default 60 000. */
  readonly idleTimeoutMs?: number;
}

/** The last event of every stream. */
export interface CapabilityEnd<Outcome> {
  readonly type: 'end';
  readonly outcome: Outcome;
}

/**
 * A streamed call that can be watched once. Nothing is sent before somebody reads: iterating drives it, one event per pull, and awaiting
 * `outcome` without iterating drives it too. Leaving the loop early stops the request; the outcome is `interrupted` then. `outcome` does
 * not reject for failures of the world. The last event is `end`.
 *
 * ```ts
 * for await (const event of engine.streamSpeech('Hello!')) if (event.type === 'audio_delta') play(event.bytes);
 * ```
 */
export class CapabilityStream<Event extends { readonly type: string }, Outcome> implements AsyncIterable<Event | CapabilityEnd<Outcome>> {
  readonly #run: AsyncGenerator<Event, Outcome>;
  readonly #stop: () => void;
  readonly #result: { promise: Promise<Outcome>; resolve(outcome: Outcome): void; reject(thrown: unknown): void };
  #reader: 'none' | 'loop' | 'drain' = 'none';
  #over = false;

  /** `run` returns the outcome; `stop` makes it return soon. */
  constructor(run: AsyncGenerator<Event, Outcome>, stop: () => void) {
    this.#run = run;
    this.#stop = stop;
    let [resolve, reject]: [(outcome: Outcome) => void, (thrown: unknown) => void] = [() => {}, () => {}];
    const promise = new Promise<Outcome>((onOutcome, onBug) => {
      [resolve, reject] = [onOutcome, onBug];
    });
    promise.catch(() => {});
    this.#result = { promise, resolve, reject };
  }

  get outcome(): Promise<Outcome> {
    // A loop that begins in the same turn goes first.
    queueMicrotask(() => {
      if (this.#reader !== 'none') return;
      this.#reader = 'drain';
      void this.#toTheEnd();
    });
    return this.#result.promise;
  }

  [Symbol.asyncIterator](): AsyncIterator<Event | CapabilityEnd<Outcome>, undefined> {
    if (this.#reader !== 'none')
      throw new TypeError('This stream was read already: iterate it once, or keep its events to read them again.');
    this.#reader = 'loop';
    return {
      next: () => this.#next(),
      return: async () => {
        this.#stop();
        await this.#toTheEnd();
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<Event | CapabilityEnd<Outcome>, undefined>> {
    if (this.#over) return { done: true, value: undefined };
    try {
      const { done, value } = await this.#run.next();
      if (done !== true) return { done: false, value };
      // Two pulls at once: the second finds the generator used up.
      if (this.#over) return { done: true, value: undefined };
      this.#over = true;
      this.#result.resolve(value);
      return { done: false, value: { type: 'end', outcome: value } };
    } catch (thrown) {
      this.#over = true;
      this.#result.reject(thrown);
      throw thrown;
    }
  }

  async #toTheEnd(): Promise<void> {
    try {
      while (!(await this.#next()).done);
    } catch {
      // Whoever awaits the outcome gets it.
    }
  }
}

/** A stream whose run is loaded when somebody reads it. `open` is called once then; `stop` aborts when the reader leaves. */
export function lazyStream<Event extends { readonly type: string }, Outcome>(
  open: (stop: AbortController) => Promise<AsyncGenerator<Event, Outcome>>,
): CapabilityStream<Event, Outcome> {
  const stop = new AbortController();
  async function* run() {
    return yield* await open(stop);
  }
  return new CapabilityStream(run(), () => stop.abort());
}
