// What a request must look like, as tables of rules; every fault of a request is found before anything is sent.
import { isRecord, jsonFault } from '../data/json.js';
import type { AudioPart, ImagePart } from '../data/parts.js';
import { AdapterError, type Issue, ValidationError } from '../errors.js';
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

/** A list with at least one member, each of which passes. */
export const listOf = ([words, test]: Rule, name: string): Rule => [
  'a list',
  value => {
    if (!Array.isArray(value)) return false;
    if (value.length === 0) return [{ path: '', reason: `must hold at least one ${name}` }];
    return Array.from(value, (member: unknown, i) => issuesOf(test(member), member, `[${i}]`, words)).flat();
  },
];

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

/** The faults of a value's fields, for a rule about an object. */
export function fieldIssues(value: Record<string, unknown>, rules: Rules, required: readonly string[]): readonly Issue[] {
  const issues = Object.entries(rules).flatMap(([key, [words, test]]) =>
    value[key] === undefined ? [] : issuesOf(test(value[key]), value[key], `.${key}`, words),
  );
  for (const key of required) if (value[key] === undefined) issues.push({ path: `.${key}`, reason: `must be ${rules[key]?.[0]}` });
  return issues;
}

/** `AdapterError('unsupported')` with every limit of the adapter that a request breaks; nothing was sent. */
export function refuseUnsupported(provider: string, faults: readonly (string | false | undefined)[]): void {
  const real = faults.filter(fault => typeof fault === 'string');
  if (real.length === 0) return;
  throw new AdapterError('unsupported', `${provider}: ${real.join('; ')}. Nothing was sent.`, { provider });
}

export function malformed(provider: string, what: string): AdapterError {
  return new AdapterError('malformed_response', `${provider}: ${what}.`, { provider });
}

const mediaOf = (kind: string): Rule => [
  `a media type such as ${kind}`,
  value => typeof value === 'string' && /^[\w.+-]+\/[\w.+-]+(;.*)?$/.test(value),
];
const base64: Rule = [
  'base64 text that is not empty',
  value => typeof value === 'string' && value !== '' && /^[A-Za-z0-9+/]*={0,2}$/.test(value),
];

export const image: Rule = [
  'an image such as imagePart(bytes, "image/png")',
  value => {
    if (!isRecord(value) || value.type !== 'image') return false;
    const issues = fieldIssues(value, { mediaType: mediaOf('image/png'), data: base64, url: text }, ['mediaType']);
    return value.data === undefined && value.url === undefined ? [...issues, { path: '.data', reason: 'or .url must be there' }] : issues;
  },
];

export const audio: Rule = [
  'sound such as audioPart(bytes, "audio/wav")',
  value => {
    if (!isRecord(value) || value.type !== 'audio') return false;
    return fieldIssues(value, { mediaType: mediaOf('audio/wav'), data: base64 }, ['mediaType', 'data']);
  },
];

/** Bytes behind base64 text. */
export function byteLength({ data }: AudioPart | (ImagePart & { readonly data: string })): number {
  return Math.floor((data.replace(/=+$/, '').length * 3) / 4);
}

function issuesOf(result: boolean | readonly Issue[], value: unknown, path: string, words: string): Issue[] {
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
