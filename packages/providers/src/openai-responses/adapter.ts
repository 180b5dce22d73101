import {
  type AdapterContext,
  type AdapterEvent,
  type ChatAdapter,
  type ChatRequest,
  ConfigurationError,
  type PreparedRequest,
} from '@antiphon/engine';
import { type ErrorContext, errorFromResponse } from '../http/errors.js';
import { Exchange, type Fetch, type Outgoing } from '../http/exchange.js';
import { type ApiKey, environmentVariable, keyFor } from '../http/keys.js';
import { redactor, secretsIn, shownHeaders, shownUrl } from '../http/redact.js';
import type { Endpoint } from '../openai-chat/endpoint.js';
import type { ProfileOption } from '../openai-chat/profiles.js';
import { AnswerBody } from './answer-body.js';
import { responsesEndpoint } from './endpoint.js';
import { buildRequest } from './request.js';

export interface OpenaiResponsesOptions {
  /** The model's name as the server knows it, such as `gpt-5.4`. */
  readonly model: string;
  /** Where the server is, with or without `/v1`; OpenAI's own when it is left out. */
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

/**
 * A chat model behind OpenAI's Responses API, or a server that speaks it: Azure, OpenRouter, LM Studio, vLLM and others.
 *
 * Nothing is stored at the provider (`store: false`): reasoning comes back encrypted, is kept in the message, and is sent with the next
 * request as it was. The same holds for the items of tools that the provider runs itself (web and file search, code interpreter, images,
 * remote MCP). Those tools, custom tools, `previous_response_id`, `background` and every other field go in by
 * `providerOptions: { openai: { … } }`: there `tools` and `include` come on top of what the request has, and items in `input` follow the
 * conversation, such as `{ type: 'mcp_approval_response', approval_request_id, approve: true }`. A custom tool's free text is the call's
 * `rawArguments`, and `{ input: text }` its arguments.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for a bad URL, header, model or profile. A call throws `ConfigurationError`
 * (`missing_key`) before anything is sent when a hosted provider has no key, and `AdapterError` for every failure of the world. No error
 * ever holds the key.
 *
 * ```ts
 * const engine = createEngine({ chat: openaiResponses({ model: 'gpt-5.4' }) });
 * await engine.chat('What is new?', { reasoning: 'low', providerOptions: { openai: { tools: [{ type: 'web_search' }] } } });
 * ```
 */
export function openaiResponses(options: OpenaiResponsesOptions): ChatAdapter {
  const { model, baseURL = 'https://api.openai.com/v1', profile, apiKey, fetch } = options;
  if (typeof model !== 'string' || model === '') {
    throw new ConfigurationError('invalid_option', 'openaiResponses needs the name of a model, such as { model: "gpt-5.4" }.');
  }
  const server: Server = { endpoint: responsesEndpoint(baseURL, profile), model, given: ownHeaders(options.headers), apiKey, fetch };
  return {
    provider: server.endpoint.profile.name,
    model,
    structuredOutput: true,
    stream: (request, context) => readAnswer(request, context, server),
    prepare: async (request, context) => showRequest(request, context, server),
  };
}

/** One configured adapter. */
interface Server {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly given: Headers;
  readonly apiKey: ApiKey | undefined;
  readonly fetch: Fetch | undefined;
}

async function* readAnswer(request: ChatRequest, context: AdapterContext, server: Server): AsyncGenerator<AdapterEvent, void, undefined> {
  const { signal, clock } = context;
  signal.throwIfAborted();
  const built = buildRequest(request, server.model, server.endpoint.profile);
  const outgoing = await withKey(built.body, server, context);
  const { about } = outgoing;
  signal.throwIfAborted();
  const exchange = new Exchange(signal);
  try {
    const response = await exchange.send(outgoing);
    if (!response.ok) throw errorFromResponse(response, await exchange.readText(), clock, about);
    const answer = new AnswerBody({ ...built, headers: response.headers, about, raw: request.raw === true });
    while (!answer.over) {
      const bytes = await exchange.read(() => answer.shown);
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

function showRequest(request: ChatRequest, context: AdapterContext, server: Server): PreparedRequest {
  const { profile, url } = server.endpoint;
  const { body, warnings } = buildRequest(request, server.model, profile);
  // No key is asked for; where one would be sent, its place is shown.
  const keyed = profile.needsKey || (server.apiKey ?? context.apiKey) !== undefined;
  return { url: shownUrl(url), method: 'POST', headers: shownHeaders(headersFor(server, keyed ? 'key' : undefined), url), body, warnings };
}

/** The request with its key. Throws `ConfigurationError` when the server wants one and there is none. */
async function withKey(body: string, server: Server, context: AdapterContext): Promise<Outgoing> {
  const { profile, url, address, isOwnHost } = server.endpoint;
  const { name, keyName, unreachableHint } = profile;
  const key = await keyFor(name, server.apiKey, context, isOwnHost && keyName ? environmentVariable(keyName) : undefined);
  if (key === undefined && profile.needsKey && !['authorization', 'api-key', 'x-api-key'].some(header => server.given.has(header))) {
    const how = isOwnHost ? `set ${keyName} in the environment, or pass apiKey` : 'pass apiKey';
    throw new ConfigurationError('missing_key', `${name} needs an API key: ${how} to openaiResponses.`, { provider: name });
  }
  const headers = headersFor(server, key);
  const secrets = [...(key === undefined ? [] : [key]), ...secretsIn(headers, url)];
  const about: ErrorContext = { provider: name, address, redact: redactor(secrets), ...(unreachableHint ? { unreachableHint } : {}) };
  return { url, headers, body, about, ...(server.fetch ? { fetch: server.fetch } : {}) };
}

function headersFor({ endpoint, given }: Server, key: string | undefined): Headers {
  const { keyHeader } = endpoint.profile;
  const headers = new Headers({ accept: 'text/event-stream', 'content-type': 'application/json' });
  if (key !== undefined) headers.set(keyHeader, keyHeader === 'api-key' ? key : `Bearer ${key}`);
  for (const [name, value] of given) headers.set(name, value);
  return headers;
}

function ownHeaders(given: OpenaiResponsesOptions['headers'] = {}): Headers {
  const headers = new Headers();
  for (const name of Object.keys(given)) {
    try {
      headers.set(name, given[name]!);
    } catch {
      // The platform's message would repeat the value.
      throw new ConfigurationError('invalid_option', `HTTP does not allow the name or the value of the header "${name}".`);
    }
  }
  return headers;
}
