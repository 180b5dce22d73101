// What values that a caller gives must be, in words and as a test.
import type { Issue } from '../errors.js';
import { isRecord, type JsonObject, jsonFault } from './json.js';

/** What a value must be, in words, and the test for it. A test may give issues of its own, with paths below the value's. */
export type Rule = readonly [words: string, test: (value: unknown) => boolean | readonly Issue[]];
/** The fields that an object may have. */
export type Rules = { readonly [field: string]: Rule };

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isJsonObject = (value: unknown): value is JsonObject => isRecord(value) && jsonFault(value) === undefined;
export const isProviderOptions = (value: unknown): boolean => isJsonObject(value) && Object.values(value).every(isRecord);

export const text: Rule = ['a text that is not empty', isText];
export const flag: Rule = ['true or false', value => typeof value === 'boolean'];
export const wholeNumber: Rule = ['a whole number above 0', value => Number.isSafeInteger(value) && (value as number) > 0];
export const positive: Rule = ['a number above 0', value => typeof value === 'number' && value > 0 && Number.isFinite(value)];
export const anything: Rule = ['anything', () => true];
export const signal: Rule = ['an AbortSignal', value => isRecord(value) && 'aborted' in value && isFunction(value.addEventListener)];
export const providerOptions: Rule = ['an object of JSON by provider name, such as { openai: {…} }', isProviderOptions];

export const oneOf = (...words: readonly string[]): Rule => [
  `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
  value => words.includes(value as string),
];

/** A value in a few words, for a message about it. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return value.length > 80 ? `${JSON.stringify(value.slice(0, 80))}…` : JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return `${Array.isArray(value) ? 'a list' : 'an object'} of another kind`;
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value);
}

/** The first ten issues in words. */
export function inWords(issues: readonly Issue[]): string {
  const named = issues.slice(0, 10).map(({ path, reason }) => `${path} ${reason}`);
  if (issues.length > named.length) named.push(`and ${issues.length - named.length} more`);
  return named.join('; ');
}
