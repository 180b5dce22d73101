// Reads JSON text that is still being written, piece by piece. Every character is looked at once, so the cost of a whole stream is linear,
// however it is cut. Strict: what JSON.parse refuses is `invalid` here too; mending is the work of lenient-json.ts.
import { GrowingText } from './growing-text.js';
import { GrowingValue } from './growing-value.js';
import { type Json, MAX_JSON_DEPTH } from './json.js';
import { ESCAPES, NUMBER } from './json-grammar.js';

/** Where growing JSON text breaks its grammar. `position` counts UTF-16 units from the start of the text. */
export interface JsonFault {
  readonly reason: string;
  readonly position: number;
}

type Expect = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end' | 'string' | 'number' | 'word';

const WORDS: { readonly [first: string]: readonly [string, Json] } = { t: ['true', true], f: ['false', false], n: ['null', null] };

/**
 * The value of JSON text as far as it has come. What is not certain yet is left out: half a key, a key without a value, half a `true`, a
 * number until the character behind it has come (`12` may become `120`), half a surrogate pair or escape. An open string shows what it has;
 * open lists and objects show their members. The same text gives the same values at the same places, however it is cut into pieces. Nesting
 * deeper than 1000 levels is `invalid`. Never throws for what the text holds.
 *
 * ```ts
 * const parser = new PartialJson();
 * parser.push('{"city":"Os'); // true: the value changed
 * parser.value; // { city: 'Os' }
 * parser.push('lo"}');
 * parser.state; // 'complete'
 * ```
 */
export class PartialJson {
  readonly #built = new GrowingValue();
  readonly #text = new GrowingText();
  #expect: Expect = 'value';
  #state: 'open' | 'complete' | 'invalid' = 'open';
  #fault: JsonFault | undefined;
  #isKey = false;
  /** `\` and what came of its escape. */
  #escape = '';
  #number = '';
  #word: readonly [string, Json] = ['', null];
  #matched = 0;
  /** Characters of earlier pieces. */
  #before = 0;

  /**
   * The value so far; undefined before its first character. It is live: open lists and objects grow in place with later pieces, closed ones
   * never change again. Reading costs nothing; keep a `snapshot()` of it, or a copy.
   */
  get value(): Json | undefined {
    return this.#built.root;
  }

  /** `complete` when the value is closed (a number at the root: when something followed it, or `end` was called). */
  get state(): 'open' | 'complete' | 'invalid' {
    return this.#state;
  }

  /** Why the state is `invalid`; the value stays as it was before that place. */
  get fault(): JsonFault | undefined {
    return this.#fault;
  }

  /** What a `snapshot` costs now, in copied list entries: it copies every list and object that is still open, and no other. */
  get snapshotCost(): number {
    return this.#built.cost;
  }

  /** The value so far as a copy that later pieces leave alone. What is closed is shared with other copies, so treat it as read-only. */
  snapshot(): Json | undefined {
    return this.#built.snapshot();
  }

