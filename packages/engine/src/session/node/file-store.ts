/// <reference types="node" />
import type { FileHandle } from 'node:fs/promises';
import { type Clock, systemClock } from '../../clock.js';
import { AntiphonError, describe, StoreError } from '../../errors.js';
import { codeOf, orNone } from '../../node/file-errors.js';
import { fileNameOf, idOfFileName } from '../../node/file-name.js';
import { nodeModules } from '../../node/modules.js';
import { conflict } from '../conflict.js';
import type { SessionStore } from '../store.js';
import { withLock } from './lock.js';
import { appendLine, headerLine, type LogContent, readLog, readTail } from './log-file.js';

export interface FileStoreOptions {
  /** Milliseconds to wait for another process that writes the same session; default 5000. */
  readonly lockWaitMs?: number;
  readonly clock?: Clock;
}

/** Where a file stood when this store last looked: it need not be read again as long as it is still there. */
interface Known extends Pick<LogContent, 'position' | 'lines' | 'size' | 'old'> {
  /** Changes with every write, and with every new file of the name. */
  readonly stamp: string;
  /** Which file it was, whatever was added. */
  readonly ino: bigint;
}

const ENDING = '.jsonl';
const MAX_KNOWN = 1000;

/**
 * Sessions as files in a folder, one for each, of JSON Lines that are only added to: they survive a crash at any moment, and a power cut as
 * far as the disk keeps what it was told to. Several processes may share a folder; who writes to a session that another one has changed
 * meanwhile is refused. Needs Node (or a runtime with its modules).
 *
 * ```ts
 * const store = fileStore('./sessions');
 * const session = createSession({ engine, store, id: 'ada' });
 * ```
 */
export function fileStore(folder: string, options: FileStoreOptions = {}): SessionStore {
  if (typeof folder !== 'string' || folder === '') throw new TypeError("fileStore takes the path of a folder: fileStore('./sessions').");
  const { lockWaitMs = 5000, clock = systemClock } = options;
  if (!(lockWaitMs >= 0)) throw new TypeError('fileStore: lockWaitMs must be a number of milliseconds, 0 or more.');
  const known = new Map<string, Known>();

  const locking = <T>(id: string, work: (path: string) => Promise<T>) =>
    telling(id, async () => {
      const { mkdir } = await nodeFiles();
      await mkdir(folder, { recursive: true });
      const path = await pathOf(folder, id);
      return withLock(`${path.slice(0, -ENDING.length)}.lock`, { clock, waitMs: lockWaitMs }, () => work(path));
    });

  /** The state of the file, read only as far as it is new. Only while the lock is held. */
  const look = async (path: string, id: string): Promise<Known | undefined> => {
    const fs = await nodeFiles();
    const stat = await statOf(path);
    if (!stat) return undefined;
    const before = known.get(path);
    if (before?.stamp === stat.stamp) return before;
    if (before && !before.old && before.ino === stat.ino && before.size <= stat.size) {
      const handle = await fs.open(path, 'r');
      try {
        const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(Number(stat.size) - before.size), position: before.size });
        return { ...before, ...readTail(path, buffer.subarray(0, bytesRead), before), stamp: stat.stamp };
      } finally {
        await handle.close();
      }
    }
    const content = readLog(path, await fs.readFile(path));
    if (content) checkId(path, content.id, id);
    return { ...(content ?? { position: 0, lines: 0, size: 0, old: false }), ...stat, size: content?.size ?? 0 };
  };

  const remember = async (path: string, now: Pick<LogContent, 'position' | 'lines' | 'size'>) => {
    const stat = await statOf(path);
    known.delete(path);
    if (stat) known.set(path, { ...now, stamp: stat.stamp, ino: stat.ino, old: false });
    const oldest = known.size > MAX_KNOWN ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
  };

  /** Writes a whole file beside the old one and puts it in its place at once. */
  const rewrite = async (path: string, text: string) => {
    const fs = await nodeFiles();
    const other = `${path}.tmp`;
    const handle = await fs.open(other, 'w');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fs.rename(other, path);
    await syncFolder(folder);
  };

  return {
    load: id =>
      telling(id, async () => {
        const path = await pathOf(folder, id);
        const content = await readWhole(path);
        if (!content) return undefined;
        checkId(path, content.id, id);
        return { entries: content.entries, position: content.position };
      }),

    append: (id, entries, expectedPosition) =>
      locking(id, async path => {
        const file = await look(path, id);
        const { position = 0, lines = 0, size = 0, old = false } = file ?? {};
        if (position !== expectedPosition) throw conflict(id, expectedPosition, position);
        if (entries.length === 0) return;
        const line = appendLine(position, entries);
        if (size > 0 && !old) {
          await writeAt(path, size, line);
          return remember(path, { position: position + entries.length, lines: lines + 1, size: size + Buffer.byteLength(line) });
        }
        // A new file, or one of an older version, appears at once and whole.
        const before = old ? ((await readWhole(path))?.entries ?? []) : [];
        const text = headerLine(id, 0) + (old ? appendLine(0, before) : '') + line;
        await rewrite(path, text);
        await remember(path, { position: position + entries.length, lines: old ? 3 : 2, size: Buffer.byteLength(text) });
      }),

    compact: (id, summary, expectedPosition) =>
      locking(id, async path => {
        const { position = 0 } = (await look(path, id)) ?? {};
        if (position !== expectedPosition) throw conflict(id, expectedPosition, position);
        const text = headerLine(id, position - 1) + appendLine(position - 1, [summary]);
        await rewrite(path, text);
        await remember(path, { position, lines: 2, size: Buffer.byteLength(text) });
      }),

    list: () =>
      telling(undefined, async () => {
        const { readdir } = await nodeFiles();
        const names = await readdir(folder).catch(orNone([]));
        const ids = names
          .filter(name => name.endsWith(ENDING))
          .map(async name => idOfFileName(name.slice(0, -ENDING.length)) ?? idInside(`${folder}/${name}`));
        return (await Promise.all(ids)).filter(id => id !== undefined);
      }),

    delete: id =>
      locking(id, async path => {
        const { rm } = await nodeFiles();
        await rm(path, { force: true });
        known.delete(path);
        await syncFolder(folder);
      }),
  };
}

