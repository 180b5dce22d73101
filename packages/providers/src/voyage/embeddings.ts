import type { AdapterContext, EmbeddingAdapter, EmbeddingRequest, EmbeddingResponse, JsonObject, Warning } from '@antiphon/engine';
import { refuse } from '../http/call.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { type Service, type ServiceOptions, serviceFor } from '../http/service.js';
import { unsupportedSetting } from '../http/warnings.js';
import { askForVectors } from '../openai-embeddings/vectors.js';
import { VOYAGE, VOYAGE_BASE_URL, VOYAGE_PATHS } from './vendor.js';

/** Options of `voyageEmbeddings`. */
export interface VoyageEmbeddingsOptions extends ServiceOptions {}

/** Texts in one request (Voyage API reference, `input`). Their tokens are limited too, by model; only the server can count them. */
const MAX_TEXTS = 1000;

/**
 * An embedding model of Voyage AI. Its models know two tasks, `query` and `document`; other tasks come back as a warning. Texts that are too
 * long are cut unless `truncate` is false. Further fields, such as `output_dtype`, go through `providerOptions: { voyage: { … } }`.
 *
 * Errors as in `openaiEmbeddings`. The key is `VOYAGE_API_KEY` when none is given.
 *
 * ```ts
 * const engine = createEngine({ embeddings: voyageEmbeddings({ model: 'voyage-3.5' }) });
 * const outcome = await engine.embed(texts, { task: 'document', dimensions: 512 });
 * ```
 */
export function voyageEmbeddings(options: VoyageEmbeddingsOptions): EmbeddingAdapter {
  const service = serviceFor('voyageEmbeddings', options, VOYAGE_BASE_URL, VOYAGE_PATHS, VOYAGE);
  return {
    provider: service.provider,
    model: service.model,
    maxBatchSize: MAX_TEXTS,
    embed: (request, context) => embed(service, request, context),
  };
}

async function embed(service: Service, request: EmbeddingRequest, context: AdapterContext): Promise<EmbeddingResponse> {
  context.signal.throwIfAborted();
  const { length } = request.input;
  const own = ownOptions(request, service.provider, 'voyage');
  const packed = own.output_dtype !== undefined && own.output_dtype !== 'float';
  refuse(service.provider, [
    length > MAX_TEXTS && `${length} texts are more than the ${MAX_TEXTS} of one request`,
    packed &&
      own.encoding_format === 'base64' &&
      `base64 is read as 32-bit floats, so output_dtype ${JSON.stringify(own.output_dtype)} needs lists`,
  ]);
  const warnings: Warning[] = [];
  const body = withOwnOptions(bodyOf(service, request, warnings), own, warnings);
  // Nothing is generated: the total is the input.
  const answer = await askForVectors(service, body, context, { inputTokens: 'total_tokens', totalTokens: 'total_tokens' });
  return { ...answer, warnings };
}

function bodyOf({ provider, model }: Service, request: EmbeddingRequest, warnings: Warning[]): JsonObject {
  const { input, dimensions, task, truncate } = request;
  const inputType = task === 'query' || task === 'document' ? task : undefined;
  if (task !== undefined && inputType === undefined) {
    warnings.push(unsupportedSetting('task', `${provider} knows the tasks query and document; "${task}" was not sent.`));
  }
  return {
    model: request.model ?? model,
    input,
    ...(inputType === undefined ? {} : { input_type: inputType }),
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    ...(truncate === undefined ? {} : { truncation: truncate }),
  };
}
