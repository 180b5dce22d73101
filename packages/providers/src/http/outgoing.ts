// A request before it is sent: its headers, and what its errors may say.
import { type PreparedRequest, redactor, type Warning } from '@antiphon/engine';
import type { Outgoing } from './exchange.js';
import { secretsIn, shownHeaders, shownUrl } from './redact.js';

/** Those of JSON, the key's, and over them the caller's own. */
export function requestHeaders(
  accept: 'application/json' | 'text/event-stream',
  keyHeader: string,
  key: string | undefined,
  given: Headers,
): Headers {
  const headers = new Headers({ 'content-type': 'application/json', accept });
  if (key !== undefined) headers.set(keyHeader, keyHeader === 'authorization' ? `Bearer ${key}` : key);
  for (const [name, value] of given) headers.set(name, value);
  return headers;
}

/** The request of a provider, whose errors hold no key and no query. */
export function outgoing(provider: string, request: Omit<Outgoing, 'about'>, unreachableHint?: string): Outgoing {
  const { url, headers } = request;
  const address = `${url.origin}${url.pathname}`;
  return { ...request, about: { provider, address, redact: redactor(secretsIn(headers, url)), unreachableHint } };
}

/** The request for people to look at, without its secrets. */
export function shownRequest(
  url: URL,
  headers: Headers,
  { body, warnings }: { readonly body: string; readonly warnings: readonly Warning[] },
): PreparedRequest {
  return { url: shownUrl(url), method: 'POST', headers: shownHeaders(headers, url), body, warnings };
}
