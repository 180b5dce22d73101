// Takes named files out of a registry tarball. Nothing but the wanted names is ever written, so no path in the archive can lead elsewhere.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { moveIntoPlace, temporaryName } from './files.js';

export interface WantedFile {
  /** Name inside the archive. */
  readonly member: string;
  /** Where it goes. */
  readonly target: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Writes the wanted files, each whole and with its right digest or not at all. Returns those that were not found intact. */
export async function extractFiles(tarball: string, wanted: readonly WantedFile[], signal?: AbortSignal): Promise<readonly WantedFile[]> {
  const left = new Map(wanted.map(file => [file.member, file]));
  const archive = extract();
  const feeding = pipeline(createReadStream(tarball), createGunzip(), archive, signal === undefined ? {} : { signal });
  feeding.catch(() => {});
  for await (const entry of archive) {
    const file = entry.header.type === 'file' ? left.get(entry.header.name) : undefined;
    if (file !== undefined && entry.header.size === file.bytes && (await writeVerified(entry, file))) left.delete(file.member);
    else entry.resume();
  }
  await feeding;
  return [...left.values()];
}

async function writeVerified(entry: AsyncIterable<unknown>, file: WantedFile): Promise<boolean> {
  const temporary = temporaryName(file.target);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await mkdir(dirname(file.target), { recursive: true });
    await pipeline(entry, hashing, createWriteStream(temporary));
    if (hash.digest('hex') !== file.sha256) return false;
    await moveIntoPlace(temporary, file.target);
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}
