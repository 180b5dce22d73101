import type { Json } from '../data/json.js';
import { conflict } from './conflict.js';
import type { SessionStore } from './store.js';

/**
 * A store that lives as long as the process, for tests and for servers that may forget.
 *
 * ```ts
 * const store = memoryStore();
 * const session = createSession({ engine, store, id: 'ada' });
 * await session.send('My name is Ada.');
 * const again = await openSession({ id: 'ada', engine, store });
 * ```
 */
export function memoryStore(): SessionStore {
  // As text, so that nobody can change what is stored.
  const logs = new Map<string, { entries: string[]; position: number }>();
  const at = (id: string, expected: number) => {
    const log = logs.get(id) ?? { entries: [], position: 0 };
    if (log.position !== expected) throw conflict(id, expected, log.position);
    return log;
  };
  return {
    async load(id) {
      const log = logs.get(id);
      return log && { entries: log.entries.map(entry => JSON.parse(entry) as Json), position: log.position };
    },
    async append(id, entries, expectedPosition) {
      const lines = entries.map(entry => JSON.stringify(entry));
      const log = at(id, expectedPosition);
      for (const line of lines) log.entries.push(line);
      log.position += lines.length;
      if (log.position > 0) logs.set(id, log);
    },
    async compact(id, summary, expectedPosition) {
      at(id, expectedPosition).entries = [JSON.stringify(summary)];
    },
    async list() {
      return [...logs.keys()];
    },
    async delete(id) {
      logs.delete(id);
    },
  };
}
