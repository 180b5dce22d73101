import type { ClassificationAdapter, ClassificationRequest, ClassificationResponse } from '../capabilities/classification.js';
import type { ChoiceAnswer, Question, ScoreAnswer, YesNoAnswer } from '../capabilities/questions.js';
import { AdapterError } from '../errors.js';
import { Script, type Scripted, type Turns } from './scripted-turns.js';

/** A whole answer, or its heart: the option of a choice, the score, the probability of yes (or true and false). */
export type ScriptedAnswer = string | number | boolean | ChoiceAnswer | ScoreAnswer | YesNoAnswer;
/** Answers by the ids of their questions. */
export interface ScriptedAnswers extends Omit<ClassificationResponse, 'answers'> {
  readonly answers: { readonly [id: string]: ScriptedAnswer };
}
export interface ScriptedClassification extends ClassificationAdapter, Scripted<ClassificationRequest> {}

/**
 * A classifier for tests. One call more than there are turns fails with `script_exhausted`, and so does a question without an answer.
 *
 * ```ts
 * const classification = scriptedClassification([{ answers: { mood: 'angry', urgent: 0.8 } }]);
 * const questions = { mood: choiceQuestion('Which mood?', ['glad', 'angry']), urgent: yesNoQuestion('Urgent?') };
 * const outcome = await createEngine({ classification }).classify('Where is it?!', { questions });
 * ```
 */
export function scriptedClassification(
  turns: Turns<ClassificationRequest, ScriptedAnswers>,
  options: { readonly model?: string; readonly maxQuestions?: number; readonly maxOptions?: number; readonly maxLevels?: number } = {},
): ScriptedClassification {
  const { model = 'scripted', maxQuestions = 20, maxOptions = 255, maxLevels = 10 } = options;
  const script = new Script(turns);
  return {
    provider: 'scripted',
    model,
    maxQuestions,
    maxOptions,
    maxLevels,
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    async classify(request, context) {
      const asked = Object.entries(request.questions);
      const tooMany = ([, question]: readonly [string, Question]) =>
        (question.type === 'choice' && Object.keys(question.options).length > maxOptions) ||
        (question.type === 'score' && question.levels.length > maxLevels);
      const { answers, ...about } = await script.answer(request, context, [
        asked.length === 0 && 'there is no question',
        asked.length > maxQuestions && `${asked.length} questions are more than ${maxQuestions}`,
        asked.some(tooMany) && 'a question has too many options or levels',
      ]);
      const told = asked.map(([id, question]) => {
        const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
        if (answer !== undefined) return [id, whole(question, answer)];
        throw new AdapterError('script_exhausted', `The turn has no answer to the question "${id}".`, { provider: 'scripted' });
      });
      return { model: request.model ?? model, ...about, answers: Object.fromEntries(told) };
    },
  };
}

function whole(question: Question, answer: ScriptedAnswer): unknown {
  if (typeof answer === 'object') return answer;
  switch (question.type) {
    case 'choice': {
      const probabilities = Object.fromEntries(Object.keys(question.options).map(option => [option, option === answer ? 1 : 0]));
      return { type: 'choice', choice: answer, probabilities, confidence: 1 };
    }
    case 'score': {
      // A score between two levels shares its probability out between them.
      const probabilities = question.levels.map((_, level) => Math.max(0, 1 - Math.abs(level - Number(answer))));
      return { type: 'score', score: answer, probabilities, confidence: 1 };
    }
    case 'yes_no':
      return { type: 'yes_no', yes: Number(answer) };
  }
}
