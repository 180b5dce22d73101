import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type JsonObject } from '../data/json.js';
import { providerOptions, type Rules, shown, text, wholeNumber } from '../data/rules.js';
import type { CapabilityOptions, CapabilityOutcome, CapabilityResponse } from './call.js';
import { checkedRequest } from './checks.js';
import { listOf } from './nested-rules.js';
import { malformed, refuseUnsupported } from './refusals.js';
import { type Call, type Runtime, runCall } from './run-call.js';

/** Texts to be put in order of how well they answer a query, as plain data. */
export interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  /** Overrides the adapter's model. */
  readonly model?: string;
  /** How many of the best to give; default all. */
  readonly topN?: number;
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

/** Scores in any order: `index` is the place of the text in `documents`. A higher score is a better match; scales differ by model. */
export interface RerankResponse extends CapabilityResponse {
  readonly results: readonly { readonly index: number; readonly score: number }[];
}

/** The contract of a reranking model. One request per call; failures as in the other contracts (`EmbeddingAdapter`). */
export interface RerankAdapter {
  readonly provider: string;
  readonly model: string;
  /** The most texts in one request. More are refused: scores of two requests need not be comparable. */
  readonly maxDocuments?: number;
  rerank(request: RerankRequest, context: AdapterContext): Promise<RerankResponse>;
}

/** Options of one call; they win over the request. */
export interface RerankOptions extends Partial<RerankRequest>, CapabilityOptions {}

/** A document with its score. */
export interface RankedDocument {
  /** Place in the request's `documents`. */
  readonly index: number;
  readonly score: number;
  readonly document: string;
}

/** How reranking ended: `results` with the best first. */
export type RerankOutcome = CapabilityOutcome<{ readonly results: readonly RankedDocument[] }, unknown>;

/**
 * Puts texts in order; the method of the engine.
 *
 * ```ts
 * const { results } = completed(await engine.rerank('storms', { documents, topN: 3 }));
 * ```
 */
export type Rerank = (input: string | RerankRequest, options?: RerankOptions) => Promise<RerankOutcome>;

const RULES: Rules = { query: text, documents: listOf(text, 'text'), model: text, topN: wholeNumber, providerOptions };

export function rerankWith(adapter: RerankAdapter, runtime: Runtime): Rerank {
  return async (input, options = {}) => {
    const given = isRecord(input) ? input : { query: input };
    const request = checkedRequest<RerankRequest>('rerank', given, options, { request: RULES, required: ['query', 'documents'] });
    const { documents, topN = documents.length } = request;
    let results: RankedDocument[] = [];
    const about = { method: 'rerank', adapter, request } as const;
    const work = async (call: Call) => {
      const most = adapter.maxDocuments ?? Number.POSITIVE_INFINITY;
      refuseUnsupported(adapter.provider, [documents.length > most && `${documents.length} documents are more than the ${most} it takes`]);
      results = await call.send(
        context => adapter.rerank(request, context),
        answer => readResults(answer, documents, Math.min(topN, documents.length), adapter.provider),
      );
    };
    return runCall(about, options, runtime, work, ({ status }) => (status === 'completed' ? { results } : {})) as Promise<RerankOutcome>;
  };
}

function readResults(answer: Record<string, unknown>, documents: readonly string[], wanted: number, provider: string): RankedDocument[] {
  if (!Array.isArray(answer.results)) throw malformed(provider, 'the answer has no list of results');
  const seen = new Set<number>();
  const ranked = (answer.results as unknown[]).map((result): RankedDocument => {
    const { index, score } = isRecord(result) ? result : {};
    const document = documents[index as number];
    if (document === undefined || seen.has(index as number)) {
      throw malformed(provider, `a result has the index ${shown(index)}, which is no document's or came before`);
    }
    if (typeof score !== 'number' || !Number.isFinite(score)) throw malformed(provider, `the score of document ${index} is no number`);
    seen.add(index as number);
    return { index: index as number, score, document };
  });
  if (ranked.length < wanted) throw malformed(provider, `${wanted} results were asked for and ${ranked.length} came`);
  // Equal scores keep the order of the documents.
  return ranked.sort((a, b) => b.score - a.score || a.index - b.index).slice(0, wanted);
}
