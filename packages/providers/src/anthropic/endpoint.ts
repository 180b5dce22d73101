import { ConfigurationError } from '@antiphon/engine';

export const PROVIDER = 'anthropic';
export const KEY_NAME = 'ANTHROPIC_API_KEY';
export const DEFAULT_BASE_URL = 'https://api.anthropic.com';

export interface Endpoint {
  /** The address that requests go to. */
  readonly url: URL;
  /** The same without query, for messages. */
  readonly address: string;
  /** The host is Anthropic's own: only there is the environment's key sent. */
  readonly isOwnHost: boolean;
  /** Whose key the engine is asked for: a foreign host has another name, so that it never gets Anthropic's. */
  readonly keyOwner: string;
}

const SUFFIX = '/messages';

/**
 * Where requests go, from a base URL with or without `/v1`, trailing slash or the full path; a query is kept. Throws `ConfigurationError`
 * for an address that cannot be one.
 */
export function resolveEndpoint(baseURL: string): Endpoint {
  const url = parse(baseURL);
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(SUFFIX)) url.pathname = path;
  else url.pathname = `${/\/v\d+$/.test(path) ? path : `${path}/v1`}${SUFFIX}`;
  url.hash = '';
  const isOwnHost = url.hostname === 'anthropic.com' || url.hostname.endsWith('.anthropic.com');
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const keyOwner = isOwnHost || isLocal ? PROVIDER : `${PROVIDER}-compatible`;
  return { url, address: `${url.origin}${url.pathname}`, isOwnHost, keyOwner };
}

function parse(baseURL: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(baseURL.trim());
  } catch {
    // Reported below: the platform's message may repeat the text, and with it a key.
  }
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigurationError('invalid_option', `The baseURL must be an absolute http or https URL, such as ${DEFAULT_BASE_URL}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError(
      'invalid_option',
      `The baseURL for ${url.host} has a user name or password in it, which fetch refuses: pass them as apiKey or headers.`,
    );
  }
  return url;
}
