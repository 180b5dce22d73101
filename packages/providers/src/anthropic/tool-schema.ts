import { isRecord, type Json, type JsonObject } from '@antiphon/engine';
import { inDraft2020 } from '../schemas/draft-2020.js';
import { lookUp } from '../schemas/pointer.js';
import { describedWith } from './schema.js';

const COMBINED = ['anyOf', 'oneOf', 'allOf'] as const;
/** Names of arguments that the API takes. One other name has the whole request refused. */
const ARGUMENT = /^[\w.-]{1,64}$/;

/**
 * The schema of a tool's arguments as the API takes it: an object at the top, and no choice between schemas there. A choice becomes one
 * object with the members of all, which demands what all demand, and the choice itself words; so do arguments with names that the API
 * refuses (`$top`). The engine checks the arguments against the schema as it was given.
 *
 * ```ts
 * toolSchema({ anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: {}, b: {} } });
 * // { type: 'object', properties: { a: {}, b: {} }, description: '{"anyOf":[{"required":["a"]},{"required":["b"]}]}' }
 * ```
 */
export function toolSchema(schema: JsonObject): JsonObject {
  return named(unchosen(inDraft2020(schema)));
}

function named(schema: JsonObject): JsonObject {
  const members = isRecord(schema.properties) ? Object.entries(schema.properties as JsonObject) : [];
  const odd = members.filter(([name]) => !ARGUMENT.test(name));
  if (odd.length === 0) return schema;
  const isOdd = (name: Json) => !ARGUMENT.test(String(name));
  const required = list(schema.required);
  const words = { properties: Object.fromEntries(odd), required: required.filter(isOdd) };
  // What the words tell of is not to be shut out.
  const { additionalProperties: _, ...open } = schema;
  return {
    ...open,
    properties: Object.fromEntries(members.filter(([name]) => ARGUMENT.test(name))),
    ...(required.length === 0 ? {} : { required: required.filter(name => !isOdd(name)) }),
    description: describedWith(words, schema),
  };
}

function unchosen(schema: JsonObject): JsonObject {
  const choices = Object.fromEntries(COMBINED.filter(word => schema[word] !== undefined).map(word => [word, schema[word]]));
  // The API demands an object, also where a schema leaves the type open.
  if (Object.keys(choices).length === 0) return schema.type === undefined ? { type: 'object', ...schema } : schema;
  const rest = Object.entries(schema).filter(([name]) => !(name in choices));
  const { properties, required } = membersOf(schema, schema, []);
  return {
    ...Object.fromEntries(rest),
    type: 'object',
    properties: Object.fromEntries([...properties].map(([name, variants]) => [name, oneOf(variants)])),
    ...(required.size === 0 ? {} : { required: [...required] }),
    description: describedWith(choices as JsonObject, schema),
  };
}

interface Members {
  /** The different schemas of each member. */
  readonly properties: Map<string, Json[]>;
  readonly required: Set<string>;
}

function membersOf(schema: JsonObject, root: JsonObject, way: readonly string[]): Members {
  const all: Members = { properties: new Map(), required: new Set(list(schema.required).map(String)) };
  addProperties(
    all,
    isRecord(schema.properties) ? Object.entries(schema.properties as JsonObject).map(([name, one]) => [name, [one]]) : [],
  );
  const { $ref } = schema;
  if (typeof $ref === 'string' && !way.includes($ref)) {
    const target = lookUp($ref, root);
    if (isRecord(target)) join(all, [membersOf(target as JsonObject, root, [...way, $ref])], true);
  }
  for (const word of COMBINED) {
    const branches = list(schema[word]).filter(isRecord) as JsonObject[];
    join(
      all,
      branches.map(branch => membersOf(branch, root, way)),
      word === 'allOf',
    );
  }
  return all;
}

function join(all: Members, branches: readonly Members[], together: boolean): void {
  for (const { properties, required } of branches) {
    addProperties(all, [...properties]);
    for (const name of required) if (together || branches.every(other => other.required.has(name))) all.required.add(name);
  }
}

function addProperties({ properties }: Members, more: readonly (readonly [string, readonly Json[]])[]): void {
  for (const [name, variants] of more) {
    const known = properties.get(name) ?? [];
    const texts = new Set(known.map(variant => JSON.stringify(variant)));
    properties.set(name, [...known, ...variants.filter(variant => !texts.has(JSON.stringify(variant)))]);
  }
}

function oneOf(variants: readonly Json[]): Json {
  return variants.length === 1 ? variants[0]! : { anyOf: [...variants] };
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
