import { isRecord, type Json, type JsonObject, type Warning } from '@antiphon/engine';
import { replaced } from './warnings.js';

interface HasOptions {
  readonly providerOptions?: { readonly [provider: string]: JsonObject } | undefined;
}

/** The caller's own fields for this provider, or for the one whose protocol it speaks. */
export function ownOptions({ providerOptions = {} }: HasOptions, ...names: readonly string[]): JsonObject {
  const own = names.find(name => Object.hasOwn(providerOptions, name));
  return own === undefined ? {} : (providerOptions[own] ?? {});
}

/** The fields of a request that the caller's do not simply replace. */
interface Merging {
  /** Lists: the caller's entries come behind the request's. */
  readonly lists?: readonly string[];
  /** Settings side by side. */
  readonly groups?: readonly string[];
  /** Fields that only have a default in the request: nobody is told that it is replaced. */
  readonly defaults?: readonly string[];
}

/** The caller's own fields over the request's; each one that is replaced is told. */
export function withOwnOptions<Body extends object>(
  body: Body,
  own: JsonObject,
  warnings: Warning[],
  { lists = [], groups = [], defaults = [] }: Merging = {},
): Body {
  const merge = (field: string, value: Json): unknown => {
    const before: unknown = Object.hasOwn(body, field) ? body[field as keyof Body] : undefined;
    if (lists.includes(field) && Array.isArray(before) && Array.isArray(value)) return [...new Set([...before, ...value])];
    if (groups.includes(field) && isRecord(before) && isRecord(value)) {
      for (const key of Object.keys(value)) if (before[key] !== undefined) warnings.push(replaced(`${field}.${key}`));
      return { ...before, ...value };
    }
    if (before !== undefined && !defaults.includes(field)) warnings.push(replaced(field));
    return value;
  };
  return { ...body, ...Object.fromEntries(Object.entries(own).map(([field, value]) => [field, merge(field, value)])) };
}

/** What is sent of a part, with the caller's own fields over it. Not for a note that stands for a part: it has no place for them. */
export function withPartOptions<Wire extends object>(wire: Wire, part: HasOptions, ...names: readonly string[]): Wire {
  return part.providerOptions === undefined ? wire : { ...wire, ...ownOptions(part, ...names) };
}
