import type { Json, JsonObject } from '@antiphon/engine';

/**
 * Adds fields of JSON to a form; null ones are left out. The members of a list become fields of their own, under the name that `ofList` makes
 * of the list's, since vendors spell it differently; a list of objects is one field of JSON.
 */
export function appendFields(form: FormData, fields: JsonObject, ofList: (name: string) => string): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue;
    if (!Array.isArray(value) || value.some(isObject)) form.set(name, fieldText(value));
    else for (const item of value as readonly Json[]) form.append(ofList(name), fieldText(item));
  }
}

/** OpenAI's way: a list without brackets is ignored in silence. */
export function bracketed(name: string): string {
  return name.endsWith('[]') ? name : `${name}[]`;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function fieldText(value: Json): string {
  return isObject(value) ? JSON.stringify(value) : String(value);
}
