import type { Json } from '../data/json.js';
import { AntiphonError, describe, StoreError } from '../errors.js';
import type { SessionEntry } from './entries.js';
import { jsonOf, type SessionState } from './state.js';
import type { SessionStore } from './store.js';

/** Entries that are to be written, the state behind them, and who waits for it. */
interface Write {
  readonly entries: readonly SessionEntry[];
  readonly after: SessionState;
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
}

/** A log is summed up when it has grown by this many entries, and by as many as the conversation has messages, so that it stays linear. */
const COMPACT_AFTER = 256;

/**
 * Writes a session's entries in order, one append at a time; what comes while one is under way goes into the next together. When an append
 * fails, everything that waits fails with it, and `onLost` is told the last state that is safe.
 */
export class Journal {
  readonly #store: SessionStore;
  readonly #id: string;
  readonly #onLost: (safe: SessionState, error: StoreError) => void;
  #position: number;
  #sinceSummary: number;
  #safe: SessionState;
  #queue: Write[] = [];
  #flushing = false;

  /** `position` 0 begins a new log with `safe`; `entries` is how many a log that was loaded held. */
  constructor(
    store: SessionStore,
    id: string,
    at: { readonly position: number; readonly entries: number; readonly safe: SessionState },
    onLost: (safe: SessionState, error: StoreError) => void,
  ) {
    this.#store = store;
    this.#id = id;
    this.#position = at.position;
    this.#sinceSummary = at.entries;
    this.#safe = at.safe;
    this.#onLost = onLost;
  }

  /** Resolves when the entries are safe; rejects with `StoreError`. */
  write(entries: readonly SessionEntry[], after: SessionState): Promise<void> {
    const written = new Promise<void>((resolve, reject) => this.#queue.push({ entries, after, resolve, reject }));
    if (!this.#flushing) void this.#flush();
    return written;
  }

  async #flush(): Promise<void> {
    this.#flushing = true;
    while (this.#queue.length > 0) {
      const writes = this.#queue;
      this.#queue = [];
      try {
        await this.#append(writes.flatMap(({ entries }) => entries));
      } catch (error) {
        const lost = asStoreError(error, this.#id);
        const failed = [...writes, ...this.#queue];
        this.#queue = [];
        this.#onLost(this.#safe, lost);
        for (const { reject } of failed) reject(lost);
        continue;
      }
      this.#safe = writes.at(-1)?.after ?? this.#safe;
      for (const { resolve } of writes) resolve();
      if (this.#queue.length === 0) await this.#compact();
    }
    this.#flushing = false;
  }

  async #append(entries: readonly SessionEntry[]): Promise<void> {
    const first: SessionEntry[] = this.#position === 0 ? [{ type: 'snapshot', session: jsonOf(this.#id, this.#safe) }] : [];
    const all = [...first, ...entries];
    await this.#store.append(this.#id, all as unknown as Json[], this.#position);
    this.#position += all.length;
    this.#sinceSummary += all.length;
  }

  async #compact(): Promise<void> {
    const { turn, history } = this.#safe;
    if (!this.#store.compact || turn || this.#sinceSummary < Math.max(COMPACT_AFTER, history.length)) return;
    const summary: SessionEntry = { type: 'snapshot', session: jsonOf(this.#id, this.#safe) };
    this.#sinceSummary = 0;
    try {
      await this.#store.compact(this.#id, summary as unknown as Json, this.#position);
    } catch {
      // The log is whole without it; the next append tells whatever is wrong.
    }
  }
}

function asStoreError(error: unknown, id: string): StoreError {
  if (AntiphonError.isInstance(error) && error.name === 'StoreError') return error as StoreError;
  return new StoreError('io', `The store could not write session ${JSON.stringify(id)}: ${describe(error)}`, { cause: error });
}
