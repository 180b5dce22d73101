import type { StreamEvent } from './events.js';

/** One stream for several readers. */
export interface Broadcast<E = StreamEvent> {
  /** A reader that gets every event from now on. Leaving its loop unsubscribes it. */
  subscribe(): AsyncIterable<E>;
  /** Stops the stream for everybody. */
  stop(): Promise<void>;
}

/**
 * Lets several readers share one stream. The stream is pulled as the fastest reader asks, but never further ahead of the slowest than
 * `buffer` events (default 1 000): a reader that stops reading holds the others up instead of filling the memory; one that leaves does not.
 * The last reader to leave stops the stream. Readers that join late miss what was before; see `resumable` for replay.
 *
 * ```ts
 * const shared = broadcast(engine.stream('Tell me a story.'));
 * await Promise.all([show(shared.subscribe()), log(shared.subscribe())]);
 * ```
 */
export function broadcast<E>(source: AsyncIterable<E>, options: { readonly buffer?: number } = {}): Broadcast<E> {
  const limit = options.buffer ?? 1000;
  if (!(Number.isInteger(limit) && limit > 0)) throw new RangeError(`buffer must be a whole number of events above 0, not ${limit}.`);
  const readers = new Set<Reader<E>>();
  let iterator: AsyncIterator<E> | undefined;
  let ended = false;
  let failure: { readonly error: unknown } | undefined;
  let pulling = false;

  const pull = async () => {
    if (pulling || ended) return;
    pulling = true;
    try {
      iterator ??= source[Symbol.asyncIterator]();
      while (!ended && [...readers].some(reader => reader.hungry) && [...readers].every(reader => reader.queue.length < limit)) {
        const { done, value } = await iterator.next();
        if (done) ended = true;
        else for (const reader of readers) reader.queue.push(value);
        for (const reader of readers) reader.wake();
      }
    } catch (error) {
      ended = true;
      failure = { error };
      for (const reader of readers) reader.wake();
    } finally {
      pulling = false;
    }
  };

  const stop = async () => {
    ended = true;
    for (const reader of readers) reader.wake();
    await iterator?.return?.();
  };

  return {
    subscribe: () => ({
      [Symbol.asyncIterator](): AsyncIterator<E, void> {
        const reader = new Reader<E>();
        readers.add(reader);
        return {
          async next() {
            while (reader.queue.length === 0) {
              if (failure) throw failure.error;
              if (ended) return { done: true, value: undefined };
              const woken = reader.wait();
              void pull();
              await woken;
            }
            const value = reader.queue.shift() as E;
            // Room again: a faster reader may be waiting for it.
            void pull();
            return { done: false, value };
          },
          async return() {
            readers.delete(reader);
            if (readers.size === 0 && !ended) await stop();
            else void pull();
            return { done: true, value: undefined };
          },
        };
      },
    }),
    stop,
  };
}

class Reader<E> {
  readonly queue: E[] = [];
  /** It waits for an event and has none. */
  hungry = false;
  wake = () => {};

  wait(): Promise<void> {
    this.hungry = true;
    return new Promise(resolve => {
      this.wake = () => {
        this.hungry = false;
        resolve();
      };
    });
  }
}
