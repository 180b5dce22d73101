import type { Json } from '../data/json.js';
import { isRecord } from '../data/json.js';
import type { ToolResultPart } from '../data/parts.js';
import { isToolContent } from '../data/validate.js';
import { describe } from '../errors.js';

/** What the model reads of a tool's value. */
export type EncodedResult = string | readonly ToolResultPart[];

/** Turns a tool's value into what the model reads. Takes the engine's place as `encodeResult`. */
export type ResultEncoder = (value: unknown) => EncodedResult;

/** Text stays text, an image or file part (or a list with one) stays parts, everything else becomes JSON. `encodeResult({ a: 1 })` → `'{"a":1}'` */
export function encodeResult(value: unknown): EncodedResult {
  if (typeof value === 'string') return value;
  // Data of a tool's own may look like a part: only what is one counts.
  if (isMedia(value) && isToolContent([value])) return [value as ToolResultPart];
  if (Array.isArray(value) && value.some(isMedia) && isToolContent(value)) return value as ToolResultPart[];
  return JSON.stringify(value) ?? 'null';
}

/** The text of a reported failure. `encodeFailure(new Error('gone'))` → `'gone'` */
export function encodeFailure(reason: unknown): string {
  return typeof reason === 'string'
    ? reason
    : reason instanceof Error
      ? describe(reason)
      : (JSON.stringify(reason as Json) ?? String(reason));
}

function isMedia(value: unknown): boolean {
  return isRecord(value) && (value.type === 'image' || value.type === 'file') && typeof value.mediaType === 'string';
}
