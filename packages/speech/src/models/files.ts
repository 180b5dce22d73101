// Small things that a cache does with files: hashing, and writing so that nobody ever sees half a file.

import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';

/** Digest of a whole file. */
export async function hashFile(path: string, algorithm: string, encoding: 'hex' | 'base64', signal?: AbortSignal): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    signal?.throwIfAborted();
    hash.update(chunk as Buffer);
  }
  return hash.digest(encoding);
}

/** Size in bytes, undefined when there is no such file. */
export async function fileSize(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path);
    return stats.isFile() ? stats.size : undefined;
  } catch {
    return undefined;
  }
}

/** A name beside `path` that no other process uses. */
export function temporaryName(path: string): string {
  return `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
}

/** Puts a finished file in its place in one step, replacing what stood there. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // Windows refuses to replace a file that is open; one of the two equal copies is enough.
    if ((await fileSize(to)) === (await fileSize(from))) await rm(from, { force: true });
    else throw error;
  }
}
