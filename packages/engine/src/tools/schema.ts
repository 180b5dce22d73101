import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { isRecord, type JsonObject } from '../data/json.js';
import { ConfigurationError, type Issue } from '../errors.js';

/** A JSON Schema object, or any Standard Schema (zod, valibot, arktype …). */
export type Schema<Output = unknown> = StandardSchemaV1<unknown, Output> | JsonObject;

/** The type that a schema's validated value has; JSON Schema gives a plain object. */
export type SchemaOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : JsonObject;

export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  // arktype's schemas are functions.
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || !('~standard' in schema)) return false;
  return typeof (schema['~standard'] as { validate?: unknown } | undefined)?.validate === 'function';
}

/** The JSON Schema of any schema, as it is sent to providers. */
export function toJsonSchema(schema: Schema, owner: string): JsonObject {
  if (!isStandardSchema(schema)) {
    if (isRecord(schema)) return schema as JsonObject;
    throw new TypeError(`${owner}: input must be a JSON Schema object or a Standard Schema (zod, valibot, arktype), not ${typeof schema}.`);
  }
  const standard = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  if (standard.jsonSchema) {
    const { $schema: _, ...json } = standard.jsonSchema.input({ target: 'draft-2020-12' });
    return json as JsonObject;
  }
  throw new ConfigurationError(
    'missing_schema',
    `${owner}: this ${standard.vendor} schema cannot tell its JSON Schema. Use zod ≥ 4.2 or arktype ≥ 2.1.28, wrap a valibot schema in toStandardJsonSchema() of @valibot/to-json-schema, or pass a JSON Schema object.`,
  );
}

export type Validation = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: readonly Issue[] };

/** Checks a value; a Standard Schema may also transform it. Every fault is listed with its path. */
export async function validate(schema: Schema, value: unknown): Promise<Validation> {
  if (isStandardSchema(schema)) {
    const result = await schema['~standard'].validate(value);
    if (!result.issues) return { ok: true, value: result.value };
    return { ok: false, issues: result.issues.map(issue => ({ path: pathOf(issue.path), reason: issue.message })) };
  }
  // Loaded on first use: an engine without JSON Schema tools does not pay for it.
  const { Validator } = await import('@cfworker/json-schema');
  const result = new Validator(schema as object, '2020-12', false).validate(value);
  if (result.valid) return { ok: true, value };
  return { ok: false, issues: leaves(result.errors).map(unit => ({ path: pointerPath(unit.instanceLocation), reason: unit.error })) };
}

/** The errors that say something themselves; a `properties` or `$ref` error only repeats the one below it. */
function leaves<T extends { readonly keyword: string }>(errors: readonly T[]): readonly T[] {
  const own = errors.filter(unit => !['properties', 'items', 'prefixItems', '$ref', 'additionalProperties'].includes(unit.keyword));
  return own.length > 0 ? own : errors;
}

function pathOf(path: StandardSchemaV1.Issue['path']): string {
  const keys = (path ?? []).map(segment => (typeof segment === 'object' ? segment.key : segment));
  return keys.length === 0 ? '$' : keys.map(String).join('.');
}

function pointerPath(location: string): string {
  const keys = location
    .replace(/^#\/?/, '')
    .split('/')
    .filter(key => key !== '')
    .map(key => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.length === 0 ? '$' : keys.join('.');
}
