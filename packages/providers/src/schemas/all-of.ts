import { isRecord, type Json, type JsonObject } from '@antiphon/engine';

/** What a schema says about itself; the outer one's word counts. */
const NOTES: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', '$comment']);

/**
 * One schema that says by itself what all of its `allOf` say. Undefined where that cannot be: they say different things of the same, or
 * refer to a schema beside members of their own.
 *
 * ```ts
 * withoutAllOf({ properties: { a: {} }, allOf: [{ properties: { b: {} }, required: ['b'] }] });
 * // { properties: { a: {}, b: {} }, required: ['b'] }
 * ```
 */
export function withoutAllOf({ allOf, ...own }: JsonObject): JsonObject | undefined {
  if (allOf === undefined) return own;
  let whole: JsonObject | undefined = own;
  for (const part of Array.isArray(allOf) ? allOf : [allOf]) {
    const more: JsonObject | undefined = isRecord(part) ? withoutAllOf(part as JsonObject) : undefined;
    whole = whole && more && joined(whole, more);
  }
  const says = Object.keys(whole ?? {}).filter(keyword => !NOTES.has(keyword) && !/^(\$ref|\$defs|definitions)$/.test(keyword));
  return whole?.$ref !== undefined && says.length > 0 ? undefined : whole;
}

function joined(a: JsonObject, b: JsonObject): JsonObject | undefined {
  const out: Record<string, Json> = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const both = Object.hasOwn(a, keyword) ? joinedValue(keyword, a[keyword]!, value) : value;
    if (both === undefined) return undefined;
    out[keyword] = both;
  }
  return out;
}

function joinedValue(keyword: string, a: Json, b: Json): Json | undefined {
  if (NOTES.has(keyword) || JSON.stringify(a) === JSON.stringify(b)) return a;
  if (keyword === 'required' && Array.isArray(a) && Array.isArray(b)) return [...new Set([...a, ...b])];
  if (keyword !== 'properties' || !isRecord(a) || !isRecord(b)) return undefined;
  const members: Record<string, Json> = { ...(a as JsonObject) };
  for (const [name, member] of Object.entries(b as JsonObject)) {
    const both = Object.hasOwn(members, name) ? withoutAllOf({ allOf: [members[name]!, member] }) : member;
    if (both === undefined) return undefined;
    members[name] = both;
  }
  return members;
}
