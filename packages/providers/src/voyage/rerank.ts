import { type AdapterContext, isRecord, type RerankAdapter, type RerankRequest, type RerankResponse, type Warning } from '@antiphon/engine';
import { readScores } from '../cohere/scores.js';
import { fetchJson, refuse } from '../http/call.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
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
  context.signal.throwIfAborted();
  const { query, documents, topN } = request;
  const { length } = documents;
  refuse(service.provider, [length > MAX_DOCUMENTS && `${length} documents are more than the ${MAX_DOCUMENTS} of one request`]);
  const warnings: Warning[] = [];
  const asked = {
    model: request.model ?? service.model,
    query,
    documents,
    ...(topN === undefined ? {} : { top_k: Math.min(topN, length) }),
  };
  const body = withOwnOptions(asked, ownOptions(request, service.provider, 'voyage'), warnings);
  const outgoing = await service.outgoing('/rerank', body, context);
  const { value } = await fetchJson(outgoing, context);
  const answer = isRecord(value) ? value : {};
  const results = readScores(answer.data, outgoing.about);
  // Nothing is generated: the total is the input.
  const counts = usageOf(answer.usage, { inputTokens: 'total_tokens', totalTokens: 'total_tokens' });
  return { results, ...namesOf(answer), ...counts, warnings };
}
