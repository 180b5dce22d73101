import type { Message } from '../data/messages.js';

/**
 * The messages of a conversation as a value that never changes. `add` shares what stands there already, so that a log of any length is read
 * in linear time; only adding behind a cut copies.
 */
export class History {
  /** May hold more than `length`: what later values have added. */
  readonly #items: Message[];
  readonly length: number;
  #shown: readonly Message[] | undefined;

  private constructor(items: Message[], length: number) {
    this.#items = items;
    this.length = length;
  }

  static of(messages: readonly Message[]): History {
    return new History([...messages], messages.length);
  }

  /** A list of their own for readers; the same one every time. */
  get messages(): readonly Message[] {
    this.#shown ??= this.#items.slice(0, this.length);
    return this.#shown;
  }

  /** The message at a place, without a list of them all. */
  at(place: number): Message | undefined {
    return place < this.length ? this.#items[place] : undefined;
  }

  add(messages: readonly Message[]): History {
    if (messages.length === 0) return this;
    const items = this.#items.length === this.length ? this.#items : this.#items.slice(0, this.length);
    for (const message of messages) items.push(message);
    return new History(items, items.length);
  }

  /** Only the first `length` messages. */
  keep(length: number): History {
    return length >= this.length ? this : new History(this.#items, length);
  }
}

/** How many messages two lists have in common at their beginning. Messages that are not the same object are compared as JSON. */
export function commonLength(a: readonly Message[], b: readonly Message[]): number {
  let at = 0;
  while (at < a.length && at < b.length && (a[at] === b[at] || JSON.stringify(a[at]) === JSON.stringify(b[at]))) at++;
  return at;
}
