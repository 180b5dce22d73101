import { isRecord, type JsonObject } from '@antiphon/engine';
import type { GrammarDefs, GrammarSchema } from './binding.js';

/** A schema for grammars, and the words of the JSON Schema that no grammar here holds. */
export interface ConvertedSchema {
  readonly schema: GrammarSchema;
  /** Such as `pattern` or `minimum`: the answer is not held to them. Sorted, each once. */
  readonly notHeld: readonly string[];
}

type Literal = string | number | boolean | null;

/** Words that need no grammar, because they only tell about the schema. */
const NOTES = new Set(['title', 'description', '$schema', '$id', '$comment', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly']);
const HELD: { readonly [type: string]: ReadonlySet<string> } = {
  object: new Set(['type', 'properties', 'required', 'additionalProperties', '$defs', 'definitions']),
  array: new Set(['type', 'items', 'prefixItems', 'minItems', 'maxItems', '$defs', 'definitions']),
  string: new Set(['type', 'minLength', 'maxLength', 'format']),
};
const FORMATS = new Set(['date-time', 'time', 'date']);
const SCALARS = new Set(['string', 'number', 'integer', 'boolean', 'null']);

/**
 * JSON Schema in the terms of node-llama-cpp's grammars. What a grammar makes is always valid for the parts it holds; it is stricter in one
 * way: every property that the schema names is written, also an optional one. Words that it cannot hold are given back.
 */
export function grammarSchema(schema: JsonObject): ConvertedSchema {
  const notHeld = new Set<string>();
  const defs = definitions(schema, notHeld);
  const converted = convert(schema, notHeld);
  const whole = defs === undefined || !canHoldDefs(converted) ? converted : { ...converted, $defs: defs };
  return { schema: whole, notHeld: [...notHeld].sort() };
}

function definitions(schema: JsonObject, notHeld: Set<string>): GrammarDefs | undefined {
  const found = { ...(isRecord(schema.definitions) ? schema.definitions : {}), ...(isRecord(schema.$defs) ? schema.$defs : {}) };
  const names = Object.keys(found);
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map(name => [name, convert(found[name], notHeld)]));
}

function canHoldDefs(schema: GrammarSchema): boolean {
  return 'oneOf' in schema || '$ref' in schema || ('type' in schema && (schema.type === 'object' || schema.type === 'array'));
}

function convert(schema: unknown, notHeld: Set<string>): GrammarSchema {
  if (!isRecord(schema)) return anything();
  const about = typeof schema.description === 'string' ? { description: schema.description } : {};
  if (typeof schema.$ref === 'string') return { $ref: schema.$ref.replace('#/definitions/', '#/$defs/'), ...about };
  const options = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (Array.isArray(options)) {
    note(schema, new Set(['anyOf', 'oneOf', '$defs', 'definitions']), notHeld);
    return { oneOf: options.map(option => convert(option, notHeld)), ...about };
  }
  if (isLiteral(schema.const)) return { const: schema.const, ...about };
  if (Array.isArray(schema.enum) && schema.enum.every(isLiteral)) return { enum: schema.enum as Literal[], ...about };
  if (Array.isArray(schema.type)) return { oneOf: schema.type.map(type => convert({ ...schema, type }, notHeld)), ...about };
  const type = typeof schema.type === 'string' ? schema.type : isRecord(schema.properties) ? 'object' : undefined;
  if (type === undefined) {
    note(schema, new Set(['$defs', 'definitions']), notHeld);
    return { ...anything(), ...about };
  }
  note(schema, HELD[type] ?? new Set(['type']), notHeld);
  switch (type) {
    case 'object':
      return { ...objectSchema(schema, notHeld), ...about };
    case 'array':
      return {
        type: 'array',
        ...(schema.items === undefined ? {} : { items: convert(schema.items, notHeld) }),
        ...(Array.isArray(schema.prefixItems) ? { prefixItems: schema.prefixItems.map(item => convert(item, notHeld)) } : {}),
        ...count(schema, 'minItems'),
        ...count(schema, 'maxItems'),
        ...about,
      };
    case 'string': {
      if (typeof schema.format === 'string') {
        if (FORMATS.has(schema.format)) return { type, ...({ format: schema.format } as object), ...about };
        notHeld.add('format');
      }
      return { type, ...count(schema, 'minLength'), ...count(schema, 'maxLength'), ...about };
    }
    default:
      return SCALARS.has(type) ? { type, ...about } : { ...anything(), ...about };
  }
}

function objectSchema(schema: Record<string, unknown>, notHeld: Set<string>): GrammarSchema {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  const more = schema.additionalProperties;
  // An object of which nothing is said may hold anything; one with named properties gets those, which is always allowed.
  const open = isRecord(more) ? convert(more, notHeld) : more === true || (more === undefined && names.length === 0);
  return {
    type: 'object',
    ...(names.length === 0 ? {} : { properties: Object.fromEntries(names.map(name => [name, convert(properties[name], notHeld)])) }),
    ...(open === false ? {} : { additionalProperties: open }),
  };
}

/** Any JSON value. */
function anything(): { readonly oneOf: readonly GrammarSchema[] } {
  return {
    oneOf: [
      { type: 'string' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'null' },
      { type: 'array' },
      { type: 'object', additionalProperties: true },
    ],
  };
}

function count(schema: Record<string, unknown>, word: string): { readonly [word: string]: number } {
  const value = schema[word];
  return typeof value === 'number' ? { [word]: value } : {};
}

function note(schema: Record<string, unknown>, held: ReadonlySet<string>, notHeld: Set<string>): void {
  for (const word of Object.keys(schema)) if (!held.has(word) && !NOTES.has(word)) notHeld.add(word);
}

function isLiteral(value: unknown): value is Literal {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
