import { isRecord, type JsonObject } from '@antiphon/engine';
import { lookUp, pointerSteps } from '../schemas/pointer.js';
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
const HELD: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['object', new Set(['type', 'properties', 'required', 'additionalProperties', '$defs', 'definitions'])],
  ['array', new Set(['type', 'items', 'additionalItems', 'prefixItems', 'minItems', 'maxItems', '$defs', 'definitions'])],
  ['string', new Set(['type', 'minLength', 'maxLength', 'format'])],
]);
const FORMATS = new Set(['date-time', 'time', 'date']);
const SCALARS = new Set(['string', 'number', 'integer', 'boolean', 'null']);

/**
 * JSON Schema in the terms of node-llama-cpp's grammars. What a grammar makes is always valid for the parts it holds; it is stricter in one
 * way: every property that the schema names is written, also an optional one. Words that it cannot hold are given back.
 */
export function grammarSchema(schema: JsonObject): ConvertedSchema {
  const notHeld = new Set<string>();
  const refs = new References(schema, notHeld);
  const converted = convert(schema, refs, notHeld);
  const defs = refs.definitions();
  const whole = Object.keys(defs).length === 0 || !canHoldDefs(converted) ? converted : { ...converted, $defs: defs };
  return { schema: whole, notHeld: [...notHeld].sort() };
}

/** What a schema refers to, under names of its own: the grammars know references to the definitions of the whole only. */
class References {
  readonly #root: JsonObject;
  readonly #notHeld: Set<string>;
  readonly #names = new Map<string, string>();
  readonly #defs: { [name: string]: GrammarSchema } = {};

  constructor(root: JsonObject, notHeld: Set<string>) {
    this.#root = root;
    this.#notHeld = notHeld;
  }

  definitions(): GrammarDefs {
    return this.#defs;
  }

  /** The name of what the reference points to; undefined for nothing that is here. */
  nameOf(ref: string): string | undefined {
    const known = this.#names.get(ref);
    if (known !== undefined) return known;
    const target = lookUp(ref, this.#root);
    if (!isRecord(target)) return undefined;
    const last = pointerSteps(ref)?.at(-1) ?? 'root';
    const name = [...this.#names.values()].includes(last) ? `${last}_${this.#names.size}` : last;
    // Named before it is looked into, because it may refer to itself.
    this.#names.set(ref, name);
    this.#defs[name] = convert(target, this, this.#notHeld);
    return name;
  }
}

function canHoldDefs(schema: GrammarSchema): boolean {
  return 'oneOf' in schema || '$ref' in schema || ('type' in schema && (schema.type === 'object' || schema.type === 'array'));
}

function convert(schema: unknown, refs: References, notHeld: Set<string>): GrammarSchema {
  if (!isRecord(schema)) return anything();
  const about = typeof schema.description === 'string' ? { description: schema.description } : {};
  if (typeof schema.$ref === 'string') {
    const name = refs.nameOf(schema.$ref);
    if (name !== undefined) return { $ref: `#/$defs/${name}`, ...about };
    notHeld.add('$ref');
    return { ...anything(), ...about };
  }
  const options = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (Array.isArray(options)) {
    note(schema, new Set(['anyOf', 'oneOf', '$defs', 'definitions']), notHeld);
    return { oneOf: options.map(option => convert(option, refs, notHeld)), ...about };
  }
  if (isLiteral(schema.const)) return { const: schema.const, ...about };
  if (Array.isArray(schema.enum) && schema.enum.every(isLiteral)) return { enum: schema.enum as Literal[], ...about };
  if (Array.isArray(schema.type)) return { oneOf: schema.type.map(type => convert({ ...schema, type }, refs, notHeld)), ...about };
  const type = typeof schema.type === 'string' ? schema.type : isRecord(schema.properties) ? 'object' : undefined;
  if (type === undefined) {
    note(schema, new Set(['$defs', 'definitions']), notHeld);
    return { ...anything(), ...about };
  }
  note(schema, HELD.get(type) ?? new Set(['type']), notHeld);
  switch (type) {
    case 'object':
      return { ...objectSchema(schema, refs, notHeld), ...about };
    case 'array':
      return { ...arraySchema(schema, refs, notHeld), ...about };
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

function objectSchema(schema: Record<string, unknown>, refs: References, notHeld: Set<string>): GrammarSchema {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  const more = schema.additionalProperties;
  // An object of which nothing is said may hold anything; one with named properties gets those, which is always allowed.
  const open = isRecord(more) ? convert(more, refs, notHeld) : more === true || (more === undefined && names.length === 0);
  return {
    type: 'object',
    ...(names.length === 0 ? {} : { properties: Object.fromEntries(names.map(name => [name, convert(properties[name], refs, notHeld)])) }),
    ...(open === false ? {} : { additionalProperties: open }),
  };
}

/** A tuple is closed by `items: false`; until 2019 its items stood in `items`, and `additionalItems` closed it. */
function arraySchema(schema: Record<string, unknown>, refs: References, notHeld: Set<string>): GrammarSchema {
  const isOld = Array.isArray(schema.items);
  const first = isOld ? schema.items : schema.prefixItems;
  const rest = isOld ? schema.additionalItems : schema.items;
  const prefix = Array.isArray(first) ? first.map(item => convert(item, refs, notHeld)) : undefined;
  return {
    type: 'array',
    ...(rest === undefined || rest === false ? {} : { items: convert(rest, refs, notHeld) }),
    ...(prefix === undefined ? {} : { prefixItems: prefix }),
    ...count(schema, 'minItems'),
    ...(rest === false ? { maxItems: prefix?.length ?? 0 } : count(schema, 'maxItems')),
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
