import { BlockWriter, type ChatAdapter } from '@antiphon/engine';
import type { ServiceOptions } from '../http/service.js';
import type { ProfileOption } from './profiles.js';
import { type BuiltRequest, buildRequest } from './request.js';
import { adapterFor, type Protocol } from './server.js';
import { ChunkReader } from './stream.js';

/** A local Ollama when `baseURL` is left out. */
export interface OpenaiChatOptions extends ServiceOptions {
  /** A profile's name, or flags on top of it; guessed from the base URL when it is left out. */
  readonly profile?: ProfileOption;
}

const CHAT_COMPLETIONS: Protocol<BuiltRequest> = {
  factory: 'openaiChat',
  baseURL: 'http://127.0.0.1:11434/v1',
  path: '/chat/completions',
  exampleModel: 'qwen3:8b',
  structuredOutput: profile => profile.structuredOutput,
  build: buildRequest,
  read(profile) {
    const blocks = new BlockWriter();
    return { blocks, parser: new ChunkReader(blocks, profile) };
  },
};

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
  return adapterFor(options, CHAT_COMPLETIONS);
}
