import { ConfigurationError } from '@antiphon/engine';

/** The caller's headers. Throws `ConfigurationError` (`invalid_option`) for one that HTTP does not allow. */
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
