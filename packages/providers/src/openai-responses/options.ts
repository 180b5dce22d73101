import { isRecord, type JsonObject, type Warning } from '@antiphon/engine';
import { replaced } from '../http/own-options.js';
import type { WireJson, WireObject } from '../openai-chat/wire.js';

/** Fields that hold a list: the caller's entries come behind the request's. */
const LISTS: ReadonlySet<string> = new Set(['tools', 'include', 'input']);
/** Fields that hold settings side by side. */
const GROUPS: ReadonlySet<string> = new Set(['reasoning', 'text']);
/** Fields that only have a default in the request. */
const DEFAULTS: ReadonlySet<string> = new Set(['store', 'stream']);

/** The caller's fields on top of the request: added to lists, side by side in groups, else instead of what was derived from settings. */
export function mergeOptions(body: WireObject, own: JsonObject, warnings: Warning[]): WireObject {
  const merged: Record<string, WireJson> = { ...body };
  for (const [field, value] of Object.entries(own)) {
    const before = merged[field];
    if (LISTS.has(field) && Array.isArray(before) && Array.isArray(value)) {
      merged[field] = field === 'include' ? [...new Set([...before, ...value])] : [...before, ...value];
    } else if (GROUPS.has(field) && isRecord(before) && isRecord(value)) {
      for (const key of Object.keys(value)) if (Object.hasOwn(before, key)) warnings.push(replaced(`${field}.${key}`));
      merged[field] = { ...before, ...value } as WireObject;
    } else {
      if (before !== undefined && !DEFAULTS.has(field)) warnings.push(replaced(field));
      merged[field] = value as WireJson;
    }
  }
  return merged;
}
