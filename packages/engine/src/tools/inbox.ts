/** Many writers, one reader, no bound: it holds at most what the calls of one message say. */
export class Inbox<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #closed = false;
  #error: unknown;
  #wake = () => {};

  push(item: T): void {
    this.#items.push(item);
    this.#wake();
  }

  close(error?: unknown): void {
    this.#closed = true;
    this.#error = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#closed) {
        if (this.#error !== undefined) throw this.#error;
        return;
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }
}
