// Asking for the scores of documents, as it is the same for every server that speaks like Cohere.
import { type AdapterContext, isRecord, type RerankRequest, type RerankResponse, type Warning } from '@antiphon/engine';
import { fetchJson, malformedAnswer, refuse } from '../http/call.js';
import type { ErrorContext } from '../http/errors.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import type { Service } from '../http/service.js';

/** What one vendor calls it, and how much it takes. */
interface RerankDialect {
  /** Name of its provider options. */
  readonly vendor: string;
  /** Field for the number of results. */
  readonly top: 'top_n' | 'top_k';
  /** Field of the answer that holds the scores. */
  readonly scores: 'results' | 'data';
  readonly maxDocuments: number | undefined;
}

/** Throws `AdapterError` (`unsupported`) for more documents than the server takes. */
export async function askForScores(
  service: Service,
  request: RerankRequest,
  context: AdapterContext,
  { vendor, top, scores, maxDocuments }: RerankDialect,
): Promise<{ results: RerankResponse['results']; answer: Record<string, unknown>; about: ErrorContext; warnings: Warning[] }> {
  context.signal.throwIfAborted();
  const { query, documents, topN } = request;
  const { length } = documents;
  refuse(service.provider, [
    maxDocuments !== undefined && length > maxDocuments && `${length} documents are more than the ${maxDocuments} of one request`,
  ]);
  const warnings: Warning[] = [];
  const asked = {
    model: request.model ?? service.model,
    query,
    documents,
    ...(topN === undefined ? {} : { [top]: Math.min(topN, length) }),
  };
  const body = withOwnOptions(asked, ownOptions(request, service.provider, vendor), warnings);
  const outgoing = await service.outgoing('/rerank', body, context);
  const { about } = outgoing;
  const { value } = await fetchJson(outgoing, context);
  const answer = isRecord(value) ? value : {};
  return { results: readScores(answer[scores], about), answer, about, warnings };
}

/** The scores of a list `[{ index, relevance_score }]`. Whether there are enough, and each document's only once, the engine checks. */
function readScores(list: unknown, about: ErrorContext): RerankResponse['results'] {
  if (!Array.isArray(list)) throw malformedAnswer(about, 'answered without a list of results');
  return (list as unknown[]).map((item, place) => {
    const { index, relevance_score: score } = isRecord(item) ? item : {};
    if (typeof index !== 'number' || typeof score !== 'number')
      throw malformedAnswer(about, `sent result ${place} without its index or score`);
    return { index, score };
  });
}
