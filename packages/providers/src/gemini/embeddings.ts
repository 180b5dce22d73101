import { type EmbeddingAdapter, type EmbeddingRequest, isRecord, normalize, type Warning } from '@antiphon/engine';
import { fetchJson, malformedAnswer, refuse } from '../http/call.js';
import { ownOptions } from '../http/own-options.js';
import { unsupportedSetting } from '../http/warnings.js';

import { endpointFor, type GeminiOptions, modelPath, PROVIDER } from './endpoint.js';
import { readUsage } from './usage.js';

/** Texts in one request; the API refuses more. */
const MAX_TEXTS = 100;
/** The full width, at which the API's vectors have length 1; shorter ones are cut from it and do not. */
const FULL_WIDTH = 3072;

const TASKS = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  similarity: 'SEMANTIC_SIMILARITY',
} as const;

/**
 * Vectors of texts from the Gemini API (`batchEmbedContents`), up to 100 texts a request. Vectors that are shorter than the model's own
 * are scaled to length 1, as the full ones are. All tasks are known; `gemini-embedding-2` has none, which is told in a warning.
 *
 * Throws as `gemini` does. `truncate: false` is refused (`unsupported`), because the API cuts long texts without a word.
 *
 * ```ts
 * const engine = createEngine({ embeddings: geminiEmbeddings({ model: 'gemini-embedding-001' }) });
 * ```
 */
export function geminiEmbeddings(options: GeminiOptions): EmbeddingAdapter {
  const endpoint = endpointFor('geminiEmbeddings', options);
  return {
    provider: PROVIDER,
    model: options.model,
    maxBatchSize: MAX_TEXTS,
    async embed(request, context) {
      context.signal.throwIfAborted();
      const model = request.model ?? options.model;
      const warnings: Warning[] = [];
      const body = bodyOf(request, model, warnings);
      const outgoing = await endpoint.outgoing('batchEmbedContents', model, body, context);
      const { value } = await fetchJson(outgoing, context);
      const list = isRecord(value) ? value.embeddings : undefined;
      if (!isRecord(value) || !Array.isArray(list)) throw malformedAnswer(outgoing.about, 'sent an answer without embeddings');
      const dimensions = ownOptions(request, PROVIDER).outputDimensionality ?? request.dimensions;
      const usage = isRecord(value.usageMetadata) ? readUsage(value.usageMetadata) : {};
      return {
        embeddings: list.map((item, index) => ({ index, vector: scaled(isRecord(item) ? (item.values as number[]) : [], dimensions) })),
        usage,
        model,
        warnings,
      };
    },
  };
}

function bodyOf({ input, dimensions, task, truncate, providerOptions }: EmbeddingRequest, model: string, warnings: Warning[]): string {
  refuse(PROVIDER, [
    input.length > MAX_TEXTS && `${input.length} texts are more than the ${MAX_TEXTS} of one request`,
    truncate === false && 'it cuts texts that are too long and cannot be made to fail (truncate: false)',
  ]);
  const hasTasks = !model.includes('embedding-2');
  if (task !== undefined && !hasTasks) {
    warnings.push(unsupportedSetting('task', `${model} has no setting for the task; it reads what a text is for in the text itself.`));
  }
  const requests = input.map(text => ({
    model: modelPath(model),
    content: { parts: [{ text }] },
    taskType: task !== undefined && hasTasks ? TASKS[task] : undefined,
    outputDimensionality: dimensions,
    ...ownOptions({ providerOptions }, PROVIDER),
  }));
  return JSON.stringify({ requests });
}

function scaled(vector: number[], dimensions: unknown): readonly number[] {
  return dimensions === undefined || dimensions === FULL_WIDTH || !Array.isArray(vector) || vector.length === 0
    ? vector
    : normalize(vector);
}
