// What a request must look like, as tables of rules; every fault of a request is found before anything is sent. Streams are checked before they
// are made, so this is loaded with the engine; rules that no stream needs stand in `nested-rules.ts`.
import { isRecord, jsonFault } from '../data/json.js';
import { type Issue, ValidationError } from '../errors.js';
import { isRetryPolicy } from '../reliability/retrying.js';

/** What a value must be, in words, and the test for it. A test may give issues of its own, with paths below the field's. */
export type Rule = readonly [words: string, test: (value: unknown) => boolean | readonly Issue[]];
/** The fields that an object may have. */
export type Rules = { readonly [field: string]: Rule };

export const text: Rule = ['a text that is not empty', value => typeof value === 'string' && value !== ''];
export const flag: Rule = ['true or false', value => typeof value === 'boolean'];
export const wholeNumber: Rule = ['a whole number above 0', value => Number.isSafeInteger(value) && (value as number) > 0];
export const positive: Rule = ['a number above 0', value => typeof value === 'number' && value > 0 && Number.isFinite(value)];
export const providerOptions: Rule = [
  'an object of JSON by provider name, such as { openai: {…} }',
  value => isRecord(value) && Object.values(value).every(isRecord) && jsonFault(value) === undefined,
];

export const oneOf = (...words: readonly string[]): Rule => [words.join(', '), value => words.includes(value as string)];

/** Rules for the options that every call knows. */
const CONTROL: Rules = {
  signal: ['an AbortSignal', value => isRecord(value) && 'aborted' in value && typeof value.addEventListener === 'function'],
  timeoutMs: ['a number of milliseconds above 0', positive[1]],
  requestId: text,
  context: ['anything', () => true],
  retry: ['false or { maxRetries, baseMs, capMs } with numbers that are not negative', isRetryPolicy],
};

/**
 * The request that a call's input and options make together; options win. Throws `ValidationError` with every place where it, or an option,
 * breaks the rules: unknown fields, wrong values, missing ones.
 */
export function checkedRequest<R extends object>(
  method: string,
  input: object,
  options: object,
  rules: {
    readonly request: Rules;
    readonly required: readonly string[];
    readonly options?: Rules;
    /** Faults between fields that are right by themselves. */
    readonly together?: (request: R) => readonly Issue[];
  },
): R {
  if (!isRecord(options)) throw invalid(method, [{ path: 'options', reason: `must be an object, not ${shown(options)}` }]);
  const control: Rules = { ...CONTROL, ...rules.options };
  const request: Record<string, unknown> = {};
  const issues: Issue[] = [];
  const known = [...Object.keys(rules.request), ...Object.keys(control)].join(', ');
  for (const [place, fields] of [
    ['request', input],
    ['options', options],
  ] as const) {
    for (const [key, value] of Object.entries(fields)) {
      const own = Object.hasOwn(rules.request, key);
      const rule = own ? rules.request[key] : place === 'options' && Object.hasOwn(control, key) ? control[key] : undefined;
      if (!rule) issues.push({ path: key, reason: `is unknown in the ${place}; known are ${known}` });
      else if (value !== undefined) {
        issues.push(...issuesOf(rule[1](value), value, key, rule[0]));
        if (own) request[key] = value;
      }
    }
  }
  for (const key of rules.required)
    if (request[key] === undefined) issues.push({ path: key, reason: `must be ${rules.request[key]?.[0]}` });
  if (issues.length === 0 && rules.together) issues.push(...rules.together(request as R));
  if (issues.length > 0) throw invalid(method, issues);
  return request as R;
}

/** What a rule finds wrong with a value, as issues with paths. */
export function issuesOf(result: boolean | readonly Issue[], value: unknown, path: string, words: string): Issue[] {
  if (result === true) return [];
  if (result === false) return [{ path, reason: `must be ${words}, not ${shown(value)}` }];
  return result.map(issue => ({ path: `${path}${issue.path}`, reason: issue.reason }));
}

function invalid(method: string, issues: readonly Issue[]): ValidationError {
  const named = issues.slice(0, 10).map(({ path, reason }) => `${path} ${reason}`);
  if (issues.length > named.length) named.push(`and ${issues.length - named.length} more`);
  return new ValidationError('invalid_request', `${method}: ${named.join('; ')}.`, issues);
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return value.length > 80 ? `${JSON.stringify(value.slice(0, 80))}…` : JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object of another kind';
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value);
}

/** True for what can be read piece by piece; a text is one piece. */
export function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}
