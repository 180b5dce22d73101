import type { ChatAdapter } from '@antiphon/engine';
import type { ServiceOptions } from '../http/service.js';
import type { ProfileOption } from '../openai-chat/profiles.js';
import { adapterFor, type Protocol } from '../openai-chat/server.js';
import { type BuiltResponsesRequest, buildRequest } from './request.js';
import { ResponseReader } from './response-reader.js';

/** OpenAI's own server when `baseURL` is left out. */
export interface OpenaiResponsesOptions extends ServiceOptions {
  /** A profile's name, or flags on top of it; guessed from the base URL when it is left out. */
  readonly profile?: ProfileOption;
}

const RESPONSES: Protocol<BuiltResponsesRequest> = {
  factory: 'openaiResponses',
  baseURL: 'https://api.openai.com/v1',
  path: '/responses',
  exampleModel: 'gpt-5.4',
  structuredOutput: () => true,
  build: buildRequest,
  read({ name }, { toolNames, callable }) {
    const parser = new ResponseReader(name, toolNames, callable);
    return { blocks: parser.blocks, parser };
  },
};

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
  return adapterFor(options, RESPONSES);
}
