import { isRecord, type Json, type JsonObject } from '@antiphon/engine';

/** What strict mode does not know. */
const UNKNOWN = ['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'patternProperties', 'dependentRequired', 'dependentSchemas'] as const;
/** The formats that strict mode knows; any other is refused, and with it the request. */
const FORMATS: ReadonlySet<Json> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);
/** Keywords whose values are schemas: one, a list of them, or a map of them. */
const HOLDS_SCHEMAS = ['items', 'anyOf', 'prefixItems', 'properties', '$defs', 'definitions'] as const;

/**
 * The schema as strict mode takes it, or undefined when it cannot: strict mode wants every object closed and all its properties required, and
 * does not know some keywords. An object that says nothing about further properties is closed; one that wants them is left alone. A format that
 * it does not know is said in the description instead: the model is told, and the engine checks the answer.
 *
 * ```ts
 * strictSchema({ type: 'object', properties: { a: {} }, required: ['a'] }); // … with additionalProperties: false
 * strictSchema({ type: 'object', properties: { a: {} } }); // undefined: `a` is optional
 * ```
 */
export function strictSchema(schema: JsonObject): JsonObject | undefined {
  if (UNKNOWN.some(keyword => Object.hasOwn(schema, keyword))) return undefined;
  const strict: Record<string, Json> = withKnownFormat(schema);
  const { type, properties, required, additionalProperties } = schema;
  if (type === 'object' || (Array.isArray(type) && type.includes('object')) || isRecord(properties)) {
    const names = isRecord(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== undefined && additionalProperties !== false) return undefined;
    if (!names.every(name => Array.isArray(required) && required.includes(name))) return undefined;
    strict.additionalProperties = false;
  }
  for (const keyword of HOLDS_SCHEMAS) {
    const held = schema[keyword];
    if (held === undefined) continue;
    const within = keyword === 'items' ? strictValue(held) : mapValues(held, strictValue);
    if (within === undefined) return undefined;
    strict[keyword] = within;
  }
  return strict;
}

function withKnownFormat(schema: JsonObject): Record<string, Json> {
  const { format, ...rest } = schema;
  if (typeof format !== 'string' || FORMATS.has(format)) return { ...schema };
  const { description } = schema;
  const note = `Format: ${format}.`;
  return { ...rest, description: typeof description === 'string' && description !== '' ? `${description} ${note}` : note };
}

function strictValue(value: Json): Json | undefined {
  return isRecord(value) ? strictSchema(value as JsonObject) : value;
}

/** The list or map with each value changed; undefined when one of them cannot be. */
function mapValues(held: Json, change: (value: Json) => Json | undefined): Json | undefined {
  if (Array.isArray(held)) {
    const changed = held.map(change);
    return changed.includes(undefined) ? undefined : (changed as Json[]);
  }
  if (!isRecord(held)) return held;
  const entries = Object.entries(held as JsonObject).map(([key, value]) => [key, change(value)] as const);
  return entries.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(entries) as JsonObject);
}
