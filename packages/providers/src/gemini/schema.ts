import { isRecord, type JsonObject } from '@antiphon/engine';
import type { WireJson, WireObject } from '../http/wire-values.js';
import { withoutAllOf } from '../schemas/all-of.js';

/** What the API takes of JSON Schema (the reference of `responseJsonSchema`). */
const KEPT: ReadonlySet<string> = new Set([
  '$id',
  '$defs',
  '$ref',
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'oneOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
]);

/** Says nothing about the value, so nobody misses it. */
const NOTES: ReadonlySet<string> = new Set(['$schema', '$comment']);

/**
 * A JSON Schema in the subset that the API takes. What it has another word for is said with that word (`const` as `enum`, `allOf`,
 * `definitions`); every other keyword is left out and named in `stripped`. The engine checks the value against the whole schema all the same.
 */
export function supportedSchema(schema: WireJson, stripped: Set<string>): WireJson {
  if (!isRecord(schema)) return schema;
  const source = withoutSynonyms(schema as WireObject);
  const out: Record<string, WireJson> = {};
  for (const [key, value] of Object.entries(source)) {
    if (NOTES.has(key)) continue;
    // Nothing but `$…` may stand beside a reference.
    if (!KEPT.has(key) || ('$ref' in source && !key.startsWith('$'))) stripped.add(key);
    else out[key] = member(key, value, stripped);
  }
  return out;
}

function member(key: string, value: WireJson, stripped: Set<string>): WireJson {
  switch (key) {
    case 'properties':
    case '$defs':
      return isRecord(value) ? mapped(value as WireObject, inner => supportedSchema(inner, stripped)) : value;
    case 'items':
    case 'additionalProperties':
      return supportedSchema(value, stripped);
    case 'anyOf':
    case 'oneOf':
    case 'prefixItems':
      return Array.isArray(value) ? value.map(inner => supportedSchema(inner, stripped)) : value;
    case '$ref':
      return typeof value === 'string' ? value.replace('#/definitions/', '#/$defs/') : value;
    default:
      return value;
  }
}

function withoutSynonyms(schema: WireObject): WireObject {
  const { const: only, definitions, ...rest } = (schema.allOf === undefined ? schema : withoutAllOf(schema as JsonObject)) ?? schema;
  const { exclusiveMinimum, exclusiveMaximum, ...open } = rest;
  const integer = rest.type === 'integer';
  return {
    ...(integer ? open : rest),
    ...(integer && typeof exclusiveMinimum === 'number' ? { minimum: Math.floor(exclusiveMinimum) + 1 } : {}),
    ...(integer && typeof exclusiveMaximum === 'number' ? { maximum: Math.ceil(exclusiveMaximum) - 1 } : {}),
    ...(only === undefined ? {} : constToWire(only, rest.type)),
    ...(definitions === undefined ? {} : { $defs: { ...(isRecord(rest.$defs) ? rest.$defs : {}), ...(definitions as WireObject) } }),
  };
}

/** `enum` holds strings and numbers only. */
function constToWire(only: WireJson, type: WireJson): WireObject {
  if (typeof only === 'string' || typeof only === 'number') return { type: type ?? typeof only, enum: [only] };
  return { const: only, type: type ?? (only === null ? 'null' : typeof only === 'boolean' ? 'boolean' : undefined) };
}

function mapped(record: WireObject, change: (value: WireJson) => WireJson): WireObject {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
