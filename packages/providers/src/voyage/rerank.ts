import type { AdapterContext, RerankAdapter, RerankRequest, RerankResponse } from '@antiphon/engine';
import { askForScores } from '../cohere/scores.js';
import { type Service, type ServiceOptions, serviceFor } from '../http/service.js';
import { namesOf, usageOf } from '../http/usage.js';
import { VOYAGE, VOYAGE_BASE_URL, VOYAGE_PATHS } from './vendor.js';

/** Options of `voyageRerank`. */
export interface VoyageRerankOptions extends ServiceOptions {}

/** Documents in one request (Voyage API reference, `documents`). */
const MAX_DOCUMENTS = 1000;

/**
 * A reranking model of Voyage AI. Query and documents that are too long are cut, unless `providerOptions: { voyage: { truncation: false } }`
 * asks for a failure.
 *
 * Errors as in `openaiEmbeddings`. The key is `VOYAGE_API_KEY` when none is given.
 *
 * ```ts
 * const engine = createEngine({ rerank: voyageRerank({ model: 'rerank-2.5' }) });
 * const { results } = completed(await engine.rerank('storms', { documents, topN: 3 }));
 * ```
 */
export function voyageRerank(options: VoyageRerankOptions): RerankAdapter {
  const service = serviceFor('voyageRerank', options, VOYAGE_BASE_URL, VOYAGE_PATHS, VOYAGE);
  return {
    provider: service.provider,
    model: service.model,
    maxDocuments: MAX_DOCUMENTS,
    rerank: (request, context) => rerank(service, request, context),
  };
}

async function rerank(service: Service, request: RerankRequest, context: AdapterContext): Promise<RerankResponse> {
  const dialect = { vendor: VOYAGE.name, top: 'top_k', scores: 'data', maxDocuments: MAX_DOCUMENTS } as const;
  const { results, answer, warnings } = await askForScores(service, request, context, dialect);
  // Nothing is generated: the total is the input.
  const counts = usageOf(answer.usage, { inputTokens: 'total_tokens', totalTokens: 'total_tokens' });
  return { results, ...namesOf(answer), ...counts, warnings };
}
