// What the options of every factory have in common, checked. Each throws `ConfigurationError` (`invalid_option`).
import { ConfigurationError } from '@antiphon/engine';

/** The model's name; `example` of one stands in the error. */
export function checkedModel(factory: string, model: string, example: string): string {
  if (typeof model === 'string' && model !== '') return model;
  throw new ConfigurationError('invalid_option', `${factory} needs the name of a model, such as { model: "${example}" }.`);
}

/** The base URL as an address that fetch takes. */
export function checkedBaseURL(baseURL: string, example: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(baseURL.trim());
  } catch {
    // Reported below: the platform's message may repeat the text, and with it a key.
  }
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigurationError('invalid_option', `The baseURL must be an absolute http or https URL, such as ${example}.`);
  }
  if (url.username !== '' || url.password !== '') {
    const message = `The baseURL for ${url.host} has a user name or password in it, which fetch refuses: pass them as apiKey or headers.`;
    throw new ConfigurationError('invalid_option', message);
  }
  return url;
}

/** The caller's headers, each one that HTTP allows. */
export function checkedHeaders(given: Readonly<Record<string, string>> = {}): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      // The platform's message would repeat the value.
      throw new ConfigurationError('invalid_option', `The header "${name}" has a name or value that HTTP does not allow.`);
    }
  }
  return headers;
}
