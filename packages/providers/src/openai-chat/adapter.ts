import {
  type AdapterContext,
  type AdapterEvent,
  BlockWriter,
  type Burst,
  type ChatAdapter,
  type ChatRequest,
  inBursts,
} from '@antiphon/engine';
import { AnswerReader } from '../http/answer-reader.js';
import { readAnswer } from '../http/read-answer.js';
import type { ServiceOptions } from '../http/service.js';
import type { ProfileOption } from './profiles.js';
import { buildRequest } from './request.js';
import { type Server, serverFor } from './server.js';
import { ChunkReader } from './stream.js';

/** A local Ollama when `baseURL` is left out. */
export interface OpenaiChatOptions extends ServiceOptions {
  /** A profile's name, or flags on top of it; guessed from the base URL when it is left out. */
  readonly profile?: ProfileOption;
}

const DEFAULTS = { baseURL: 'http://127.0.0.1:11434/v1', path: '/chat/completions', model: 'qwen3:8b' } as const;

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
  const server = serverFor('openaiChat', options, DEFAULTS);
  const { model, profile } = server;
  return {
    provider: profile.name,
    model,
    structuredOutput: profile.structuredOutput,
    stream: (request, context) => inBursts(streamAnswer(request, context, server), context.signal),
    prepare: async (request, context) => server.shown(buildRequest(request, model, profile), context),
  };
}

async function* streamAnswer(request: ChatRequest, context: AdapterContext, server: Server): AsyncGenerator<Burst<AdapterEvent>, void> {
  const { model, profile } = server;
  context.signal.throwIfAborted();
  // Local checks before keys, keys before sockets.
  const { body, warnings, ownNames } = buildRequest(request, model, profile);
  const outgoing = await server.outgoing(body, context);
  yield* readAnswer(outgoing, context, headers => {
    const blocks = new BlockWriter();
    return new AnswerReader(blocks, new ChunkReader(blocks, profile), {
      headers,
      about: outgoing.about,
      warnings,
      ownNames,
      raw: request.raw,
    });
  });
}
