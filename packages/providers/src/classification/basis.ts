import type { ChoiceAnswer, ClassificationRequest, Question, ScoreAnswer, YesNoAnswer } from '@antiphon/engine';

/**
 * Where an answer's probabilities come from: `logprobs`, the log-probabilities of a chat model's tokens; `entailment`, a model that was
 * trained to judge whether a text bears a statement out. Every answer of these adapters has it beside its contract's fields.
 */
export interface ProbabilityBasis {
  readonly basis: 'logprobs' | 'entailment';
}

/** What is judged, as text. */
export function stateText(state: ClassificationRequest['state']): string {
  return typeof state === 'string' ? state : JSON.stringify(state);
}

/** What can be answered to a question, as words, in the order of its options or levels; yes comes before no. */
export function wordsFor(question: Question): readonly string[] {
  switch (question.type) {
    case 'choice':
      return Object.entries(question.options).map(([option, words]) => (words === '' ? option : `${option} (${words})`));
    case 'score':
      return question.levels;
    case 'yes_no':
      return [question.yes === undefined ? 'yes' : `yes (${question.yes})`, question.no === undefined ? 'no' : `no (${question.no})`];
  }
}

/**
 * The contract's answer from one weight for each of `wordsFor`. The weights are made to sum to 1; `confidence` is the greatest one as it
 * was, so that weight which fell on none of the answers stays visible.
 */
export function answerFrom(
  question: Question,
  weights: readonly number[],
  basis: ProbabilityBasis['basis'],
): (ChoiceAnswer | ScoreAnswer | YesNoAnswer) & ProbabilityBasis {
  const sum = weights.reduce((a, b) => a + b, 0);
  const probabilities = weights.map(weight => rounded(weight / sum));
  const most = Math.max(...weights);
  const confidence = Math.min(1, rounded(most));
  switch (question.type) {
    case 'choice': {
      const options = Object.keys(question.options);
      return {
        type: 'choice',
        choice: options[weights.indexOf(most)]!,
        probabilities: Object.fromEntries(options.map((option, i) => [option, probabilities[i]!])),
        confidence,
        basis,
      };
    }
    case 'score': {
      const score = probabilities.reduce((total, probability, level) => total + probability * level, 0);
      return { type: 'score', score: Math.min(question.levels.length - 1, rounded(score)), probabilities, confidence, basis };
    }
    case 'yes_no':
      return { type: 'yes_no', yes: probabilities[0]!, basis };
  }
}

/** Six decimals: servers tell no more, and sums of floats look exact. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
