import { type AdapterContext, isRecord, type RerankAdapter, type RerankRequest, type RerankResponse, type Warning } from '@antiphon/engine';
import { fetchJson, refuse } from '../http/call.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { type Service, type ServiceOptions, serviceFor, type Vendor } from '../http/service.js';
import { namesOf, usageOf } from '../http/usage.js';
import { readScores } from './scores.js';

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
const PATH = '/rerank';
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
  const isOwn = COHERE.hosts.some(host => (options.baseURL ?? BASE_URL).includes(host));
  const service = serviceFor('cohereRerank', options, BASE_URL, [PATH], isOwn ? COHERE : OTHERS);
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
  maxDocuments = Number.POSITIVE_INFINITY,
): Promise<RerankResponse> {
  context.signal.throwIfAborted();
  const { query, documents, topN } = request;
  const { length } = documents;
  refuse(service.provider, [length > maxDocuments && `${length} documents are more than the ${maxDocuments} of one request`]);
  const warnings: Warning[] = [];
  const asked = {
    model: request.model ?? service.model,
    query,
    documents,
    ...(topN === undefined ? {} : { top_n: Math.min(topN, length) }),
  };
  const body = withOwnOptions(asked, ownOptions(request, service.provider, 'cohere'), warnings);
  const outgoing = await service.outgoing(PATH, body, context);
  const { value } = await fetchJson(outgoing, context);
  const answer = isRecord(value) ? value : {};
  const results = readScores(answer.results, outgoing.about);
  const { meta, usage } = answer;
  const { billed_units: billed, tokens, warnings: told } = isRecord(meta) ? meta : {};
  for (const message of Array.isArray(told) ? told : []) warnings.push({ code: 'other', message: outgoing.about.redact(String(message)) });
  const counts = {
    ...usageOf(billed, { searchUnits: 'search_units' }).usage,
    ...usageOf(tokens, { inputTokens: 'input_tokens', outputTokens: 'output_tokens' }).usage,
    // Cohere's own answers have none; other servers of its protocol do. Nothing is generated: the total is the input where that is not told.
    ...usageOf(usage, { inputTokens: 'total_tokens' }).usage,
    ...usageOf(usage, { inputTokens: 'prompt_tokens', outputTokens: 'completion_tokens', totalTokens: 'total_tokens' }).usage,
  };
  return { results, ...namesOf(answer), ...(Object.keys(counts).length > 0 ? { usage: counts } : {}), warnings };
}
