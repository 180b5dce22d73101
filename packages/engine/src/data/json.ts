/** Plain JSON data: the canonical form of everything that is stored or sent. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** The deepest nesting that counts as JSON here. Far deeper values make the platform's own `JSON.stringify` run out of stack. */
export const MAX_JSON_DEPTH = 1000;

/** True for an object that is neither an array nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list or an object on the way down; `at` is the member that is being looked at. */
interface Level {
  readonly container: object;
  /** Absent for a list. */
  readonly keys?: readonly string[];
  readonly size: number;
  at: number;
}

/**
 * Why a value is not JSON, as a path and a word; undefined when it is. Refused are cycles, functions, symbols, bigints, NaN, undefined (but
 * not as a member of an object, which `JSON.stringify` leaves out), what would be written as `{}` (maps, sets, promises, errors, bytes) and
 * nesting of more than 1000 levels. Linear in the size of the value, and safe for any depth.
 *
 * ```ts
 * jsonFault({ a: [1n] }); // '$.a[0] is a bigint'
 * ```
 */
export function jsonFault(value: unknown, path = '$'): string | undefined {
  const levels: Level[] = [];
  const above = new Set<object>();

  const enter = (item: unknown): string | undefined => {
    const content = hasToJson(item) ? item.toJSON() : item;
    if (typeof content !== 'object' || content === null) return scalarFault(content);
    if (above.has(content)) return 'refers back to itself';
    if (levels.length >= MAX_JSON_DEPTH) return `is nested deeper than ${MAX_JSON_DEPTH} levels`;
    if (Array.isArray(content)) levels.push({ container: content, size: content.length, at: -1 });
    else {
      const kind = lostKind(content);
      if (kind) return `is a ${kind}, which JSON cannot hold`;
      const keys = Object.keys(content);
      levels.push({ container: content, keys, size: keys.length, at: -1 });
    }
    above.add(content);
    return undefined;
  };

  const first = enter(value);
  if (first) return `${path} ${first}`;
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    if (++level.at >= level.size) {
      levels.pop();
      above.delete(level.container);
      continue;
    }
    const item = (level.container as Record<string | number, unknown>)[level.keys?.[level.at] ?? level.at];
    if (item === undefined && level.keys) continue;
    const fault = enter(item);
    if (fault) return `${path}${pathOf(levels)} ${fault}`;
  }
  return undefined;
}

/** The value as `JSON.stringify` would write it, apart from the original. Throws `TypeError`, beginning with `label`, for what is not JSON. */
export function toJson(value: unknown, label: string): Json {
  const fault = jsonFault(value);
  if (fault) throw new TypeError(`${label} must be a JSON value, but ${fault}.`);
  return JSON.parse(JSON.stringify(value)) as Json;
}

function scalarFault(value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : `is ${value}`;
    case 'undefined':
      return 'is undefined';
    case 'function':
    case 'symbol':
    case 'bigint':
      return `is a ${typeof value}`;
  }
  return undefined;
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

const LOST = /^\[object (Map|Set|WeakMap|WeakSet|Promise|RegExp|Error|ArrayBuffer|SharedArrayBuffer|DataView|\w+Array)\]$/;

function lostKind(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return undefined;
  return LOST.exec(Object.prototype.toString.call(value))?.[1];
}

function pathOf(levels: readonly Level[]): string {
  const path = levels
    .slice(0, 20)
    .map(({ keys, at }) => (keys ? `.${keys[at]}` : `[${at}]`))
    .join('');
  return levels.length > 20 ? `${path}…` : path;
}
