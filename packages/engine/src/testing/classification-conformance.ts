import type { ClassificationAdapter, ClassificationResponse } from '../capabilities/classification.js';
import { choiceQuestion, scoreQuestion, yesNoQuestion } from '../capabilities/questions.js';
import { createEngine } from '../engine.js';
import { type ConformanceCase, caseMaker, expectEqual, frozen } from './conformance.js';
import { expectCompleted, type MakeAdapter, type RequestScenario, requestCases } from './request-conformance.js';

const REQUEST = frozen({
  state: 'Where is my parcel?!',
  questions: {
    mood: choiceQuestion('Which mood?', ['glad', 'angry']),
    anger: scoreQuestion('How angry?', ['calm', 'annoyed', 'furious']),
    urgent: yesNoQuestion('Must somebody act now?'),
  },
});
const ANSWER: ClassificationResponse = {
  answers: {
    mood: { type: 'choice', choice: 'angry', probabilities: { glad: 0.1, angry: 0.9 } },
    anger: { type: 'score', score: 1.5, probabilities: [0, 0.5, 0.5] },
    urgent: { type: 'yes_no', yes: 0.8 },
  },
};

/** The contract of `ClassificationAdapter` as cases. `for (const { name, run } of classificationConformance(make)) test(name, run)` */
export function classificationConformance(
  make: MakeAdapter<ClassificationAdapter, RequestScenario<ClassificationResponse>>,
): ConformanceCase[] {
  return [
    ...requestCases(make, 'classify', ANSWER, (adapter, context) => adapter.classify(REQUEST, context)),
    caseMaker(make)('classify: an engine takes its answers', { kind: 'answer', answer: ANSWER }, async ({ adapter }) => {
      const outcome = await createEngine({ classification: adapter, retry: false }).classify(REQUEST);
      expectCompleted(outcome);
      const { mood, anger, urgent } = outcome.answers;
      expectEqual([mood?.choice, anger?.score, urgent?.yes], ['angry', 1.5, 0.8], 'the answers');
    }),
  ];
}
