import { type AdapterContext, type AdapterEvent, type Burst, type ChatAdapter, type ChatRequest, inBursts } from '@antiphon/engine';
import { AnswerReader } from '../http/answer-reader.js';
import { readAnswer } from '../http/read-answer.js';
import type { ServiceOptions } from '../http/service.js';
import type { ProfileOption } from '../openai-chat/profiles.js';
import { type Server, serverFor } from '../openai-chat/server.js';
import { buildRequest } from './request.js';
import { ResponseReader } from './response-reader.js';

/** OpenAI's own server when `baseURL` is left out. */
export interface OpenaiResponsesOptions extends ServiceOptions {
  /** A profile's name, or flags on top of it; guessed from the base URL when it is left out. */
  readonly profile?: ProfileOption;
}

const DEFAULTS = { baseURL: 'https://api.openai.com/v1', path: '/responses', model: 'gpt-5.4' } as const;

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
  const server = serverFor('openaiResponses', options, DEFAULTS);
  const { model, profile } = server;
  return {
    provider: profile.name,
    model,
    structuredOutput: true,
    stream: (request, context) => inBursts(streamAnswer(request, context, server), context.signal),
    prepare: async (request, context) => server.shown(buildRequest(request, model, profile), context),
  };
}

async function* streamAnswer(request: ChatRequest, context: AdapterContext, server: Server): AsyncGenerator<Burst<AdapterEvent>, void> {
  context.signal.throwIfAborted();
  // Local checks before keys, keys before sockets.
  const { body, warnings, ownNames, toolNames, callable } = buildRequest(request, server.model, server.profile);
  const outgoing = await server.outgoing(body, context);
  const { about } = outgoing;
  yield* readAnswer(outgoing, context, headers => {
    const response = new ResponseReader(about.provider, toolNames, callable);
    return new AnswerReader(response.blocks, response, { headers, about, warnings, ownNames, raw: request.raw });
  });
}
