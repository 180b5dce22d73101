import type { RerankAdapter, RerankRequest, RerankResponse } from '../capabilities/rerank.js';
import { Script, type Scripted, type Turns } from './scripted-turns.js';

/** Scores in the order of the documents, or a whole response. */
export type ScriptedScores = readonly number[] | RerankResponse;
export interface ScriptedRerank extends RerankAdapter, Scripted<RerankRequest> {}

/**
 * A reranking model for tests. One call more than there are turns fails with `script_exhausted`.
 *
 * ```ts
 * const rerank = scriptedRerank([[0.1, 0.9]]);
 * const outcome = await createEngine({ rerank }).rerank('storms', { documents: ['Sun', 'Hail'] });
 * ```
 */
export function scriptedRerank(
  turns: Turns<RerankRequest, ScriptedScores>,
  options: { readonly model?: string; readonly maxDocuments?: number } = {},
): ScriptedRerank {
  const { model = 'scripted', maxDocuments = 1000 } = options;
  const script = new Script(turns);
  return {
    provider: 'scripted',
    model,
    maxDocuments,
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    async rerank(request, context) {
      const { documents, query, topN = documents.length } = request;
      const answer = await script.answer(request, context, [
        query === '' && 'there is no query',
        (documents.length === 0 || documents.includes('')) && 'there is no document, or an empty one',
        documents.length > maxDocuments && `${documents.length} documents are more than ${maxDocuments}`,
      ]);
      if ('results' in answer) return answer;
      const results = answer.map((score, index) => ({ index, score })).sort((a, b) => b.score - a.score);
      return { results: results.slice(0, topN), model: request.model ?? model };
    },
  };
}
