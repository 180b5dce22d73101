import type { Validator } from '@cfworker/json-schema';
import { isRecord, type JsonObject } from '../data/json.js';
import type { Issue } from '../errors.js';
import { isStandardSchema, NO_ARGUMENTS, type Schema } from './schema.js';
import type { StandardPath } from './standard-schema.js';

/** What `validate` found. */
export type Validation = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Checks a value; a Standard Schema may also transform it. Every fault is listed with its path. Rejects when the schema itself fails: with
 * what it threw, or with the validator's error for a JSON Schema that is none.
 *
 * ```ts
 * await validate(z.object({ n: z.number() }), { n: 'x' }); // { ok: false, issues: [{ path: 'n', reason: '…' }] }
 * ```
 */
export async function validate(schema: Schema, value: unknown): Promise<Validation> {
  if (isStandardSchema(schema)) {
    const result = await schema['~standard'].validate(value);
    if (!result.issues) return { ok: true, value: result.value };
    return { ok: false, issues: result.issues.map(issue => ({ path: pathOf(issue.path), reason: issue.message })) };
  }
  if (schema === NO_ARGUMENTS) return checkNoArguments(value);
  const result = (await validatorOf(schema)).validate(value);
  if (result.valid) return { ok: true, value };
  return { ok: false, issues: leaves(result.errors).map(unit => ({ path: pointerPath(unit.instanceLocation), reason: reasonOf(unit) })) };
}

function checkNoArguments(value: unknown): Validation {
  if (!isRecord(value)) return { ok: false, issues: [{ path: '$', reason: 'Expected an object.' }] };
  const issues = Object.keys(value).map(path => ({ path, reason: UNKNOWN }));
  return issues.length === 0 ? { ok: true, value } : { ok: false, issues };
}

const UNKNOWN = 'This property is not known here.';
const VALIDATORS = new WeakMap<object, Validator>();

async function validatorOf(schema: JsonObject): Promise<Validator> {
  const known = VALIDATORS.get(schema);
  if (known) return known;
  // Loaded on first use: an engine without JSON Schema tools does not pay for it.
  const { Validator } = await import('@cfworker/json-schema');
  // A copy, since the validator writes into the schema, which may be frozen.
  const validator = new Validator(structuredClone(schema) as object, '2020-12', false);
  VALIDATORS.set(schema, validator);
  return validator;
}

const REPEATING: ReadonlySet<string> = new Set(['properties', 'items', 'prefixItems', '$ref', 'additionalProperties']);

/** The errors that say something themselves; a `properties` or `$ref` error only repeats the one below it. */
function leaves<T extends { readonly keyword: string }>(errors: readonly T[]): readonly T[] {
  const own = errors.filter(unit => !REPEATING.has(unit.keyword));
  return own.length > 0 ? own : errors;
}

function reasonOf(unit: { readonly keyword: string; readonly keywordLocation: string; readonly error: string }): string {
  return unit.keyword === 'false' && unit.keywordLocation.includes('/additionalProperties') ? UNKNOWN : unit.error;
}

function pathOf(path: StandardPath | undefined): string {
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
