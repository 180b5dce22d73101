// What a request must look like, as tables of rules; every fault of a request is found before anything is sent. Streams are checked before they
// are made, so this is loaded with the engine; rules that no stream needs stand in `nested-rules.ts`.
import { isRecord } from '../data/json.js';
import { anything, inWords, positive, type Rules, shown, signal, text } from '../data/rules.js';
import { type Issue, ValidationError } from '../errors.js';
import { retryPolicy } from '../reliability/retrying.js';

/** Rules for the options that every call knows. */
const CONTROL: Rules = {
  signal,
  timeoutMs: ['a number of milliseconds above 0', positive[1]],
  requestId: text,
  context: anything,
  retry: retryPolicy,
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
  return new ValidationError('invalid_request', `${method}: ${inWords(issues)}.`, issues);
}

/** True for what can be read piece by piece; a text is one piece. */
export function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}
