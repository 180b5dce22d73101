import { type ClassificationAdapter, type ClassificationResponse, isRecord, type Question, type Warning } from '@antiphon/engine';
import { fetchJson, malformedAnswer, refuse } from '../http/call.js';
import type { ErrorContext } from '../http/errors.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { type ServiceOptions, serviceFor, type Vendor } from '../http/service.js';
import { answerFrom, stateText, wordsFor } from './basis.js';

export interface ZeroShotClassificationOptions extends ServiceOptions {}

const HUGGING_FACE: Vendor = {
  name: 'huggingface',
  hosts: ['router.huggingface.co'],
  root: '/hf-inference/models',
  keyNames: ['HF_TOKEN'],
  needsKey: true,
  keyHeader: 'authorization',
};

/**
 * A zero-shot classifier behind Hugging Face's inference API, or a server that speaks it: a small model (such as
 * `facebook/bart-large-mnli`) judges how well the text bears out each answer. Its scores sum to 1, and each answer says where they come
 * from (`basis: 'entailment'`). It reads a question's instructions only as the beginning of a statement: the words of the answers carry the
 * meaning. One question is one request. The key is `HF_TOKEN` when none is given; errors as in `openaiEmbeddings`.
 *
 * Wire: the task schema `zero-shot-classification` of `@huggingface/tasks`; the older answer with two lists is read too.
 *
 * ```ts
 * const engine = createEngine({ classification: zeroShotClassification({ model: 'facebook/bart-large-mnli' }) });
 * ```
 */
export function zeroShotClassification(options: ZeroShotClassificationOptions): ClassificationAdapter {
  const service = serviceFor('zeroShotClassification', options, 'https://router.huggingface.co/hf-inference/models', [], HUGGING_FACE);
  const { provider, model } = service;
  return {
    provider,
    model,
    maxQuestions: 1,
    async classify(request, context): Promise<ClassificationResponse> {
      context.signal.throwIfAborted();
      const [first, ...others] = Object.entries(request.questions);
      refuse(provider, [first === undefined && 'there is no question', others.length > 0 && 'it takes one question in a request']);
      const [id, question] = first as [string, Question];
      const labels = wordsFor(question);
      refuse(provider, [new Set(labels).size < labels.length && `two answers to "${id}" have the same words`]);
      const warnings: Warning[] = [];
      const fields = {
        inputs: stateText(request.state),
        // Where the answer goes is marked by two braces, so the question can have none.
        parameters: {
          candidate_labels: [...labels],
          hypothesis_template: `${question.instructions.split('{}').join('')} {}`,
          multi_label: false,
        },
      };
      const body = withOwnOptions(fields, ownOptions(request, provider, 'huggingface'), warnings);
      const used = request.model ?? model;
      const outgoing = await service.outgoing(`/${used}`, body, context);
      const { value } = await fetchJson(outgoing, context);
      const scores = scoresIn(value, outgoing.about);
      const weights = labels.map(label => scores.get(label));
      if (!weights.every(weight => weight !== undefined)) throw malformedAnswer(outgoing.about, `gave no score for an answer to "${id}"`);
      if (!weights.some(weight => weight > 0)) throw malformedAnswer(outgoing.about, `gave no answer to "${id}" a score above 0`);
      return { answers: Object.fromEntries([[id, answerFrom(question, weights, 'entailment')]]), model: used, warnings };
    },
  };
}

/** `[{ label, score }]`, or the older `{ labels, scores }`, alone or in a list. */
function scoresIn(value: unknown, about: ErrorContext): ReadonlyMap<string, number> {
  const whole: unknown = Array.isArray(value) && value.length === 1 && isRecord(value[0]) && 'labels' in value[0] ? value[0] : value;
  const pairs: unknown[] = Array.isArray(whole)
    ? whole
    : isRecord(whole) && Array.isArray(whole.labels) && Array.isArray(whole.scores)
      ? whole.labels.map((label: unknown, i) => ({ label, score: (whole.scores as unknown[])[i] }))
      : [];
  const scores = new Map<string, number>();
  for (const pair of pairs) {
    if (!isRecord(pair) || typeof pair.label !== 'string' || typeof pair.score !== 'number') continue;
    if (pair.score >= 0 && pair.score <= 1) scores.set(pair.label, pair.score);
  }
  if (scores.size === 0) throw malformedAnswer(about, 'answered without labels and scores');
  return scores;
}
