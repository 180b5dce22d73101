import type { RerankAdapter, RerankResponse } from '../capabilities/rerank.js';
import { createEngine } from '../engine.js';
import { type ConformanceCase, caseMaker, expectEqual, frozen } from './conformance.js';
import { expectCompleted, type MakeAdapter, type RequestScenario, requestCases } from './request-conformance.js';

const REQUEST = frozen({ query: 'storms', documents: ['Sun', 'Hail', 'Wind'] });
const ANSWER: RerankResponse = { results: [{ index: 1, score: 0.9 }, { index: 2, score: 0.5 }, { index: 0, score: 0.1 }] }; // biome-ignore format: a table

/** The contract of `RerankAdapter` as cases for any test runner. `for (const { name, run } of rerankConformance(make)) test(name, run)` */
export function rerankConformance(make: MakeAdapter<RerankAdapter, RequestScenario<RerankResponse>>): ConformanceCase[] {
  return [
    ...requestCases(make, 'rerank', ANSWER, (adapter, context) => adapter.rerank(REQUEST, context)),
    caseMaker(make)('rerank: an engine takes its answers', { kind: 'answer', answer: ANSWER }, async ({ adapter }) => {
      const outcome = await createEngine({ rerank: adapter, retry: false }).rerank(REQUEST);
      expectCompleted(outcome);
      if (outcome.status === 'completed')
        expectEqual(
          outcome.results.map(({ document }) => document),
          ['Hail', 'Wind', 'Sun'],
          'the order',
        );
    }),
  ];
}
