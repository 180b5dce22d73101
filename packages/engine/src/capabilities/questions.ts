// The typed questions of classification, and what an answer to each must look like.
import { isRecord } from '../data/json.js';
import type { Issue } from '../errors.js';
import { fieldIssues, listOf, malformed, type Rule, type Rules, text } from './checks.js';

/** Which one of the options? `options` names each and says when it fits. */
export interface ChoiceQuestion<O extends string = string> {
  readonly type: 'choice';
  readonly instructions: string;
  /** Description by option; an empty one is fine. */
  readonly options: { readonly [option in O]: string };
}
/** How much, on a ladder? `levels` go from the lowest to the highest; level 0 is the first. */
export interface ScoreQuestion {
  readonly type: 'score';
  readonly instructions: string;
  readonly levels: readonly string[];
}
/** Is it so? */
export interface YesNoQuestion {
  readonly type: 'yes_no';
  readonly instructions: string;
  /** What counts as yes, and as no. */
  readonly yes?: string;
  readonly no?: string;
}
export type Question = ChoiceQuestion | ScoreQuestion | YesNoQuestion;
export type Questions = { readonly [id: string]: Question };

/** Probabilities are from 0 to 1. */
export interface ChoiceAnswer<O extends string = string> {
  readonly type: 'choice';
  readonly choice: O;
  readonly probabilities: { readonly [option in O]: number };
  readonly confidence?: number;
}
export interface ScoreAnswer {
  readonly type: 'score';
  /** From 0 to the number of levels less one, with fractions between two levels. */
  readonly score: number;
  /** By level. */
  readonly probabilities: readonly number[];
  readonly confidence?: number;
}
export interface YesNoAnswer {
  readonly type: 'yes_no';
  /** The probability of yes. */
  readonly yes: number;
}

export type AnswerOf<Q extends Question> =
  Q extends ChoiceQuestion<infer O> ? ChoiceAnswer<O> : Q extends ScoreQuestion ? ScoreAnswer : YesNoAnswer;
export type AnswersOf<Q extends Questions> = { readonly [id in keyof Q]: AnswerOf<Q[id]> };

/** A question with one answer of several. `choiceQuestion('Which team?', ['sales', 'support'])`, or `{ sales: 'wants to buy', … }` */
export function choiceQuestion<const O extends string>(
  instructions: string,
  options: readonly O[] | { readonly [option in O]: string },
): ChoiceQuestion<O> {
  const described = Array.isArray(options) ? Object.fromEntries(options.map((option: O) => [option, ''])) : options;
  return { type: 'choice', instructions, options: described as { readonly [option in O]: string } };
}

/** A question of degree. `scoreQuestion('How angry is the writer?', ['calm', 'annoyed', 'furious'])` */
export function scoreQuestion(instructions: string, levels: readonly string[]): ScoreQuestion {
  return { type: 'score', instructions, levels };
}

/** A question of yes or no. `yesNoQuestion('Is this spam?', { yes: 'advertises something unasked' })` */
export function yesNoQuestion(instructions: string, meaning: { readonly yes?: string; readonly no?: string } = {}): YesNoQuestion {
  return { type: 'yes_no', instructions, ...meaning };
}

const optionsRule: Rule = [
  'an object with a description for each of two or more options',
  value => isRecord(value) && Object.keys(value).length >= 2 && Object.values(value).every(words => typeof words === 'string'),
];
const levelsRule: Rule = [
  'a list of two or more texts',
  value => (Array.isArray(value) && value.length >= 2 ? listOf(text, 'level')[1](value) : false),
];
const FIELDS: { readonly [type: string]: { readonly rules: Rules; readonly required: readonly string[] } } = {
  choice: { rules: { instructions: text, options: optionsRule }, required: ['instructions', 'options'] },
  score: { rules: { instructions: text, levels: levelsRule }, required: ['instructions', 'levels'] },
  yes_no: { rules: { instructions: text, yes: text, no: text }, required: ['instructions'] },
};

/** The rule for a request's questions. */
export const questions: Rule = [
  'an object of questions by id, such as { mood: choiceQuestion(…) }',
  value => {
    if (!isRecord(value)) return false;
    if (Object.keys(value).length === 0) return [{ path: '', reason: 'must hold at least one question' }];
    return Object.entries(value).flatMap(([id, question]): readonly Issue[] => {
      const kind =
        isRecord(question) && typeof question.type === 'string' && Object.hasOwn(FIELDS, question.type) ? question.type : undefined;
      const fields = kind === undefined ? undefined : FIELDS[kind];
      if (!fields) return [{ path: `.${id}`, reason: 'must be a question such as yesNoQuestion("…")' }];
      return fieldIssues(question as Record<string, unknown>, fields.rules, fields.required).map(({ path, reason }) => ({
        path: `.${id}${path}`,
        reason,
      }));
    });
  },
];

/** The answers to these questions, checked one by one; throws when one is missing or does not fit its question. */
export function readAnswers(answers: unknown, asked: Questions, provider: string): [string, unknown][] {
  if (!isRecord(answers)) throw malformed(provider, 'the answer has no answers');
  return Object.entries(asked).map(([id, question]) => {
    const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
    const fault = isRecord(answer) ? answerFault(question, answer) : 'is missing';
    if (fault) throw malformed(provider, `the answer to "${id}" ${fault}`);
    return [id, answer];
  });
}

function answerFault(question: Question, answer: Record<string, unknown>): string | undefined {
  if (answer.type !== question.type) return `is of another type than its question (${question.type})`;
  const { probabilities } = answer;
  switch (question.type) {
    case 'choice': {
      if (typeof answer.choice !== 'string' || !Object.hasOwn(question.options, answer.choice)) return 'is none of the options';
      const all = isRecord(probabilities) ? Object.keys(question.options).every(option => isProbability(probabilities[option])) : false;
      return all ? undefined : 'has no probability for each option';
    }
    case 'score': {
      const { length } = question.levels;
      if (typeof answer.score !== 'number' || !(answer.score >= 0 && answer.score <= length - 1))
        return `is not between 0 and ${length - 1}`;
      const all = Array.isArray(probabilities) && probabilities.length === length && probabilities.every(isProbability);
      return all ? undefined : 'has no probability for each level';
    }
    case 'yes_no':
      return isProbability(answer.yes) ? undefined : 'has no probability of yes';
  }
}

function isProbability(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}
