import type { Message } from '../data/messages.js';
import { validateMessages } from '../data/validate.js';
import { describe, StoreError, ValidationError } from '../errors.js';
import { applyEntry, type SessionEntry } from './entries.js';
import { Session } from './session.js';
import type { SessionOptions } from './session-options.js';
import { breakOff, jsonOf, type SessionState, stateOf } from './state.js';
import type { SessionStore, StoredSession } from './store.js';

/**
 * Starts a conversation. With a store it is written there with its first change; an id that is stored already is refused then (`conflict`).
 * Throws `TypeError` without an engine, `ValidationError` (`invalid_message`) for a beginning that holds no messages.
 *
 * ```ts
 * const session = createSession({ engine, store: fileStore('./sessions'), id: 'ada', messages: [system('Answer briefly.')] });
 * ```
 */
export function createSession(options: SessionOptions): Session {
  checkOptions(options);
  const { id = crypto.randomUUID(), messages = [] } = options;
  const issues = validateMessages(messages);
  if (issues.length > 0) throw new ValidationError('invalid_message', 'A session cannot begin with these messages.', issues);
  return new Session(options, { id, state: freshState(id, messages), position: 0, entries: 0 });
}

/**
 * Brings a session back from `toJSON()`. With a store it is written there with its first change, as a new one. Throws `ValidationError`
 * (`invalid_session`) for data that is none.
 *
 * ```ts
 * const session = restoreSession(JSON.parse(stored), { engine });
 * ```
 */
export function restoreSession(json: unknown, options: Omit<SessionOptions, 'id' | 'messages'>): Session {
  checkOptions(options);
  return new Session(options, { ...stateOf(json), position: 0, entries: 0 });
}

/**
 * Brings a session back from a store, as its last change left it; a turn that was cut off by a crash is `interrupted`, and `resume()` goes on
 * with it. Rejects with `StoreError`: `not_found`, or what the store says.
 *
 * ```ts
 * const session = await openSession({ id: 'ada', engine, store });
 * if (session.status === 'interrupted') await session.resume();
 * ```
 */
export async function openSession(
  options: Omit<SessionOptions, 'messages'> & { readonly id: string; readonly store: SessionStore },
): Promise<Session> {
  checkOptions(options);
  const { id, store } = options;
  if (id === undefined || store === undefined)
    throw new TypeError('openSession needs an id and a store: openSession({ id, engine, store }).');
  const stored = await store.load(id);
  if (!stored) {
    const message = `There is no session ${JSON.stringify(id)} in the store: begin it with createSession({ id, engine, store }).`;
    throw new StoreError('not_found', message);
  }
  return new Session(options, { id, state: replay(id, stored), position: stored.position, entries: stored.entries.length });
}

/** The state that a log tells. Linear in its length. */
function replay(id: string, { entries }: StoredSession): SessionState {
  let state = freshState(id, []);
  for (const [i, entry] of (entries as readonly unknown[] as readonly SessionEntry[]).entries()) {
    try {
      state = applyEntry(state, entry) ?? unknownEntry(entry);
    } catch (cause) {
      throw corrupt(id, `entry ${i + 1} of ${entries.length} (${String(entry?.type)}) cannot be read: ${describe(cause)}`, cause);
    }
  }
  try {
    // Whatever the entries held, what they add up to must be a session.
    stateOf(jsonOf(id, breakOff(state)));
    return state;
  } catch (cause) {
    throw corrupt(id, describe(cause), cause);
  }
}

function unknownEntry(entry: { readonly type?: unknown }): never {
  throw new TypeError(`there is no entry of type ${JSON.stringify(entry.type)} here; update @antiphon/engine`);
}

function corrupt(id: string, why: string, cause: unknown): StoreError {
  return new StoreError('corrupt', `Session ${JSON.stringify(id)} cannot be read from the store: ${why}`, { cause });
}

function freshState(id: string, messages: readonly Message[]): SessionState {
  return stateOf({ version: 2, id, revision: 0, status: 'idle', messages, pending: {}, batch: 0 }).state;
}

function checkOptions({ engine, id, store }: Partial<SessionOptions> = {}): void {
  if (typeof engine?.stream !== 'function') throw new TypeError('A session needs an engine: createSession({ engine }).');
  if (id !== undefined && (typeof id !== 'string' || id === '')) throw new TypeError('The id of a session must be a text.');
  if (store !== undefined && (typeof store?.load !== 'function' || typeof store.append !== 'function'))
    throw new TypeError('store must be a SessionStore such as memoryStore() or fileStore(folder).');
}
