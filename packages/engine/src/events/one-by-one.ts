/** What can be had without waiting. */
export type Burst<T> = Iterable<T>;

export type Bursts<T> = AsyncIterator<Burst<T>, void> & AsyncIterable<Burst<T>>;

/** Where a stream keeps the bursts that it is made of; the same in every copy of this package. */
export const BURSTS = Symbol.for('antiphon.bursts');
export const END: IteratorResult<never, void> = { done: true, value: undefined };

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
