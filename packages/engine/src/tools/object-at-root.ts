// What providers are told of arguments whose schema is a union. What the arguments must be is checked against the schema itself, not here.
import { isRecord, type Json, type JsonObject } from '../data/json.js';

/**
 * Providers take nothing but an object at the root of a tool's schema. A union of objects is told as one object with the members of all, of
 * which those must be there that each of them wants; everything else is told as it is.
 *
 * ```ts
 * objectAtRoot({ anyOf: [{ type: 'object', properties: { a: {} }, required: ['a'] }, { type: 'object', properties: { b: {} } }] });
 * // { type: 'object', properties: { a: {}, b: {} } }
 * ```
 */
export function objectAtRoot(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, ...rest } = schema;
  const union = anyOf ?? oneOf;
  if (schema.type !== undefined || (anyOf !== undefined && oneOf !== undefined) || !Array.isArray(union)) return schema;
  const branches = union.map(branch => resolved(branch, schema));
  if (!branches.every(isObjectSchema)) return schema;
  const members = new Map<string, Json[]>();
  for (const { properties } of branches) {
    for (const [name, member] of Object.entries(isRecord(properties) ? (properties as JsonObject) : {})) {
      const known = members.get(name) ?? [];
      if (!known.some(other => JSON.stringify(other) === JSON.stringify(member))) known.push(member);
      members.set(name, known);
    }
  }
  const wanted = branches.map(({ required }) => new Set(Array.isArray(required) ? required : []));
  const required = [...members.keys()].filter(name => wanted.every(names => names.has(name)));
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries([...members].map(([name, found]) => [name, found.length === 1 ? (found[0] as Json) : { anyOf: found }])),
    ...(required.length > 0 ? { required } : {}),
    ...(branches.every(({ additionalProperties }) => additionalProperties === false) ? { additionalProperties: false } : {}),
  };
}

/** A branch that stands among the definitions. */
function resolved(branch: Json, { $defs }: JsonObject): Json | undefined {
  if (!isRecord(branch) || typeof branch.$ref !== 'string') return branch;
  const name = branch.$ref.replace(/^#\/\$defs\//, '');
  return isRecord($defs) && Object.hasOwn($defs, name) ? ($defs as JsonObject)[name] : undefined;
}

function isObjectSchema(branch: Json | undefined): branch is JsonObject {
  return isRecord(branch) && branch.type === 'object';
}
