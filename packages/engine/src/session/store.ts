import type { Json } from '../data/json.js';

/** What a store holds of a session. */
export interface StoredSession {
  /** In the order in which they were appended; after `compact` the first one is what it was given. */
  readonly entries: readonly Json[];
  /** How many entries were ever appended; `compact` does not change it. */
  readonly position: number;
}

/**
 * Where sessions are kept: one log of entries for each. A store knows nothing of what the entries mean. Two writers are told apart by the
 * position that they expect: who comes second is refused and must load again. `storeConformance` (`@antiphon/engine/testing`) checks a store.
 *
 * All methods reject with `StoreError`: `conflict` when the log is not at the position that was expected, `corrupt` for what cannot be read,
 * `locked` when another process does not let go, `io` when reading or writing fails.
 */
export interface SessionStore {
  /** `undefined` for a session that is not here. */
  load(id: string): Promise<StoredSession | undefined>;
  /**
   * Adds entries behind `expectedPosition`; 0 begins a new log. All of them or none; they are safe (also against a power cut, if the store
   * promises so much) when this resolves.
   */
  append(id: string, entries: readonly Json[], expectedPosition: number): Promise<void>;
  /** Puts one entry in the place of all others, which it sums up. A store without it keeps everything. */
  compact?(id: string, summary: Json, expectedPosition: number): Promise<void>;
  /** The ids of all sessions, in no particular order. */
  list(): Promise<readonly string[]>;
  /** Forgets a session; one that is not here is no error. */
  delete(id: string): Promise<void>;
}
