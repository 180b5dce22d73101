/** A queue between one writer and one reader: what is pushed can be iterated, until it is closed. */
export class Channel<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #closed = false;
  #wake = () => {};

  push(item: T): void {
    if (this.#closed) return;
    this.#items.push(item);
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  get length(): number {
    return this.#items.length;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }
}
