import { isRecord, type JsonObject, jsonFault } from '../data/json.js';
import { isJsonObject } from '../data/rules.js';
import { ConfigurationError, describe } from '../errors.js';
import type { StandardSchema } from './standard-schema.js';

/** A JSON Schema object, or any Standard Schema (zod, valibot, arktype …). */
export type Schema<Output = unknown> = StandardSchema<Output> | JsonObject;

/** The type that a schema's validated value has; JSON Schema gives a plain object. */
export type SchemaOutput<S> = S extends StandardSchema ? NonNullable<S['~standard']['types']>['output'] : JsonObject;

/** The schema of a tool without arguments. */
export const NO_ARGUMENTS: JsonObject = Object.freeze({ type: 'object', properties: Object.freeze({}), additionalProperties: false });

/** True for a zod, valibot or arktype schema and everything else that speaks Standard Schema. `isStandardSchema(z.string())` → `true` */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  // arktype's schemas are functions.
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || !('~standard' in schema)) return false;
  return typeof (schema['~standard'] as { validate?: unknown } | undefined)?.validate === 'function';
}

/**
 * The JSON Schema of any schema, as it is sent to providers. Throws `TypeError` for what is no schema, and `ConfigurationError`
 * (`missing_schema`) for one that cannot be written as JSON Schema; both begin with `owner`.
 *
 * ```ts
 * toJsonSchema(z.object({ city: z.string() }), 'tool "weather"'); // { type: 'object', properties: { city: { type: 'string' } }, … }
 * ```
 */
export function toJsonSchema(schema: Schema, owner: string): JsonObject {
  if (!isStandardSchema(schema)) {
    if (isRecord(schema) && Object.values(schema).some(isStandardSchema)) {
      throw new TypeError(`${owner}: these are schemas of single properties; put an object around them, such as z.object({ … }).`);
    }
    if (isJsonObject(schema)) return schema;
    throw new TypeError(
      `${owner}: input must be a JSON Schema object or a Standard Schema (zod, valibot, arktype), not ${isRecord(schema) ? `an object that is no JSON (${jsonFault(schema)})` : typeof schema}.`,
    );
  }
  const standard = schema['~standard'];
  if (standard.jsonSchema) {
    try {
      const { $schema: _, ...json } = standard.jsonSchema.input({ target: 'draft-2020-12' });
      return json as JsonObject;
    } catch (cause) {
      const message = `${owner}: this ${standard.vendor} schema has no JSON Schema: ${describe(cause)}`;
      throw new ConfigurationError('missing_schema', message, { cause });
    }
  }
  throw new ConfigurationError(
    'missing_schema',
    `${owner}: this ${standard.vendor} schema cannot tell its JSON Schema. Use zod ≥ 4.2 or arktype ≥ 2.1.28, wrap a valibot schema in toStandardJsonSchema() of @valibot/to-json-schema, or pass a JSON Schema object.`,
  );
}
