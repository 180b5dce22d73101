import { type AdapterContext, isRecord, type RerankAdapter, type RerankRequest, type RerankResponse } from '@antiphon/engine';
import { type Service, type ServiceOptions, serviceFor, type Vendor } from '../http/service.js';
import { namesOf, usageOf } from '../http/usage.js';
import { askForScores } from './scores.js';

/** Options of `cohereRerank`. */
export interface CohereRerankOptions extends ServiceOptions {}

/** Cohere. Its key is sent to its own hosts only. */
const COHERE: Vendor = {
  name: 'cohere',
  hosts: ['api.cohere.com', 'api.cohere.ai'],
  root: '/v2',
  keyNames: ['CO_API_KEY', 'COHERE_API_KEY'],
  needsKey: true,
  keyHeader: 'authorization',
};
/** Everybody else has it under `/v1`. */
const OTHERS: Vendor = { ...COHERE, root: '/v1' };
const BASE_URL = 'https://api.cohere.com/v2';
/** Documents in one request (Cohere's guide to reranking). */
const MAX_DOCUMENTS = 10_000;

/**
 * A reranking model of Cohere, or of a server that speaks its `/rerank` (Together, Jina, vLLM, llama.cpp): set `baseURL` to it. Further
 * fields, such as `max_tokens_per_doc`, go through `providerOptions: { cohere: { … } }`.
 *
 * Errors as in `openaiEmbeddings`. The key is `CO_API_KEY` or `COHERE_API_KEY` when none is given.
 *
 * ```ts
 * const engine = createEngine({ rerank: cohereRerank({ model: 'rerank-v3.5' }) });
 * const { results } = completed(await engine.rerank('storms', { documents, topN: 3 }));
 * ```
 */
export function cohereRerank(options: CohereRerankOptions): RerankAdapter {
  const { baseURL = BASE_URL } = options;
  const isOwn = URL.canParse(baseURL) && COHERE.hosts.includes(new URL(baseURL).hostname);
  const service = serviceFor('cohereRerank', options, BASE_URL, ['/rerank'], isOwn ? COHERE : OTHERS);
  const maxDocuments = service.provider === COHERE.name ? MAX_DOCUMENTS : undefined;
  return {
    provider: service.provider,
    model: service.model,
    ...(maxDocuments === undefined ? {} : { maxDocuments }),
    rerank: (request, context) => rerank(service, request, context, maxDocuments),
  };
}

async function rerank(
  service: Service,
  request: RerankRequest,
  context: AdapterContext,
  maxDocuments: number | undefined,
): Promise<RerankResponse> {
  const dialect = { vendor: COHERE.name, top: 'top_n', scores: 'results', maxDocuments } as const;
  const { results, answer, about, warnings } = await askForScores(service, request, context, dialect);
  const { meta, usage } = answer;
  const { billed_units: billed, tokens, warnings: told } = isRecord(meta) ? meta : {};
  for (const message of Array.isArray(told) ? told : []) warnings.push({ code: 'other', message: about.redact(String(message)) });
  const counts = {
    ...usageOf(billed, { searchUnits: 'search_units' }).usage,
    ...usageOf(tokens, { inputTokens: 'input_tokens', outputTokens: 'output_tokens' }).usage,
    // Cohere's own answers have none; other servers of its protocol do. Nothing is generated: the total is the input where that is not told.
    ...usageOf(usage, { inputTokens: 'total_tokens' }).usage,
    ...usageOf(usage, { inputTokens: 'prompt_tokens', outputTokens: 'completion_tokens', totalTokens: 'total_tokens' }).usage,
  };
  return { results, ...namesOf(answer), ...(Object.keys(counts).length > 0 ? { usage: counts } : {}), warnings };
}
