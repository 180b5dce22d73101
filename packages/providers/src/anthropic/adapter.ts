import {
  type AdapterContext,
  type AdapterEvent,
  BlockWriter,
  type Burst,
  type ChatAdapter,
  type ChatRequest,
  ConfigurationError,
  inBursts,
} from '@antiphon/engine';
import { AnswerReader } from '../http/answer-reader.js';
import { checkedHeaders, checkedModel } from '../http/checks.js';
import type { Fetch } from '../http/exchange.js';
import { type ApiKey, keyFor } from '../http/keys.js';
import { outgoing, requestHeaders, shownRequest } from '../http/outgoing.js';
import { readAnswer } from '../http/read-answer.js';
import { joinBetas } from './betas.js';
import { DEFAULT_BASE_URL, type Endpoint, KEY_NAME, PROVIDER, resolveEndpoint } from './endpoint.js';
import { traitsOf } from './models.js';
import { type BuiltRequest, buildRequest } from './request.js';
import { MessageReader } from './stream.js';

export interface AnthropicOptions {
  /** The model's name, such as `claude-sonnet-5-5`. */
  readonly model: string;
  /** Where the server is, with or without `/v1`; Anthropic's own API when it is left out. */
  readonly baseURL?: string;
  /** The key, or a function that is asked before each request. Left out, `ANTHROPIC_API_KEY` is read at Anthropic's own host. */
  readonly apiKey?: ApiKey;
  /** Sent with each request, over what the adapter sends itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Tokens of an answer, thinking included, when a request does not say; left out, as many as the model can give. */
  readonly maxTokens?: number;
  /** Instead of the platform's `fetch`, for tests and proxies. */
  readonly fetch?: Fetch;
  /** The `anthropic-version` header. */
  readonly version?: string;
  /** Beta features for the `anthropic-beta` header, such as `context-management-2025-06-27`. */
  readonly betas?: readonly string[];
}

const DEFAULT_VERSION = '2023-06-01';

/**
 * A Claude model behind Anthropic's Messages API, or another server that speaks it. What a model can do (how it thinks, whether it takes a
 * temperature, how long an answer may be) is data, looked up by its name. Thinking, citations, the server's own tools and everything else that
 * must go back stands in `providerState.anthropic` of the parts and is sent back as it came. `providerOptions.anthropic` holds further fields
 * of the request: `tools` of the server, `betas`, `disable_parallel_tool_use`, `container`, `top_k` and so on.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for a bad URL, header, model or number. A call throws `ConfigurationError`
 * (`missing_key`) before anything is sent when there is no key, and `AdapterError` for every failure of the world. No error ever holds the key.
 *
 * ```ts
 * const engine = createEngine({ chat: anthropic({ model: 'claude-sonnet-5-5' }) });
 * await engine.chat('What happened today?', {
 *   providerOptions: { anthropic: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] } },
 * });
 * ```
 */
export function anthropic(options: AnthropicOptions): ChatAdapter {
  const { baseURL = DEFAULT_BASE_URL, maxTokens } = options;
  const model = checkedModel('anthropic', options.model, 'claude-sonnet-5-5');
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens > 0)) {
    throw new ConfigurationError('invalid_option', `maxTokens must be a positive whole number, not ${String(maxTokens)}.`);
  }
  const settings: Settings = { ...options, endpoint: resolveEndpoint(baseURL), given: givenHeaders(options) };
  const traits = traitsOf(model);
  return {
    provider: PROVIDER,
    model,
    structuredOutput: traits.structuredOutput,
    continuation: traits.prefill,
    stream: (request, context) => inBursts(streamAnswer(request, context, settings), context.signal),
    async prepare(request, context) {
      const built = buildRequest(request, settings);
      // No key is asked for; where one would be sent, its place is shown.
      const hasKey = settings.apiKey !== undefined || context.apiKey !== undefined || settings.endpoint.isOwnHost;
      return shownRequest(settings.endpoint.url, headersOf(settings, hasKey ? 'key' : undefined, built), built);
    },
  };
}

interface Settings extends AnthropicOptions {
  readonly endpoint: Endpoint;
  readonly given: Headers;
}

async function* streamAnswer(request: ChatRequest, context: AdapterContext, settings: Settings): AsyncGenerator<Burst<AdapterEvent>, void> {
  const { fetch, apiKey, given } = settings;
  const { url, isOwnHost, keyOwner } = settings.endpoint;
  context.signal.throwIfAborted();
  // Local checks before keys, keys before sockets.
  const built = buildRequest(request, settings);
  const { body, warnings, ownNames } = built;
  const keyNames = isOwnHost ? [KEY_NAME] : [];
  const key = await keyFor({ provider: keyOwner, factory: 'anthropic', apiKey, keyNames, needsKey: isOwnHost, given }, context);
  const sent = outgoing(PROVIDER, { url, headers: headersOf(settings, key, built), body, fetch });
  const { about } = sent;
  const open = (headers: Headers) => {
    const blocks = new BlockWriter();
    return new AnswerReader(blocks, new MessageReader(blocks, url), { headers, about, warnings, ownNames, raw: request.raw });
  };
  // While a tool runs on the server only pings come.
  yield* readAnswer(sent, context, open, { onSilence: () => context.deadline?.restart() });
}

function headersOf({ given, version = DEFAULT_VERSION, betas = [] }: Settings, key: string | undefined, built: BuiltRequest): Headers {
  const headers = requestHeaders('text/event-stream', 'x-api-key', key, given);
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', version);
  // Features add up, wherever they are asked for.
  const asked = joinBetas([...betas, ...(given.get('anthropic-beta') ?? '').split(','), ...built.betas], built.replayBetas);
  if (asked.length > 0) headers.set('anthropic-beta', asked.join(','));
  return headers;
}

function givenHeaders({ headers, version, betas }: AnthropicOptions): Headers {
  const checked = checkedHeaders({
    ...(version === undefined ? {} : { 'anthropic-version': version }),
    'anthropic-beta': (betas ?? []).join(','),
    ...headers,
  });
  // Put together with those of a request later.
  if (checked.get('anthropic-beta') === '') checked.delete('anthropic-beta');
  return checked;
}
