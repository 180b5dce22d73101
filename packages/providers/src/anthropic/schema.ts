import { isRecord, type Json, type JsonObject } from '@antiphon/engine';
import { withoutAllOf } from '../schemas/all-of.js';
import { inDraft2020 } from '../schemas/draft-2020.js';
import { lookUp } from '../schemas/pointer.js';

/** Constraints that the API's own schema language lacks: they become words in the description, and the engine checks them. */
const WORDS_ONLY: ReadonlySet<string> = new Set(
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems minProperties maxProperties'.split(
    ' ',
  ),
);
const FORMATS: ReadonlySet<string> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));
/** What cannot be said at all. */
const UNKNOWN = 'not if then else patternProperties propertyNames dependentRequired dependentSchemas contains prefixItems'.split(' ');
const SCHEMA_LISTS: ReadonlySet<string> = new Set(['anyOf']);
const SCHEMA_MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const SCHEMAS: ReadonlySet<string> = new Set([...SCHEMA_LISTS, ...SCHEMA_MAPS, 'items']);

/**
 * The schema as `output_config.format` takes it, or undefined when it cannot be said so: every object must be closed, and no schema may hold
 * itself.
 *
 * ```ts
 * nativeSchema({ type: 'string', minLength: 1 }); // { type: 'string', description: '{"minLength":1}' }
 * nativeSchema({ type: 'object', additionalProperties: { type: 'number' } }); // undefined
 * ```
 */
export function nativeSchema(schema: JsonObject): JsonObject | undefined {
  return isRecursive(schema, schema, []) ? undefined : closed(inDraft2020(schema));
}

function closed(given: JsonObject): JsonObject | undefined {
  const flat = withoutAllOf(given);
  if (!flat) return undefined;
  const { $schema: _, oneOf, ...schema } = flat;
  if (UNKNOWN.some(keyword => Object.hasOwn(schema, keyword)) || (oneOf !== undefined && schema.anyOf !== undefined)) return undefined;
  if (isContainer(schema.const) || (Array.isArray(schema.enum) && schema.enum.some(isContainer))) return undefined;
  const out: Record<string, Json> = {};
  const words: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(oneOf === undefined ? schema : { ...schema, anyOf: oneOf })) {
    const isWord = WORDS_ONLY.has(keyword)
      ? !(keyword === 'minItems' && (value === 0 || value === 1))
      : keyword === 'format' && !FORMATS.has(String(value));
    if (isWord) words[keyword] = value;
    else {
      const within = SCHEMAS.has(keyword) ? inside(keyword, value) : value;
      if (within === undefined) return undefined;
      out[keyword] = within;
    }
  }
  const { type, properties, additionalProperties } = schema;
  if (type === 'object' || (Array.isArray(type) && type.includes('object')) || isRecord(properties)) {
    // An object that wants any members would become one that has none, and one with a choice of further members would refuse them all.
    if (additionalProperties === undefined ? !isRecord(properties) : additionalProperties !== false) return undefined;
    if ([schema.anyOf, oneOf].flat().some(branch => isRecord(branch) && (branch.properties ?? branch.$ref) !== undefined)) return undefined;
    out.additionalProperties = false;
  }
  if (Object.keys(words).length > 0) out.description = describedWith(words, schema);
  return out;
}

/** The description with what the schema cannot say, for the model to read. */
export function describedWith(words: JsonObject, { description }: JsonObject): string {
  const said = JSON.stringify(words);
  return typeof description === 'string' ? `${description}\n${said}` : said;
}

function inside(keyword: string, value: Json): Json | undefined {
  const change = (item: Json) => (isRecord(item) ? closed(item as JsonObject) : item);
  if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
    const changed = value.map(change);
    return changed.includes(undefined) ? undefined : (changed as Json[]);
  }
  if (SCHEMA_MAPS.has(keyword) && isRecord(value)) {
    const changed = Object.entries(value as JsonObject).map(([name, item]) => [name, change(item)] as const);
    return changed.some(([, item]) => item === undefined) ? undefined : (Object.fromEntries(changed) as JsonObject);
  }
  return change(value);
}

/** A constant that is no single value. */
function isContainer(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

/** Whether following references from here leads back to one of those on the way. */
function isRecursive(part: Json, root: JsonObject, way: readonly string[]): boolean {
  if (Array.isArray(part)) return part.some(item => isRecursive(item, root, way));
  if (!isRecord(part)) return false;
  const { $ref, $defs: _, definitions: __, ...rest } = part as JsonObject;
  if (typeof $ref === 'string') {
    if ($ref === '#' || way.includes($ref)) return true;
    const target = lookUp($ref, root);
    if (target !== undefined && isRecursive(target, root, [...way, $ref])) return true;
  }
  return Object.values(rest).some(item => isRecursive(item, root, way));
}
