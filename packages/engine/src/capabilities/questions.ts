// The typed questions of classification, and the answers to them.

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
