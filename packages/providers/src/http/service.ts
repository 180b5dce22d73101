// What every adapter of one provider has in common before its first byte: its options, its addresses, its key.
import { type AdapterContext, ConfigurationError, type JsonObject, redactor, type Warning } from '@antiphon/engine';
import { guessProfile } from '../openai-chat/profiles.js';
import type { ErrorContext } from './errors.js';
import type { Fetch, Outgoing } from './exchange.js';
import { checkedHeaders } from './headers.js';
import { type ApiKey, environmentVariable, keyFor } from './keys.js';
import { secretsIn } from './redact.js';

/** Options that the factories of adapters share. */
export interface ServiceOptions {
  /** The model's name as the server knows it. */
  readonly model: string;
  /** Where the server is, with or without `/v1`; the provider's own address when it is left out. */
  readonly baseURL?: string;
  /** The key, or a function that is asked before each request. Left out, the engine's keys are asked, then the provider's own environment variable, the latter at its own host only. */
  readonly apiKey?: ApiKey;
  /** Sent with each request, over what the adapter sends itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the platform's `fetch`, for tests and proxies. */
  readonly fetch?: Fetch;
}

/** A provider and how it wants to be asked. */
export interface Vendor {
  /** Name in errors, keys and provider options. */
  readonly name: string;
  readonly hosts: readonly string[];
  /** What stands before an endpoint's path when the base URL has no path. */
  readonly root: string;
  /** Environment variables that may hold the key, the first one first. */
  readonly keyNames: readonly string[];
  /** A request without a key is refused before it is sent. */
  readonly needsKey: boolean;
  readonly keyHeader: 'authorization' | 'api-key' | 'xi-api-key';
  /** What to do when no server answers. */
  readonly unreachableHint?: string;
}

/** One configured provider. */
export interface Service {
  /** The server's name: a foreign host with the same protocol has another, so that it never gets this provider's key. */
  readonly provider: string;
  readonly model: string;
  /** The request to one endpoint (`/embeddings`), with its key. Throws `ConfigurationError` (`missing_key`) when there is none. */
  outgoing(path: string, body: JsonObject | FormData, context: Pick<AdapterContext, 'apiKey'>): Promise<Outgoing>;
}

/**
 * Checks a factory's options and finds out which server its base URL means. `vendor` is the provider whose protocol it is; left out, the
 * profiles of `openaiChat` tell. Throws `ConfigurationError` (`invalid_option`) for options that cannot be right.
 */
export function serviceFor(
  factory: string,
  options: ServiceOptions,
  defaultBaseURL: string,
  paths: readonly string[],
  vendor?: Vendor,
): Service {
  const { model, baseURL = defaultBaseURL, apiKey, fetch } = options;
  if (typeof model !== 'string' || model === '') {
    throw new ConfigurationError('invalid_option', `${factory} needs the name of a model, such as { model: "…" }.`);
  }
  const base = parsed(baseURL);
  const given = checkedHeaders(options.headers);
  const server = serverAt(base, vendor);
  return {
    provider: server.name,
    model,
    async outgoing(path, body, context) {
      const url = endpointUrl(base, path, paths, server.root);
      const key = await keyFor(server.name, apiKey, context, fromEnvironment(server));
      const headers = headersOf(server, given, key, typeof FormData !== 'undefined' && body instanceof FormData);
      if (
        key === undefined &&
        server.needsKey &&
        !['authorization', 'api-key', 'x-api-key', server.keyHeader].some(name => given.has(name))
      ) {
        const where = server.keyNames.length > 0 ? `set ${server.keyNames[0]} in the environment, or ` : '';
        throw new ConfigurationError('missing_key', `${server.name} needs an API key: ${where}pass apiKey to ${factory}.`, {
          provider: server.name,
        });
      }
      const secrets = secretsIn(headers, url);
      const about: ErrorContext = {
        provider: server.name,
        address: `${url.origin}${url.pathname}`,
        redact: redactor(key === undefined ? secrets : [key, ...secrets]),
        ...(server.unreachableHint === undefined ? {} : { unreachableHint: server.unreachableHint }),
      };
      const text = body instanceof FormData ? body : JSON.stringify(body);
      return { url, headers, body: text, about, ...(fetch === undefined ? {} : { fetch }) };
    },
  };
}

/** Something that was asked for and not done. */
export function unsupportedSetting(setting: string, message: string): Warning {
  return { code: 'unsupported_setting', setting, message };
}

function serverAt(url: URL, vendor: Vendor | undefined): Vendor {
  const host = url.hostname.toLowerCase();
  if (vendor?.hosts.includes(host)) return vendor;
  const { name, hosts, root, keyName, needsKey, keyHeader, unreachableHint } = guessProfile(url);
  const known = hosts.length > 0;
  return {
    name: vendor && name === 'openai-compatible' ? `${vendor.name}-compatible` : name,
    hosts,
    root: vendor && !known ? vendor.root : root,
    keyNames: known && keyName !== undefined ? [keyName] : [],
    needsKey,
    // A server of one's own takes its key as the vendor does.
    keyHeader: vendor && !known ? vendor.keyHeader : keyHeader,
    ...(unreachableHint === undefined ? {} : { unreachableHint }),
  };
}

function fromEnvironment({ keyNames }: Vendor): string | undefined {
  for (const name of keyNames) {
    const value = environmentVariable(name);
    if (value !== undefined && value.trim() !== '') return value;
  }
  return undefined;
}

/**
 * The address of one endpoint. A base URL that already ends in one of the endpoints means the server behind it; one that stops before the end
 * of the provider's root (`/openai` of `/openai/v1`) is completed; a query is kept.
 */
export function endpointUrl(base: URL, path: string, paths: readonly string[], root: string): URL {
  const url = new URL(base);
  const bare = url.pathname.replace(/\/+$/, '');
  const named = paths.find(known => bare.endsWith(known));
  const before = named === undefined ? (root.startsWith(`${bare}/`) ? root : bare) : bare.slice(0, -named.length);
  url.pathname = `${before}${path}`;
  url.hash = '';
  return url;
}

function headersOf({ keyHeader }: Vendor, given: Headers, key: string | undefined, isForm: boolean): Headers {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' });
  if (key !== undefined) headers.set(keyHeader, keyHeader === 'authorization' ? `Bearer ${key}` : key);
  for (const [name, value] of given) headers.set(name, value);
  // Only fetch knows the boundary.
  if (isForm) headers.delete('content-type');
  return headers;
}

function parsed(baseURL: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(baseURL.trim());
  } catch {
    // Reported below: the platform's message may repeat the text, and with it a key.
  }
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigurationError('invalid_option', 'The baseURL must be an absolute http or https URL, such as https://api.openai.com/v1.');
  }
  if (url.username !== '' || url.password !== '') {
    const message = `The baseURL for ${url.host} has a user name or password in it, which fetch refuses: pass them as apiKey or headers.`;
    throw new ConfigurationError('invalid_option', message);
  }
  return url;
}
