/// <reference types="node" />
import { type Clock, sleep } from '../../clock.js';
import { isRecord } from '../../data/json.js';
import { StoreError } from '../../errors.js';
import { codeOf } from '../../node/file-errors.js';
import { nodeModules } from '../../node/modules.js';

/** Who holds a lock. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process began, where the system tells: a number is given to a new process in time. */
  readonly birth: string;
  /** Different for every time that a lock is taken. */
  readonly token: string;
}

export interface LockOptions {
  readonly clock: Clock;
  /** Milliseconds to wait for somebody else's lock before giving up. */
  readonly waitMs: number;
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;
/** A lock without content is being written, or its writer died in that moment. */
const EMPTY_MS = 1000;

/** Who comes next in this process, by path; only the first of them looks at the file. */
const QUEUES = new Map<string, Promise<unknown>>();
const OWN_TOKENS = new Set<string>();
let own: Promise<Omit<Holder, 'token'>> | undefined;

/**
 * Runs `work` while no other process and nobody else in this one holds the lock file `path`. The lock of a process that has died is taken
 * over; a holder that lives is waited for, with pauses. Rejects with `StoreError` (`locked`) that names the holder.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const turn = (QUEUES.get(path) ?? Promise.resolve()).then(() => holding(path, options, work));
  const settled = turn.catch(() => {});
  QUEUES.set(path, settled);
  try {
    return await turn;
  } finally {
    if (QUEUES.get(path) === settled) QUEUES.delete(path);
  }
}

async function holding<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const { files } = await nodeModules();
  own ??= thisProcess();
  const holder: Holder = { ...(await own), token: crypto.randomUUID() };
  OWN_TOKENS.add(holder.token);
  try {
    await acquire(path, holder, options);
    try {
      return await work();
    } finally {
      await files.rm(path, { force: true });
    }
  } finally {
    OWN_TOKENS.delete(holder.token);
  }
}

async function thisProcess(): Promise<Omit<Holder, 'token'>> {
  const { hostname } = await nodeModules();
  return { pid: process.pid, host: hostname(), birth: await birthOf(process.pid) };
}

async function acquire(path: string, own: Holder, options: LockOptions): Promise<void> {
  const { clock, waitMs } = options;
  const began = clock.now();
  let emptySince: number | undefined;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
    if (await create(path, JSON.stringify(own))) return;
    const holder = await read(path);
    if (holder === 'gone') continue;
    emptySince = holder === 'empty' ? (emptySince ?? clock.now()) : undefined;
    const dead = holder === 'empty' ? clock.now() - (emptySince ?? clock.now()) >= EMPTY_MS : !(await isAlive(holder, own));
    if (dead) {
      await takeOver(path, holder, options);
      continue;
    }
    if (clock.now() - began >= waitMs) throw locked(path, holder, waitMs);
    await sleep(clock, pause);
  }
}

/**
 * Removes a dead holder's lock. Only one process may do so at a time, and it looks again when it may: otherwise a slow one would remove
 * the lock of whoever came next.
 */
async function takeOver(path: string, seen: Holder | 'empty', options: LockOptions): Promise<void> {
  const { files } = await nodeModules();
  await withLock(`${path}.dead`, options, async () => {
    const now = await read(path);
    const same = now === seen || (typeof now === 'object' && typeof seen === 'object' && now.token === seen.token);
    if (same) await files.rm(path, { force: true });
  });
}

async function create(path: string, content: string): Promise<boolean> {
  const { writeFileSync } = await nodeModules();
  try {
    // At one go: a process that is killed between the two steps leaves a lock without a name, which others must wait out.
    writeFileSync(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function read(path: string): Promise<Holder | 'empty' | 'gone'> {
  const { files } = await nodeModules();
  try {
    const holder: unknown = JSON.parse(await files.readFile(path, 'utf8'));
    return isRecord(holder) && typeof holder.pid === 'number' ? (holder as unknown as Holder) : 'empty';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'gone' : 'empty';
  }
}

async function isAlive(holder: Holder, own: Holder): Promise<boolean> {
  if (holder.host !== own.host) return true;
  // A container gives its processes the same numbers again.
  if (holder.pid === own.pid) return OWN_TOKENS.has(holder.token);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
  const birth = await birthOf(holder.pid);
  return birth === '' || holder.birth === '' || birth === holder.birth;
}

/** When a process began, in ticks since the machine did; empty where there is no /proc. */
async function birthOf(pid: number): Promise<string> {
  const { files } = await nodeModules();
  try {
    const stat = await files.readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name, which may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; its parent has not looked yet.
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function locked(path: string, holder: Holder | 'empty', waitMs: number): StoreError {
  const who = holder === 'empty' ? 'somebody' : `process ${holder.pid} on ${holder.host}`;
  return new StoreError(
    'locked',
    `${path} was held by ${who} for ${waitMs} ms. If that process is no longer there, delete the file; otherwise try again.`,
    { retryable: true },
  );
}
