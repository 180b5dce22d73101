import type { AdapterContext, EmbeddingAdapter, EmbeddingRequest, EmbeddingResponse, JsonObject, Warning } from '@antiphon/engine';
import { refuse } from '../http/call.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { type Service, type ServiceOptions, serviceFor } from '../http/service.js';
import { unsupportedSetting } from '../http/warnings.js';
import { askForVectors } from './vectors.js';

/** Options of `openaiEmbeddings`. */
export interface OpenaiEmbeddingsOptions extends ServiceOptions {
  /** The most texts in one request, for servers that take fewer than OpenAI's 2048. */
  readonly maxBatchSize?: number;
}

const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
/** Texts in one request (OpenAI API reference, `input`). Tokens in one request are limited too, but only the server can count them. */
const MAX_TEXTS = 2048;

/**
 * An embedding model behind OpenAI's `/embeddings`: OpenAI, Azure, Ollama, llama.cpp, vLLM, Mistral, Together and others. The server is
 * OpenAI unless `baseURL` names another.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for bad options; a call throws `missing_key` before anything is sent, and
 * `AdapterError` for every failure of the world: a text, or a whole batch, with too many tokens is `context_length_exceeded` (the engine
 * halves such a batch).
 *
 * ```ts
 * const engine = createEngine({ embeddings: openaiEmbeddings({ model: 'text-embedding-3-small' }) });
 * const local = openaiEmbeddings({ model: 'nomic-embed-text', baseURL: 'http://127.0.0.1:11434/v1' });
 * ```
 */
export function openaiEmbeddings(options: OpenaiEmbeddingsOptions): EmbeddingAdapter {
  const service = serviceFor('openaiEmbeddings', options, DEFAULT_BASE_URL, ['/embeddings']);
  return {
    provider: service.provider,
    model: service.model,
    maxBatchSize: options.maxBatchSize ?? MAX_TEXTS,
    embed: (request, context) => embed(service, request, context),
  };
}

async function embed(service: Service, request: EmbeddingRequest, context: AdapterContext): Promise<EmbeddingResponse> {
  context.signal.throwIfAborted();
  const { provider } = service;
  const { length } = request.input;
  refuse(provider, [length > MAX_TEXTS && `${length} texts are more than the ${MAX_TEXTS} of one request`]);
  const warnings: Warning[] = [];
  const body = withOwnOptions(bodyOf(service, request, warnings), ownOptions(request, provider, 'openai'), warnings);
  const answer = await askForVectors(service, body, context, { inputTokens: 'prompt_tokens', totalTokens: 'total_tokens' });
  return { ...answer, warnings };
}

function bodyOf({ provider, model }: Service, request: EmbeddingRequest, warnings: Warning[]): JsonObject {
  const { input, dimensions, task, truncate } = request;
  const isOpenai = provider === 'openai' || provider === 'azure';
  if (task !== undefined) warnings.push(unsupportedSetting('task', `${provider} makes no difference between tasks; it was not sent.`));
  if (truncate === true && isOpenai) {
    warnings.push(unsupportedSetting('truncate', `${provider} never cuts a text: one that is too long fails the request.`));
  }
  if (truncate !== undefined && !isOpenai) {
    warnings.push(unsupportedSetting('truncate', `${provider} has no such setting; whether it cuts long texts is its own choice.`));
  }
  return {
    model: request.model ?? model,
    input,
    ...(dimensions === undefined ? {} : { dimensions }),
    // A third of the bytes of written numbers. Other servers may not know it, and their default is a list of numbers.
    ...(isOpenai ? { encoding_format: 'base64' } : {}),
  };
}
