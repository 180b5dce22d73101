import {
  type AdapterContext,
  type AdapterEvent,
  type ChatAdapter,
  type ChatRequest,
  ConfigurationError,
  type PreparedRequest,
} from '@antiphon/engine';
import { type ErrorContext, errorFromResponse } from '../http/errors.js';
import { Exchange, type Fetch } from '../http/exchange.js';
import { type ApiKey, environmentVariable, keyFor } from '../http/keys.js';
import { redactor, secretsIn, shownHeaders, shownUrl } from '../http/redact.js';
import { AnswerReader } from './answer.js';
import { type Endpoint, resolveEndpoint } from './endpoint.js';
import type { ProfileOption } from './profiles.js';
import { buildRequest } from './request.js';

export interface OpenaiChatOptions {
  /** The model's name as the server knows it, such as `gpt-5.1` or `qwen3:8b`. */
  readonly model: string;
  /** Where the server is, with or without `/v1`; a local Ollama when it is left out. */
  readonly baseURL?: string;
  /** The key, or a function that is asked before each request. Left out, the provider's own environment variable is read at its own host. */
  readonly apiKey?: ApiKey;
  /** Sent with each request, over what the adapter sends itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A profile's name, or flags on top of it; guessed from the base URL when it is left out. */
  readonly profile?: ProfileOption;
  /** Instead of the platform's `fetch`, for tests and proxies. */
  readonly fetch?: Fetch;
}

const DEFAULT_BASE_URL = 'http://127.0.0.1:11434/v1';

/**
 * A chat model behind any server that speaks OpenAI's chat completions: OpenAI, Azure, Ollama, llama.cpp, LM Studio, vLLM, DeepSeek, Groq,
 * Mistral, xAI, OpenRouter and many more. How servers differ is data (a profile), guessed from the base URL.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for a bad URL, header, model or profile. A call throws `ConfigurationError`
 * (`missing_key`) before anything is sent when a hosted provider has no key, and `AdapterError` for every failure of the world. No error
 * ever holds the key.
 *
 * ```ts
 * const engine = createEngine({ chat: openaiChat({ model: 'qwen3:8b' }) });
 * const hosted = openaiChat({ model: 'gpt-5.1', baseURL: 'https://api.openai.com/v1', apiKey: () => vault.read('openai') });
 * ```
 */
export function openaiChat(options: OpenaiChatOptions): ChatAdapter {
  const { model, baseURL = DEFAULT_BASE_URL } = options;
  if (typeof model !== 'string' || model === '') {
    throw new ConfigurationError('invalid_option', 'openaiChat needs the name of a model, such as { model: "qwen3:8b" }.');
  }
  const endpoint = resolveEndpoint(baseURL, options.profile);
  const headers = checkedHeaders(options.headers);
  return {
    provider: endpoint.profile.name,
    model,
    structuredOutput: endpoint.profile.structuredOutput,
    stream: (request, context) => streamAnswer(request, context, { ...options, endpoint, headers }),
    prepare: async (request, context) => prepared(request, context, { ...options, endpoint, headers }),
  };
}

interface Settings extends Omit<OpenaiChatOptions, 'headers'> {
  readonly endpoint: Endpoint;
  readonly headers: Headers;
}

async function* streamAnswer(
  request: ChatRequest,
  context: AdapterContext,
  settings: Settings,
): AsyncGenerator<AdapterEvent, void, undefined> {
  const { signal, clock } = context;
  const { profile, url, address } = settings.endpoint;
  signal.throwIfAborted();
  // Local checks before keys, keys before sockets.
  const { body, warnings } = buildRequest(request, settings.model, profile);
  const { headers, secrets } = await authorize(settings, context);
  const about: ErrorContext = {
    provider: profile.name,
    address,
    redact: redactor(secrets),
    ...(profile.unreachableHint === undefined ? {} : { unreachableHint: profile.unreachableHint }),
  };
  signal.throwIfAborted();
  const exchange = new Exchange(signal);
  try {
    const response = await exchange.send({ url, headers, body, about, ...(settings.fetch === undefined ? {} : { fetch: settings.fetch }) });
    if (!response.ok) throw errorFromResponse(response, await exchange.readText(), clock, about);
    const answer = new AnswerReader(profile, response.headers, about, warnings, request.raw);
    const shown = () => answer.shown;
    while (!answer.over) {
      const bytes = await exchange.read(shown);
      if (bytes) answer.feed(bytes);
      else answer.end();
      for (const event of answer.take()) {
        yield event;
        signal.throwIfAborted();
      }
    }
    if (answer.failure) throw answer.failure;
  } finally {
    exchange.close();
  }
}

function prepared(request: ChatRequest, context: AdapterContext, settings: Settings): PreparedRequest {
  const { profile, url } = settings.endpoint;
  const { body, warnings } = buildRequest(request, settings.model, profile);
  // No key is asked for; where one would be sent, its place is shown.
  const hasKey = settings.apiKey !== undefined || context.apiKey !== undefined || profile.needsKey;
  const headers = headersOf(settings, hasKey ? 'key' : undefined);
  return { url: shownUrl(url), method: 'POST', headers: shownHeaders(headers, url), body, warnings };
}

/** The headers of one request, and what in them must never be seen. */
async function authorize(settings: Settings, context: AdapterContext): Promise<{ headers: Headers; secrets: string[] }> {
  const { profile, isOwnHost, url } = settings.endpoint;
  const given = settings.headers;
  const fromEnvironment = isOwnHost && profile.keyName !== undefined ? environmentVariable(profile.keyName) : undefined;
  const key = await keyFor(profile.name, settings.apiKey, context, fromEnvironment);
  const hasOwnKey = given.has('authorization') || given.has('api-key') || given.has('x-api-key');
  if (key === undefined && profile.needsKey && !hasOwnKey) {
    throw new ConfigurationError(
      'missing_key',
      `${profile.name} needs an API key: ${isOwnHost ? `set ${profile.keyName} in the environment, or ` : ''}pass apiKey to openaiChat.`,
      { provider: profile.name },
    );
  }
  const headers = headersOf(settings, key);
  const found = secretsIn(headers, url);
  return { headers, secrets: key === undefined ? found : [key, ...found] };
}

function headersOf({ endpoint: { profile }, headers: given }: Settings, key: string | undefined): Headers {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'text/event-stream' });
  if (key !== undefined) headers.set(profile.keyHeader, profile.keyHeader === 'authorization' ? `Bearer ${key}` : key);
  for (const [name, value] of given) headers.set(name, value);
  return headers;
}

function checkedHeaders(headers: Readonly<Record<string, string>> | undefined): Headers {
  const checked = new Headers();
  for (const [name, value] of Object.entries(headers ?? {})) {
    try {
      checked.set(name, value);
    } catch {
      // The platform's message would repeat the value.
      throw new ConfigurationError('invalid_option', `The header "${name}" has a name or value that HTTP does not allow.`);
    }
  }
  return checked;
}
