// JSON as models write it when they do not write JSON. Only for text that has come whole: see partial-json.ts for text that still grows.
import { type Json, jsonFault, MAX_JSON_DEPTH } from './json.js';
import { LenientReader, type Repairs } from './lenient-reader.js';

/** What `parseLenient` found: the value and everything that was mended, in words (empty for plain JSON); or why there is no value. */
export type LenientResult = { readonly value: Json; readonly repairs: readonly string[] } | { readonly error: string };

interface Candidate {
  readonly value: Json;
  readonly start: number;
  readonly end: number;
  readonly repairs: Repairs;
}

interface Fault {
  readonly at: number;
  readonly reason: string;
}

/**
 * Reads nearly-JSON: with code fences or prose around it, trailing commas, single quotes, keys without quotes, `True`, `False`, `None`,
 * `NaN`, comments, raw line breaks in strings, escapes that JSON does not know. Missing closing brackets and quotes are added only with
 * `close: true`, because a text that was cut off must not pass for a whole one. Text that holds two values is an error, since nobody knows
 * which is meant (an object counts before a list, so that a footnote such as `[1]` does no harm). Linear in the length of the text; never
 * throws; nesting deeper than 1000 levels is an error.
 *
 * ```ts
 * parseLenient("Sure: {city: 'Oslo',}"); // { value: { city: 'Oslo' }, repairs: ['text around the JSON was left out (at 0)', …] }
 * parseLenient('{"city":"Os'); // { error: 'at 11: the text ends before the value does' }
 * ```
 */
export function parseLenient(text: string, options: { readonly close?: boolean } = {}): LenientResult {
  try {
    const value = JSON.parse(text) as Json;
    // Only long text can nest that deeply, so the others need no look.
    const fault = text.length > MAX_JSON_DEPTH ? jsonFault(value) : undefined;
    return fault ? { error: fault } : { value, repairs: [] };
  } catch {
    return parseNearly(text, options.close === true);
  }
}

function parseNearly(text: string, mayClose: boolean): LenientResult {
  // The whole text as one value: the only way for a scalar.
  const whole = readAt(text, 0, mayClose);
  if ('end' in whole && whole.end === text.length) return { value: whole.value, repairs: inWords(whole, text) };
  const faults: Fault[] = 'reason' in whole ? [whole] : [];
  const found = pick(fenced(text, mayClose)) ?? pick(embedded(text, mayClose, faults));
  if (found === undefined) {
    // What is wrong with the first list or object says more than that the text does not begin with one.
    const fault = /^\s*[[{]/.test(text) ? faults[0] : (faults[1] ?? faults[0]);
    return { error: fault ? `at ${fault.at}: ${fault.reason}` : 'there is text behind the value' };
  }
  if (found.of > 1) return { error: `the text holds ${found.of} JSON values, and which one is meant is not certain` };
  return { value: found.meant.value, repairs: inWords(found.meant, text) };
}

/** One value from this place on, with the white space and comments around it. */
function readAt(text: string, start: number, mayClose: boolean): Candidate | Fault {
  const reader = new LenientReader(text, start, mayClose);
  const reading = reader.read();
  if (!reading.ok) return reading;
  return { value: reading.value, start, end: reader.skipBlanks(), repairs: reader.repairs };
}

/** Every list or object in the text. A try that fails goes on where it failed, so no character is read twice. */
function* embedded(text: string, mayClose: boolean, faults: Fault[]): Generator<Candidate> {
  for (let at = opening(text, 0); at < text.length; ) {
    const read = readAt(text, at, mayClose);
    if ('end' in read) yield read;
    else if (faults.length < 2) faults.push(read);
    at = opening(text, Math.max(at + 1, 'end' in read ? read.end : read.at));
  }
}

/** The values right behind a code fence. */
function* fenced(text: string, mayClose: boolean): Generator<Candidate> {
  for (let fence = text.indexOf('```'); fence >= 0; ) {
    let at = fence + 3;
    while (/[A-Za-z0-9]/.test(text[at] ?? '')) at++;
    const read = readAt(text, at, mayClose);
    if ('end' in read && typeof read.value === 'object' && read.value !== null) yield read;
    const next = Math.max(at, 'end' in read ? read.end : read.at);
    // The closing fence is not the opening one of what follows.
    const closing = text.indexOf('```', next);
    fence = closing < 0 ? -1 : text.indexOf('```', closing + 3);
  }
}

/** The one that is meant, and how many it might have been. */
function pick(candidates: Iterable<Candidate>): { readonly meant: Candidate; readonly of: number } | undefined {
  let object: Candidate | undefined;
  let list: Candidate | undefined;
  let objects = 0;
  let lists = 0;
  for (const candidate of candidates) {
    if (Array.isArray(candidate.value)) {
      lists++;
      list ??= candidate;
    } else {
      objects++;
      object ??= candidate;
    }
  }
  return object ? { meant: object, of: objects } : list && { meant: list, of: lists };
}

function opening(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === '{' || text[at] === '[') return at;
  return text.length;
}

function inWords({ start, end, repairs }: Candidate, text: string): string[] {
  const around = `${text.slice(0, start)} ${text.slice(end)}`;
  const words = [...repairs].map(([what, { count, at }]) => `${what} (${count > 1 ? `${count} times, first ` : ''}at ${at})`);
  if (around.includes('```')) words.unshift('a code fence around the JSON was left out');
  if (around.replaceAll(/```[A-Za-z0-9]*|\s/g, '') !== '') words.unshift('text around the JSON was left out');
  return words;
}
