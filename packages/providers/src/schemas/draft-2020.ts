import { isRecord, type Json, type JsonObject } from '@antiphon/engine';

const ONE: ReadonlySet<string> = new Set('items additionalProperties contains propertyNames not if then else'.split(' '));
const LIST: ReadonlySet<string> = new Set('anyOf oneOf allOf prefixItems'.split(' '));
const MAP: ReadonlySet<string> = new Set('properties patternProperties $defs definitions dependentSchemas'.split(' '));

/**
 * A schema in the words of draft 2020-12, which Anthropic and Google demand. Older drafts have a list in `items` for a tuple, and `true` in
 * `exclusiveMinimum` for a bound that is itself shut out. What is in those words already stays the very same object.
 *
 * ```ts
 * inDraft2020({ items: [{ type: 'string' }], additionalItems: false }); // { prefixItems: [{ type: 'string' }], items: false }
 * ```
 */
export function inDraft2020(schema: JsonObject): JsonObject {
  const own = modern(schema);
  const entries = Object.entries(own);
  const changed = entries.map(([keyword, value]) => [keyword, within(keyword, value)] as const);
  if (own === schema && changed.every(([, value], i) => value === entries[i]![1])) return schema;
  // It is no longer of the draft that it names.
  return Object.fromEntries(changed.filter(([keyword]) => keyword !== '$schema'));
}

function modern(schema: JsonObject): JsonObject {
  const { items, additionalItems, exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  const isTuple = Array.isArray(items);
  if (!isTuple && typeof exclusiveMinimum !== 'boolean' && typeof exclusiveMaximum !== 'boolean') return schema;
  return {
    ...rest,
    ...(isTuple ? { prefixItems: items, ...said({ items: additionalItems }) } : said({ items, additionalItems })),
    ...bound('minimum', 'exclusiveMinimum', minimum, exclusiveMinimum),
    ...bound('maximum', 'exclusiveMaximum', maximum, exclusiveMaximum),
  };
}

function bound(keyword: string, open: string, value: Json | undefined, isOpen: Json | undefined): JsonObject {
  if (typeof isOpen !== 'boolean') return said({ [keyword]: value, [open]: isOpen });
  return said({ [isOpen ? open : keyword]: value });
}

function said(keywords: { readonly [keyword: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined)) as JsonObject;
}

function within(keyword: string, value: Json): Json {
  const inner = (item: Json) => (isRecord(item) ? inDraft2020(item as JsonObject) : item);
  if (ONE.has(keyword)) return inner(value);
  if (LIST.has(keyword) && Array.isArray(value)) {
    const items = value.map(inner);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!MAP.has(keyword) || !isRecord(value)) return value;
  const members = Object.entries(value as JsonObject).map(([name, item]) => [name, inner(item), item] as const);
  return members.every(([, item, before]) => item === before)
    ? value
    : Object.fromEntries(members.map(([name, item]) => [name, item] as const));
}