async function pathOf(folder: string, id: string): Promise<string> {
  if (typeof id !== 'string' || id === '') throw new TypeError('The id of a session must be a text.');
  return `${folder}/${await fileNameOf(id)}${ENDING}`;
}

async function readWhole(path: string): Promise<LogContent | undefined> {
  const { readFile } = await nodeFiles();
  const bytes = await readFile(path).catch(orNone(undefined));
  return bytes && readLog(path, bytes);
}

async function idInside(path: string): Promise<string | undefined> {
  return (await readWhole(path))?.id;
}

/** Cuts the file behind `size`, where a crash may have left half a line, adds the text and waits until it is safe. */
async function writeAt(path: string, size: number, text: string): Promise<void> {
  const { open } = await nodeFiles();
  const handle = await open(path, 'r+');
  try {
    await handle.truncate(size);
    await writeFully(handle, Buffer.from(text), size);
    await handle.datasync();
  } catch (error) {
    // Half a line may stand there; the next write cuts it off in any case.
    await handle.truncate(size).catch(() => {});
    throw error;
  } finally {
    await handle.close();
  }
}

async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** New and renamed files are safe only when their folder is. Some systems cannot do that, and do not need it. */
async function syncFolder(folder: string): Promise<void> {
  const { open } = await nodeFiles();
  try {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES', 'ENOTSUP'].includes(String(codeOf(error)))) throw error;
  }
}

async function statOf(path: string) {
  const { stat } = await nodeFiles();
  const found = await stat(path, { bigint: true }).catch(orNone(undefined));
  return found && { ino: found.ino, size: Number(found.size), stamp: `${found.ino} ${found.size} ${found.mtimeNs}` };
}

function checkId(path: string, found: string, id: string): void {
  if (found !== id)
    throw new StoreError(
      'corrupt',
      `${path}, line 1, belongs to session ${JSON.stringify(found)}, not to ${JSON.stringify(id)}: rename the file back.`,
    );
}

async function nodeFiles() {
  return (await nodeModules()).files;
}

async function telling<T>(id: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (AntiphonError.isInstance(error) || error instanceof TypeError) throw error;
    const what = id === undefined ? 'the sessions' : `session ${JSON.stringify(id)}`;
    throw new StoreError('io', `The file of ${what} could not be read or written: ${describe(error)}`, { cause: error });
  }
}
