/// <reference types="node" />
import { StoreError } from '../errors.js';

/**
 * What files need of Node, loaded only when something is read or written: the engine itself runs where there are no files. It awaits each in a
 * `try`, since bundlers for the browser leave such imports alone. Throws `StoreError` (`io`) where there is no Node.
 */
export async function nodeModules() {
  try {
    const files = await import('node:fs/promises');
    const { writeFileSync } = await import('node:fs');
    const { createHash } = await import('node:crypto');
    const { hostname } = await import('node:os');
    return { files, writeFileSync, createHash, hostname };
  } catch (cause) {
    throw new StoreError('io', 'fileStore needs the file system of Node; use memoryStore() or a store of your own here.', { cause });
  }
}
