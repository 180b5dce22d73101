// Where requests go and what they carry beside their body: the address of a model, the key, the headers.
import { type AdapterContext, ConfigurationError, type PreparedRequest, type Warning } from '@antiphon/engine';
import { checkedBaseURL, checkedHeaders, checkedModel } from '../http/checks.js';
import type { Fetch, Outgoing } from '../http/exchange.js';
import { type ApiKey, keyFor } from '../http/keys.js';
import { outgoing, requestHeaders, shownRequest } from '../http/outgoing.js';

/** The name in errors, keys, provider options and provider state. */
export const PROVIDER = 'gemini';

/** Options that the factories for Gemini share. */
export interface GeminiOptions {
  /** The model's name, such as `gemini-3-flash-preview`; `models/…` and `tunedModels/…` are understood too. */
  readonly model: string;
  /** Where the API is; `https://generativelanguage.googleapis.com/v1beta` when it is left out. For Vertex AI, all that stands before `/models`. */
  readonly baseURL?: string;
  /**
   * The key, or a function that is asked before each request. Left out, the engine's keys are asked, then `GEMINI_API_KEY` and
   * `GOOGLE_API_KEY` of the environment, the latter at Google's own host only.
   */
  readonly apiKey?: ApiKey;
  /** Sent with each request, over what the adapter sends itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the platform's `fetch`, for tests and proxies. */
  readonly fetch?: Fetch;
}

/** A verb of the API, or its collection of interactions. */
type Method = 'streamGenerateContent' | 'generateContent' | 'batchEmbedContents' | 'interactions';

/** One configured API. */
export interface Endpoint {
  /** The request with its key. Throws `ConfigurationError` (`missing_key`) when Google's own host would get none. */
  outgoing(method: Method, model: string, body: string, context: Pick<AdapterContext, 'apiKey'>): Promise<Outgoing>;
  /** The same for people to look at, without asking for a key. */
  shown(
    method: Method,
    built: { readonly model: string; readonly body: string; readonly warnings: readonly Warning[] },
    context: Pick<AdapterContext, 'apiKey'>,
  ): PreparedRequest;
}

const DEFAULT_BASE_URL = 'https://generativelanguage.googleapis.com/v1beta';
const OWN_HOST = 'generativelanguage.googleapis.com';
const KEY_HEADER = 'x-goog-api-key';

/** Checks the options of a factory. Throws `ConfigurationError` (`invalid_option`) for what cannot be right. */
export function endpointFor(factory: string, options: GeminiOptions): Endpoint {
  const { baseURL = DEFAULT_BASE_URL, apiKey, fetch } = options;
  modelPath(checkedModel(factory, options.model, 'gemini-3-flash-preview'));
  const base = parsedBase(baseURL);
  const given = checkedHeaders(options.headers);
  const isOwnHost = base.hostname.toLowerCase() === OWN_HOST;
  const keyNames = isOwnHost ? ['GEMINI_API_KEY', 'GOOGLE_API_KEY'] : [];
  return {
    async outgoing(method, name, body, context) {
      const key = await keyFor({ provider: PROVIDER, factory, apiKey, keyNames, needsKey: isOwnHost, given }, context);
      const url = urlOf(base, name, method);
      return outgoing(PROVIDER, { url, headers: headersOf(given, key, method), body, fetch });
    },
    shown(method, built, context) {
      const hasKey = apiKey !== undefined || context.apiKey !== undefined || (isOwnHost && !given.has('authorization'));
      return shownRequest(urlOf(base, built.model, method), headersOf(given, hasKey ? 'key' : undefined, method), built);
    },
  };
}

/** The model's resource name: `gemini-3-pro` → `models/gemini-3-pro`; one that says its collection is kept. */
export function modelPath(model: string): string {
  const names = model.split('/');
  if (names.some(name => name === '' || name === '.' || name === '..')) {
    throw invalid(`"${model}" is no name of a model, such as "gemini-3-flash-preview" or "tunedModels/my-model".`);
  }
  const path = names.map(encodeURIComponent).join('/');
  return names.length === 1 ? `models/${path}` : path;
}

function urlOf(base: URL, model: string, method: Method): URL {
  const url = new URL(base);
  // Here the model stands in the body.
  const place = method === 'interactions' ? method : `${modelPath(model)}:${method}`;
  url.pathname = `${base.pathname}/${place}`;
  if (method === 'streamGenerateContent') url.searchParams.set('alt', 'sse');
  return url;
}

function headersOf(given: Headers, key: string | undefined, method: Method): Headers {
  const streams = method === 'streamGenerateContent' || method === 'interactions';
  return requestHeaders(streams ? 'text/event-stream' : 'application/json', KEY_HEADER, key, given);
}

function parsedBase(baseURL: string): URL {
  const url = checkedBaseURL(baseURL, DEFAULT_BASE_URL);
  if (url.searchParams.has('key')) {
    throw invalid(`The baseURL for ${url.host} has a key in it, which logs of addresses would show: pass it as apiKey.`);
  }
  url.hash = '';
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path === '' ? '/v1beta' : path;
  return url;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}
