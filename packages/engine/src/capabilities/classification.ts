import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type Json, type JsonObject, jsonFault } from '../data/json.js';
import { providerOptions, type Rules, text, wholeNumber } from '../data/rules.js';
import { questions, readAnswers } from './answers.js';
import { chunked, inBatches } from './batches.js';
import type { CapabilityOptions, CapabilityOutcome, CapabilityResponse } from './call.js';
import { checkedRequest } from './checks.js';
import type { AnswersOf, Questions } from './questions.js';
import { refuseUnsupported } from './refusals.js';
import { type Call, type Runtime, runCall } from './run-call.js';

/** Something to be judged by typed questions, as plain data. */
export interface ClassificationRequest<Q extends Questions = Questions> {
  /** What is judged: a text, or JSON such as a conversation. */
  readonly state: string | JsonObject | readonly Json[];
  /** By ids of your own. */
  readonly questions: Q;
  /** Overrides the adapter's model. */
  readonly model?: string;
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

export interface ClassificationResponse<Q extends Questions = Questions> extends CapabilityResponse {
  /** One for each question, by its id. */
  readonly answers: AnswersOf<Q>;
}

/** The contract of a classifier. One request per call; failures as in the other contracts (`EmbeddingAdapter`). */
export interface ClassificationAdapter {
  readonly provider: string;
  readonly model: string;
  /** The most questions in one request; more are sent as several, and each sends the state again. Default: any number. */
  readonly maxQuestions?: number;
  /** The most options of a choice, and levels of a score. */
  readonly maxOptions?: number;
  readonly maxLevels?: number;
  classify(request: ClassificationRequest, context: AdapterContext): Promise<ClassificationResponse>;
}

/** Options of one call; they win over the request. */
export interface ClassifyOptions<Q extends Questions = Questions> extends Partial<ClassificationRequest<Q>>, CapabilityOptions {
  /** Requests under way at once; default 4. */
  readonly concurrency?: number;
}

/** How classification ended. A failure keeps the answers that came before it. */
export type ClassifyOutcome<Q extends Questions = Questions> = CapabilityOutcome<
  { readonly answers: AnswersOf<Q> },
  { readonly answers: Partial<AnswersOf<Q>> }
>;

/**
 * Answers typed questions about a text; the method of the engine.
 *
 * ```ts
 * const questions = { mood: choiceQuestion('How does the writer feel?', ['glad', 'angry']), urgent: yesNoQuestion('Must somebody act now?') };
 * const { answers } = completed(await engine.classify('Where is my parcel?!', { questions }));
 * console.log(answers.mood.choice, answers.urgent.yes); // 'angry' 0.8
 * ```
 */
export type Classify = <const Q extends Questions>(
  input: string | ClassificationRequest<Q>,
  options?: ClassifyOptions<Q>,
) => Promise<ClassifyOutcome<Q>>;

const RULES: Rules = {
  state: ['a text that is not empty, or JSON', value => value !== '' && jsonFault(value) === undefined && value !== null],
  questions,
  model: text,
  providerOptions,
};

export function classifyWith(adapter: ClassificationAdapter, runtime: Runtime): Classify {
  return async <const Q extends Questions>(input: string | ClassificationRequest<Q>, options: ClassifyOptions<Q> = {}) => {
    const given = isRecord(input) ? input : { state: input };
    const rules = { request: RULES, required: ['state', 'questions'], options: { concurrency: wholeNumber } };
    const request = checkedRequest<ClassificationRequest<Q>>('classify', given, options, rules);
    const answers: Record<string, unknown> = {};
    const ids = Object.keys(request.questions);
    const work = async (call: Call) => {
      refuseUnsupported(adapter.provider, limitFaults(request.questions, adapter));
      await inBatches(chunked(ids, adapter.maxQuestions ?? ids.length), options.concurrency, async (some, noMore) => {
        const asked = Object.fromEntries(some.map(id => [id, request.questions[id]])) as Questions;
        const part: ClassificationRequest = { ...request, questions: asked };
        const found = await call.send(
          context => adapter.classify(part, context),
          answer => readAnswers(answer.answers, asked, adapter.provider),
          noMore,
        );
        for (const [id, answer] of found) define(answers, id, answer);
      });
    };
    // In the order of the questions, whatever batch came first.
    const ordered = () => {
      const inOrder: Record<string, unknown> = {};
      for (const id of ids) if (Object.hasOwn(answers, id)) define(inOrder, id, answers[id]);
      return { answers: inOrder };
    };
    const about = { method: 'classify', adapter, request } as const;
    return (await runCall(about, options, runtime, work, ordered)) as ClassifyOutcome<Q>;
  };
}

/** Ids are the caller's, and may be `__proto__`. */
function define(target: Record<string, unknown>, id: string, value: unknown): void {
  Object.defineProperty(target, id, { value, enumerable: true, configurable: true, writable: true });
}

function limitFaults(asked: Questions, { maxOptions, maxLevels }: ClassificationAdapter): string[] {
  return Object.entries(asked).flatMap(([id, question]) => {
    if (question.type === 'choice' && maxOptions !== undefined && Object.keys(question.options).length > maxOptions) {
      return [`question "${id}" has more than the ${maxOptions} options it takes`];
    }
    if (question.type === 'score' && maxLevels !== undefined && question.levels.length > maxLevels) {
      return [`question "${id}" has more than the ${maxLevels} levels it takes`];
    }
    return [];
  });
}
