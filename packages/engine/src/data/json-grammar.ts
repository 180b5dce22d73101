// What the two readers of JSON here share.
import type { Json } from './json.js';

export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What may stand behind a backslash, apart from `u`. */
export const ESCAPES: { readonly [letter: string]: string } = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

export type Members = { [key: string]: Json };

/** As `JSON.parse` does: `__proto__` is a member like any other. */
export function setMember(object: Members, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
