// A socket gives many events at once, and every hand that passes them on one by one makes the reader wait for a promise more. So the hands between
// the wire and the reader pass on what is there together, a burst; only the reader gets one at a time.

/** What can be had without waiting. */
export type Burst<T> = Iterable<T>;

export type Bursts<T> = AsyncIterator<Burst<T>, void> & AsyncIterable<Burst<T>>;

const BURSTS = Symbol.for('antiphon.bursts');

/**
 * A stream made of bursts. Who iterates it gets one item at a time, and none once `signal` has aborted: then it throws the signal's reason. The
 * engine takes the bursts as they are, at a fraction of the cost; so an adapter that reads several events at once should give them so:
 *
 * ```ts
 * stream: (request, context) => inBursts(readAnswer(request, context), context.signal), // an async generator of lists of events
 * ```
 */
export function inBursts<T>(bursts: AsyncGenerator<Burst<T>, void>, signal?: AbortSignal): AsyncIterable<T> {
  return new OneByOne(bursts, { signal });
}

/** The bursts of a stream. One that is not made of them has bursts of one item. */
export function burstsOf<T>(source: AsyncIterable<T>): Bursts<T> {
  const own = (source as { readonly [BURSTS]?: Bursts<T> })[BURSTS];
  if (own) return own;
  const items = source[Symbol.asyncIterator]();
  const single = ({ done, value }: IteratorResult<T>): IteratorResult<Burst<T>, void> =>
    done ? { done, value: undefined } : { done: false, value: [value] };
  return {
    next: async () => single(await items.next()),
    return: async () => {
      await items.return?.();
      return END;
    },
    throw: async error => {
      if (items.throw) return single(await items.throw(error));
      await items.return?.();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Who is told what leaves a `OneByOne`. */
export interface Watcher<T> {
  item(item: T): unknown;
  failure(error: unknown): unknown;
}

/** The items of bursts, one at a time. The next burst is asked for when all items of the last one were. */
export class OneByOne<T> implements AsyncIterableIterator<T, void> {
  readonly [BURSTS]: Bursts<T>;
  readonly #signal: AbortSignal | undefined;
  readonly #watcher: Watcher<T> | undefined;
  #burst: Iterator<T> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #pulling: Promise<IteratorResult<T, void>> | undefined;

  constructor(
    bursts: Bursts<T>,
    { signal, watcher }: { readonly signal?: AbortSignal | undefined; readonly watcher?: Watcher<T> | undefined } = {},
  ) {
    this[BURSTS] = bursts;
    this.#signal = signal;
    this.#watcher = watcher;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    if (this.#pulling) {
      // Asked again before the last answer: in turn.
      const again = () => this.next();
      return this.#pulling.then(again, again);
    }
    const item = this.#take();
    if (item) return Promise.resolve(item);
    this.#pulling = this.#pull();
    return this.#pulling;
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.#burst = undefined;
    await this[BURSTS].return?.();
    return END;
  }

  async #pull(): Promise<IteratorResult<T, void>> {
    try {
      for (;;) {
        const { done, value } = await this.#ask();
        if (done) return END;
        this.#burst = value[Symbol.iterator]();
        const item = this.#take();
        if (item) return item;
      }
    } catch (error) {
      this.#watcher?.failure(error);
      throw error;
    } finally {
      this.#pulling = undefined;
    }
  }

  #ask(): Promise<IteratorResult<Burst<T>, void>> {
    const failure = this.#failure;
    if (!failure) return this[BURSTS].next();
    this.#failure = undefined;
    // Whoever made the burst may know what to do about it.
    return this[BURSTS].throw?.(failure.error) ?? Promise.reject(failure.error);
  }

  #take(): IteratorYieldResult<T> | undefined {
    if (!this.#burst) return undefined;
    try {
      this.#signal?.throwIfAborted();
      const item = this.#burst.next();
      if (!item.done) {
        this.#watcher?.item(item.value);
        return item;
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#burst = undefined;
    return undefined;
  }
}

const END: IteratorResult<never, void> = { done: true, value: undefined };
