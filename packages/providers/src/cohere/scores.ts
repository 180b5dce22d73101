import { isRecord, type RerankResponse } from '@antiphon/engine';
import { malformedAnswer } from '../http/call.js';
import type { ErrorContext } from '../http/errors.js';

/** The scores of a list `[{ index, relevance_score }]`. Whether there are enough, and each document's only once, the engine checks. */
export function readScores(list: unknown, about: ErrorContext): RerankResponse['results'] {
  if (!Array.isArray(list)) throw malformedAnswer(about, 'answered without a list of results');
  return (list as unknown[]).map((item, place) => {
    const { index, relevance_score: score } = isRecord(item) ? item : {};
    if (typeof index !== 'number' || typeof score !== 'number')
      throw malformedAnswer(about, `sent result ${place} without its index or score`);
    return { index, score };
  });
}