  /** Reads the next piece; true when it changed the value. Pieces after an `invalid` place are ignored. */
  push(piece: string): boolean {
    const changes = this.#built.changes;
    let at = 0;
    while (at < piece.length && this.#state !== 'invalid') {
      if (this.#expect === 'string') at = this.#readString(piece, at);
      else if (this.#expect === 'number') at = this.#readNumber(piece, at);
      else if (this.#expect === 'word') at = this.#readWord(piece, at);
      else at = this.#readSign(piece, at);
    }
    this.#before += piece.length;
    if (this.#expect === 'string' && !this.#isKey && this.#text.grew()) this.#built.replace(this.#text.value);
    return changes !== this.#built.changes;
  }

  /** No more text comes: a number at the root is complete, and a value that is still open is `invalid`. True when the value changed. */
  end(): boolean {
    const changes = this.#built.changes;
    if (this.#expect === 'number' && this.#built.depth === 0) this.#endNumber(0);
    if (this.#state === 'open') this.#fail(0, 'the text ends before the value does');
    return changes !== this.#built.changes;
  }

  #fail(at: number, reason: string): number {
    this.#state = 'invalid';
    this.#fault = { reason, position: this.#before + at };
    return at;
  }

  /** Reads one character between values. */
  #readSign(piece: string, at: number): number {
    const sign = piece[at] as string;
    if (sign === ' ' || sign === '\n' || sign === '\t' || sign === '\r') return at + 1;
    const expect = this.#expect;
    if (expect === 'comma') {
      if (sign === ',') this.#expect = this.#built.isList ? 'value' : 'key';
      else if (sign === (this.#built.isList ? ']' : '}')) this.#close();
      else return this.#fail(at, `expected a comma or the end of the ${this.#built.isList ? 'list' : 'object'}, not ${shown(sign)}`);
    } else if (expect === 'colon') {
      if (sign !== ':') return this.#fail(at, `expected a colon after the key, not ${shown(sign)}`);
      this.#expect = 'value';
    } else if (expect === 'key' || expect === 'key or }') {
      if (sign === '"') this.#openString(true);
      else if (sign === '}' && expect === 'key or }') this.#close();
      else return this.#fail(at, `expected a key in double quotes, not ${shown(sign)}`);
    } else if (expect === 'end') {
      return this.#fail(at, `expected nothing after the value, not ${shown(sign)}`);
    } else if (sign === ']' && expect === 'value or ]') {
      this.#close();
    } else return this.#beginValue(sign, at);
    return at + 1;
  }

  #beginValue(sign: string, at: number): number {
    if (sign === '"') {
      this.#built.put('');
      this.#openString(false);
    } else if (sign === '{' || sign === '[') {
      if (this.#built.depth >= MAX_JSON_DEPTH) return this.#fail(at, `nested deeper than ${MAX_JSON_DEPTH} levels`);
      this.#built.open(sign === '[');
      this.#expect = sign === '[' ? 'value or ]' : 'key or }';
    } else if (sign === '-' || (sign >= '0' && sign <= '9')) {
      this.#number = '';
      this.#expect = 'number';
      return at;
    } else if (Object.hasOwn(WORDS, sign)) {
      this.#word = WORDS[sign] as readonly [string, Json];
      this.#matched = 0;
      this.#expect = 'word';
      return at;
    } else return this.#fail(at, `expected a value, not ${shown(sign)}`);
    return at + 1;
  }

  #openString(isKey: boolean): void {
    this.#isKey = isKey;
    this.#text.clear();
    this.#expect = 'string';
  }

  #readString(piece: string, start: number): number {
    if (this.#escape !== '') return this.#readEscape(piece, start);
    let at = start;
    let code = 0;
    for (; at < piece.length; at++) {
      code = piece.charCodeAt(at);
      if (code === 0x22 || code === 0x5c || code < 0x20) break;
    }
    if (at > start) this.#text.add(piece.slice(start, at));
    if (at === piece.length) return at;
    if (code < 0x20) return this.#fail(at, `a string must write ${shown(piece[at] as string)} as an escape`);
    if (code === 0x5c) this.#escape = '\\';
    else this.#closeString();
    return at + 1;
  }

  #readEscape(piece: string, at: number): number {
    const letter = piece[at] as string;
    if (this.#escape !== '\\' || letter === 'u') {
      if (this.#escape !== '\\' && !/[0-9a-fA-F]/.test(letter)) return this.#fail(at, 'four hexadecimal digits must follow \\u');
      this.#escape += letter;
      if (this.#escape.length < 6) return at + 1;
      this.#text.add(String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16)));
    } else if (Object.hasOwn(ESCAPES, letter)) this.#text.add(ESCAPES[letter] as string);
    else return this.#fail(at, `\\${letter} is no escape`);
    this.#escape = '';
    return at + 1;
  }

  #closeString(): void {
    this.#text.release();
    if (this.#isKey) {
      this.#built.key(this.#text.value);
      this.#expect = 'colon';
      return;
    }
    if (this.#text.grew()) this.#built.replace(this.#text.value);
    this.#afterValue();
  }

  #readNumber(piece: string, start: number): number {
    let at = start;
    while (at < piece.length && isNumberSign(piece.charCodeAt(at))) at++;
    this.#number += piece.slice(start, at);
    if (at < piece.length) this.#endNumber(at);
    return at;
  }

  #endNumber(at: number): void {
    if (!NUMBER.test(this.#number)) {
      this.#fail(at, `${this.#number.length > 40 ? `${this.#number.slice(0, 40)}…` : this.#number} is no number`);
      return;
    }
    this.#built.put(Number(this.#number));
    this.#afterValue();
  }

  #readWord(piece: string, at: number): number {
    const [word, value] = this.#word;
    if (piece[at] !== word[this.#matched]) return this.#fail(at, `expected ${word}, not ${shown(piece[at] as string)}`);
    if (++this.#matched === word.length) {
      this.#built.put(value);
      this.#afterValue();
    }
    return at + 1;
  }

  #afterValue(): void {
    if (this.#built.depth > 0) this.#expect = 'comma';
    else {
      this.#expect = 'end';
      this.#state = 'complete';
    }
  }

  #close(): void {
    this.#built.close();
    this.#afterValue();
  }
}

function isNumberSign(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45;
}

function shown(sign: string): string {
  return JSON.stringify(sign);
}
