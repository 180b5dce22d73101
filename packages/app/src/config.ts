import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createJiti } from 'jiti';
import { oneLine, UsageError } from './failure.js';

/** What can be set, by flag, by `ANTIPHON_*` in the environment, or in `antiphon.config.{ts,js,json}`. */
export interface Config {
  /** Name of the model at its server, or `demo` for the demo responder. */
  readonly model?: string;
  /** An OpenAI-compatible server, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Instructions for the model. */
  readonly system?: string;
  /** Folder of documents for the demo responder. */
  readonly documents?: string;
  /** Voice of the synthesizer. */
  readonly voice?: string;
  /** Language, as a BCP 47 tag. */
  readonly locale?: string;
}

const KEYS = ['model', 'baseUrl', 'apiKey', 'system', 'documents', 'voice', 'locale'] as const satisfies readonly (keyof Config)[];
const FILES = ['antiphon.config.ts', 'antiphon.config.js', 'antiphon.config.json'];

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was read. */
  readonly file?: string;
}

/** File < environment < flags. A file that cannot be read, or holds what is not known, is a usage error. */
export async function loadConfig(
  flags: { readonly [key: string]: unknown },
  env: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): Promise<LoadedConfig> {
  const name = FILES.find(candidate => existsSync(resolve(folder, candidate)));
  const fromFile = name ? await readConfigFile(resolve(folder, name)) : {};
  const config: { -readonly [K in keyof Config]: Config[K] } = {};
  for (const key of KEYS) {
    const flag = flags[key];
    const value = (typeof flag === 'string' ? flag : undefined) ?? (env[envName(key)] || undefined) ?? fromFile[key];
    if (value !== undefined) config[key] = value;
  }
  return name ? { config, file: name } : { config };
}

/** `baseUrl` → `ANTIPHON_BASE_URL` */
function envName(key: string): string {
  return `ANTIPHON_${key.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`;
}

async function readConfigFile(path: string): Promise<Config> {
  let value: unknown;
  try {
    value = path.endsWith('.json') ? JSON.parse(await readFile(path, 'utf8')) : await createJiti(path).import(path, { default: true });
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${oneLine(error)}`);
  }
  if (typeof value !== 'object' || value === null) throw new UsageError(`${path} must hold an object such as { "model": "llama3.2" }.`);
  for (const [key, item] of Object.entries(value)) {
    if (!(KEYS as readonly string[]).includes(key)) throw new UsageError(`${path}: "${key}" is not known. It may hold ${KEYS.join(', ')}.`);
    if (typeof item !== 'string') throw new UsageError(`${path}: "${key}" must be text.`);
  }
  return value as Config;
}
