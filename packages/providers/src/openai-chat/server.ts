import { type AdapterContext, ConfigurationError, type PreparedRequest, redactor, type Warning } from '@antiphon/engine';
import type { ErrorContext } from '../http/errors.js';
import type { Fetch, Outgoing } from '../http/exchange.js';
import { type ApiKey, environmentVariable, keyFor } from '../http/keys.js';
import { secretsIn, shownHeaders, shownUrl } from '../http/redact.js';
import type { Endpoint } from './endpoint.js';

/** One configured server of OpenAI's protocols, and how it is asked. */
export interface Server {
  /** The factory's name, for errors. */
  readonly factory: string;
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Headers of the caller; they win. */
  readonly given: Headers;
  readonly apiKey: ApiKey | undefined;
  readonly fetch: Fetch | undefined;
}

/** The request with its key. Throws `ConfigurationError` (`missing_key`) when the server wants one and there is none. */
export async function withKey(body: string, server: Server, context: AdapterContext): Promise<Outgoing> {
  const { factory, endpoint, given, fetch } = server;
  const { profile, url, address, isOwnHost } = endpoint;
  const { name, keyName, needsKey, unreachableHint } = profile;
  const key = await keyFor(name, server.apiKey, context, isOwnHost && keyName ? environmentVariable(keyName) : undefined);
  if (key === undefined && needsKey && !['authorization', 'api-key', 'x-api-key'].some(header => given.has(header))) {
    const how = isOwnHost ? `set ${keyName} in the environment, or pass apiKey` : 'pass apiKey';
    throw new ConfigurationError('missing_key', `${name} needs an API key: ${how} to ${factory}.`, { provider: name });
  }
  const headers = headersFor(server, key);
  const secrets = [...(key === undefined ? [] : [key]), ...secretsIn(headers, url)];
  const about: ErrorContext = { provider: name, address, redact: redactor(secrets), ...(unreachableHint ? { unreachableHint } : {}) };
  return { url, headers, body, about, ...(fetch ? { fetch } : {}) };
}

/** The request as it would be sent. No key is asked for; where one would be sent, its place is shown. */
export function shownRequest(
  { body, warnings }: { readonly body: string; readonly warnings: readonly Warning[] },
  server: Server,
  context: AdapterContext,
): PreparedRequest {
  const { profile, url } = server.endpoint;
  const keyed = profile.needsKey || (server.apiKey ?? context.apiKey) !== undefined;
  return { url: shownUrl(url), method: 'POST', headers: shownHeaders(headersFor(server, keyed ? 'key' : undefined), url), body, warnings };
}

function headersFor({ endpoint, given }: Server, key: string | undefined): Headers {
  const { keyHeader } = endpoint.profile;
  const headers = new Headers({ 'content-type': 'application/json', accept: 'text/event-stream' });
  if (key !== undefined) headers.set(keyHeader, keyHeader === 'authorization' ? `Bearer ${key}` : key);
  for (const [name, value] of given) headers.set(name, value);
  return headers;
}
