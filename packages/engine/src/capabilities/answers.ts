// What a question must look like, and an answer to it.
import { isRecord } from '../data/json.js';
import { type Rule, type Rules, text } from '../data/rules.js';
import type { Issue } from '../errors.js';
import { fieldIssues, listOf } from './nested-rules.js';
import type { Question, Questions } from './questions.js';
import { malformed } from './refusals.js';

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
