import { type AdapterContext, ConfigurationError } from '@antiphon/engine';

/** An API key, or a function that gives it when it is needed (from a vault, a file, a login). */
export type ApiKey = string | (() => string | undefined | Promise<string | undefined>);

/**
 * The key for one request; undefined when there is none. A function is asked each time, so that a key may change. Surrounding white space
 * is cut off: files end in a line break. Throws `ConfigurationError` when the function fails or the key could not stand in a header.
 */
async function resolveKey(apiKey: ApiKey | undefined, provider: string, asked = 'The apiKey function'): Promise<string | undefined> {
  if (apiKey === undefined) return undefined;
  let key: unknown;
  try {
    key = typeof apiKey === 'function' ? await apiKey() : apiKey;
  } catch {
    // What it threw may hold the key, or the way to it.
    throw new ConfigurationError('missing_key', `${asked} for ${provider} failed, so no request was sent.`, { provider });
  }
  if (key === undefined || key === null) return undefined;
  const text = typeof key === 'string' ? key.trim() : '';
  if (typeof key !== 'string' || /[^\x21-\x7e]/.test(text)) {
    throw new ConfigurationError(
      'missing_key',
      `The API key for ${provider} must be text of printable ASCII characters without spaces; look for quotes or line breaks in it.`,
      { provider },
    );
  }
  return text === '' ? undefined : text;
}

/** Where a key may come from. */
export interface KeySource {
  /** Whose key it is, for the engine and for errors. */
  readonly provider: string;
  /** The factory's name, for errors. */
  readonly factory: string;
  /** The adapter's own. */
  readonly apiKey: ApiKey | undefined;
  /** Environment variables that may hold it, the first one first; none at a host that is not the provider's own. */
  readonly keyNames: readonly string[];
  /** A request without a key is refused before it is sent. */
  readonly needsKey: boolean;
  /** Headers of the caller; a key may stand in them. */
  readonly given: Headers;
}

const KEY_HEADERS = ['authorization', 'api-key', 'x-api-key', 'xi-api-key', 'x-goog-api-key'];

/**
 * The key for one request: the adapter's own when it was given one, else the engine's (`createEngine({ keys })`), else the environment's.
 * Throws as `resolveKey` does, and `ConfigurationError` (`missing_key`) when there is none and the server needs one.
 */
export async function keyFor(
  { provider, factory, apiKey, keyNames, needsKey, given }: KeySource,
  context: Pick<AdapterContext, 'apiKey'>,
): Promise<string | undefined> {
  const key = apiKey === undefined ? await sharedKey(provider, keyNames, context) : await resolveKey(apiKey, provider);
  if (key === undefined && needsKey && !KEY_HEADERS.some(name => given.has(name))) {
    const where = keyNames.length > 0 ? `set ${keyNames[0]} in the environment, or ` : '';
    throw new ConfigurationError('missing_key', `${provider} needs an API key: ${where}pass apiKey to ${factory}.`, { provider });
  }
  return key;
}

async function sharedKey(
  provider: string,
  keyNames: readonly string[],
  { apiKey }: Pick<AdapterContext, 'apiKey'>,
): Promise<string | undefined> {
  const engines = apiKey && (await resolveKey(() => apiKey(provider), provider, "The engine's keys function"));
  return (
    engines ??
    resolveKey(
      keyNames.map(environmentVariable).find(value => value?.trim()),
      provider,
    )
  );
}

/** A variable of the process's environment; undefined in a browser. */
function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}
