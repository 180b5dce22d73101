import { isRecord, type ModerationResult, type Warning } from '@antiphon/engine';
import { malformedAnswer } from '../http/call.js';
import type { ErrorContext } from '../http/errors.js';

/** A verdict as OpenAI gives it. */
export interface OpenaiModerationResult extends ModerationResult {
  readonly index: number;
  /** Which kinds of input each category was judged by. Empty: that category was not judged at all, though it reads as clean. */
  readonly appliedInputTypes?: { readonly [category: string]: readonly string[] };
}

/** The verdicts of an answer. Nothing is mended: a broken verdict must not read as a clean one. */
export function readVerdicts(list: unknown, about: ErrorContext): OpenaiModerationResult[] {
  if (!Array.isArray(list)) throw malformedAnswer(about, 'answered without a list of results');
  return (list as unknown[]).map((item, index) => {
    const { flagged, categories, category_scores, category_applied_input_types: applied } = isRecord(item) ? item : {};
    if (typeof flagged !== 'boolean') throw malformedAnswer(about, `does not say whether item ${index} is flagged`);
    const types = isRecord(applied) ? Object.entries(applied).filter((entry): entry is [string, string[]] => isTexts(entry[1])) : [];
    return {
      index,
      flagged,
      categories: fieldsOf(categories, isBoolean, `categories of item ${index}`, about),
      scores: fieldsOf(category_scores, isFiniteNumber, `scores of item ${index}`, about),
      ...(types.length === 0 ? {} : { appliedInputTypes: Object.fromEntries(types) }),
    };
  });
}

/** A warning for categories that were judged by no part of an item: text categories of an image, for the most part. */
export function unjudged(results: readonly OpenaiModerationResult[]): Warning[] {
  const names = new Set(
    results.flatMap(({ appliedInputTypes = {} }) =>
      Object.entries(appliedInputTypes).flatMap(([name, types]) => (types.length === 0 ? [name] : [])),
    ),
  );
  if (names.size === 0) return [];
  return [{ code: 'other', message: `These categories do not apply to the input and were not judged: ${[...names].join(', ')}.` }];
}

/** The fields of an object, without those that are null: OpenAI's older models do not know every category. */
function fieldsOf<T>(value: unknown, is: (field: unknown) => field is T, what: string, about: ErrorContext): { [name: string]: T } {
  if (!isRecord(value)) throw malformedAnswer(about, `sent no ${what}`);
  const known = Object.entries(value).filter(([, field]) => field !== null);
  if (!known.every((entry): entry is [string, T] => is(entry[1]))) throw malformedAnswer(about, `sent ${what} of the wrong type`);
  return Object.fromEntries(known);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string');
}
