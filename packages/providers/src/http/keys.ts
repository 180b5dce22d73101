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

/**
 * The key for one request: the adapter's own when it was given one, else the engine's (`createEngine({ keys })`), else the environment's.
 * Throws as `resolveKey` does.
 */
export async function keyFor(
  provider: string,
  own: ApiKey | undefined,
  context: Pick<AdapterContext, 'apiKey'>,
  fromEnvironment: string | undefined,
): Promise<string | undefined> {
  if (own !== undefined) return resolveKey(own, provider);
  const { apiKey } = context;
  const engines = apiKey && (await resolveKey(() => apiKey(provider), provider, "The engine's keys function"));
  return engines ?? resolveKey(fromEnvironment, provider);
}

/** A variable of the process's environment; undefined in a browser. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}
