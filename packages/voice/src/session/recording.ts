/** The audio of one utterance while it is spoken. Whoever iterates gets all of it from the beginning, in blocks of their own, until it is closed. */
export class Recording implements AsyncIterable<Float32Array> {
  readonly #blocks: Float32Array[] = [];
  #closed = false;
  #waiting: (() => void)[] = [];

  push(samples: Float32Array): void {
    this.#blocks.push(samples);
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Resolves when it is closed. */
  async end(): Promise<void> {
    while (!this.#closed) await this.#news();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Float32Array, void> {
    for (let at = 0; ; ) {
      // A copy, since an engine may hand its audio to a worker and so lose it.
      for (let block = this.#blocks[at]; block; block = this.#blocks[at]) {
        at++;
        yield block.slice();
      }
      if (this.#closed) return;
      await this.#news();
    }
  }

  #news(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}
