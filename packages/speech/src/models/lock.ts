// One writer at a time for a half-finished download, across processes. A lock whose owner died or fell silent is taken over.

import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const SILENT_MS = 60_000;
const POLL_MS = 100;

export interface Lock {
  release(): Promise<void>;
}

/** Waits until `path` can be held. */
export async function acquireLock(path: string, signal?: AbortSignal): Promise<Lock> {
  const owner = JSON.stringify({ pid: process.pid, host: hostname(), key: Math.random() });
  for (;;) {
    signal?.throwIfAborted();
    if (await create(path, owner)) return hold(path);
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
      continue;
    }
    await delay(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

async function create(path: string, owner: string): Promise<boolean> {
  try {
    await writeFile(path, owner, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function hold(path: string): Lock {
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, SILENT_MS / 6);
  beat.unref();
  return {
    async release() {
      clearInterval(beat);
      await rm(path, { force: true });
    },
  };
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > SILENT_MS) return true;
    const owner: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof owner !== 'object' || owner === null || !('pid' in owner) || !('host' in owner)) return false;
    return owner.host === hostname() && typeof owner.pid === 'number' && !isAlive(owner.pid);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
