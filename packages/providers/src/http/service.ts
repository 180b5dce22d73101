// What every adapter of one provider has in common before its first byte: its options, its addresses, its key.
import type { AdapterContext, JsonObject } from '@antiphon/engine';
import { guessProfile } from '../openai-chat/profiles.js';
import { checkedBaseURL, checkedHeaders, checkedModel } from './checks.js';
import type { Fetch, Outgoing } from './exchange.js';
import { type ApiKey, keyFor } from './keys.js';
import { outgoing, requestHeaders } from './outgoing.js';

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
  readonly unreachableHint?: string | undefined;
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
  const { baseURL = defaultBaseURL, apiKey, fetch } = options;
  const model = checkedModel(factory, options.model, '…');
  const base = checkedBaseURL(baseURL, defaultBaseURL);
  const given = checkedHeaders(options.headers);
  const server = serverAt(base, vendor);
  const { name: provider, keyNames, needsKey, keyHeader, root, unreachableHint } = server;
  return {
    provider,
    model,
    async outgoing(path, body, context) {
      const url = endpointUrl(base, path, paths, root);
      const key = await keyFor({ provider, factory, apiKey, keyNames, needsKey, given }, context);
      const headers = requestHeaders('application/json', keyHeader, key, given);
      const isForm = typeof FormData !== 'undefined' && body instanceof FormData;
      // Only fetch knows the boundary of a form.
      if (isForm) headers.delete('content-type');
      return outgoing(provider, { url, headers, body: isForm ? body : JSON.stringify(body), fetch }, unreachableHint);
    },
  };
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
    unreachableHint,
  };
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
