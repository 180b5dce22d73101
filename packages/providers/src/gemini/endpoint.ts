// Where requests go and what they carry beside their body: the address of a model, the key, the headers.
import { type AdapterContext, ConfigurationError, redactor } from '@antiphon/engine';
import type { ErrorContext } from '../http/errors.js';
import type { Fetch, Outgoing } from '../http/exchange.js';
import { checkedHeaders } from '../http/headers.js';
import { type ApiKey, environmentVariable, keyFor } from '../http/keys.js';
import { secretsIn, shownHeaders, shownUrl } from '../http/redact.js';

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
  shown(method: Method, model: string, context: Pick<AdapterContext, 'apiKey'>): { url: string; headers: Record<string, string> };
}

const DEFAULT_BASE_URL = 'https://generativelanguage.googleapis.com/v1beta';
const OWN_HOST = 'generativelanguage.googleapis.com';
const KEY_HEADER = 'x-goog-api-key';

/** Checks the options of a factory. Throws `ConfigurationError` (`invalid_option`) for what cannot be right. */
export function endpointFor(factory: string, options: GeminiOptions): Endpoint {
  const { model, baseURL = DEFAULT_BASE_URL, apiKey, fetch } = options;
  if (typeof model !== 'string' || model === '') {
    throw invalid(`${factory} needs the name of a model, such as { model: "gemini-3-flash-preview" }.`);
  }
  modelPath(model);
  const base = parsedBase(baseURL);
  const given = checkedHeaders(options.headers);
  const isOwnHost = base.hostname.toLowerCase() === OWN_HOST;
  const needsKey = isOwnHost && !given.has(KEY_HEADER) && !given.has('authorization');
  return {
    async outgoing(method, name, body, context) {
      const key = await keyFor(PROVIDER, apiKey, context, isOwnHost ? keyOfEnvironment() : undefined);
      if (key === undefined && needsKey) {
        const message = `Gemini needs an API key: set GEMINI_API_KEY in the environment, or pass apiKey to ${factory}.`;
        throw new ConfigurationError('missing_key', message, { provider: PROVIDER });
      }
      const url = urlOf(base, name, method);
      const headers = headersOf(given, key, method);
      const found = secretsIn(headers, url);
      const about: ErrorContext = {
        provider: PROVIDER,
        address: `${url.origin}${url.pathname}`,
        redact: redactor(key === undefined ? found : [key, ...found]),
      };
      return { url, headers, body, about, ...(fetch === undefined ? {} : { fetch }) };
    },
    shown(method, name, context) {
      const url = urlOf(base, name, method);
      const hasKey = apiKey !== undefined || context.apiKey !== undefined || needsKey;
      return { url: shownUrl(url), headers: shownHeaders(headersOf(given, hasKey ? 'key' : undefined, method), url) };
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
  const accept = streams ? 'text/event-stream' : 'application/json';
  const headers = new Headers({ 'content-type': 'application/json', accept });
  if (key !== undefined) headers.set(KEY_HEADER, key);
  for (const [name, value] of given) headers.set(name, value);
  return headers;
}

function keyOfEnvironment(): string | undefined {
  const names = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];
  return names.map(environmentVariable).find(value => value !== undefined && value.trim() !== '');
}

function parsedBase(baseURL: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(baseURL.trim());
  } catch {
    // Reported below: the platform's message may repeat the text, and with it a key.
  }
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalid(`The baseURL must be an absolute http or https URL, such as ${DEFAULT_BASE_URL}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(`The baseURL for ${url.host} has a user name or password in it, which fetch refuses: pass them as apiKey or headers.`);
  }
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
