import type { ModerationAdapter, ModerationResponse } from '../capabilities/moderation.js';
import { createEngine } from '../engine.js';
import { type ConformanceCase, caseMaker, expectEqual, expectThat, frozen } from './conformance.js';
import { expectCompleted, type MakeAdapter, type RequestScenario, requestCases } from './request-conformance.js';

const INPUT = frozen(['Hello', 'I will find you']);
const ANSWER: ModerationResponse = {
  results: [
    { index: 0, flagged: false, categories: { threat: false }, scores: { threat: 0.01 } },
    { index: 1, flagged: true, categories: { threat: true }, scores: { threat: 0.97 } },
  ],
};

/** The contract of `ModerationAdapter` as cases for any test runner. `for (const { name, run } of moderationConformance(make)) test(name, run)` */
export function moderationConformance(make: MakeAdapter<ModerationAdapter, RequestScenario<ModerationResponse>>): ConformanceCase[] {
  return [
    ...requestCases(make, 'moderate', ANSWER, (adapter, context) => adapter.moderate({ input: INPUT }, context)),
    caseMaker(make)('moderate: an engine takes its answers', { kind: 'answer', answer: ANSWER }, async ({ adapter }) => {
      expectThat(adapter.maxBatchSize >= 1, `maxBatchSize is ${adapter.maxBatchSize}`);
      const outcome = await createEngine({ moderation: adapter, retry: false }).moderate(INPUT);
      expectCompleted(outcome);
      expectEqual(
        outcome.results.map(result => result?.flagged),
        [false, true],
        'the verdicts',
      );
      expectEqual(outcome.results[1]?.scores, { threat: 0.97 }, 'the scores');
    }),
  ];
}
