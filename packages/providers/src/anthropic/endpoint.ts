import { checkedBaseURL } from '../http/checks.js';

export const PROVIDER = 'anthropic';
export const KEY_NAME = 'ANTHROPIC_API_KEY';
export const DEFAULT_BASE_URL = 'https://api.anthropic.com';

export interface Endpoint {
  /** The address that requests go to. */
  readonly url: URL;
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
  const url = checkedBaseURL(baseURL, DEFAULT_BASE_URL);
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(SUFFIX)) url.pathname = path;
  else url.pathname = `${/\/v\d+$/.test(path) ? path : `${path}/v1`}${SUFFIX}`;
  url.hash = '';
  const isOwnHost = url.hostname === 'anthropic.com' || url.hostname.endsWith('.anthropic.com');
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const keyOwner = isOwnHost || isLocal ? PROVIDER : `${PROVIDER}-compatible`;
  return { url, isOwnHost, keyOwner };
}
