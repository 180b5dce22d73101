// Reads one value of nearly-JSON from a place in a text, and notes what it had to mend. One pass, no recursion, no backtracking.
import { type Json, MAX_JSON_DEPTH } from './json.js';
import { ESCAPES, type Members, NUMBER, setMember } from './json-grammar.js';

/** A value and the place behind it, or the place where reading had to stop. */
export type Reading =
  | { readonly ok: true; readonly value: Json; readonly end: number }
  | { readonly ok: false; readonly at: number; readonly reason: string };

type Frame = { readonly list: Json[]; readonly members?: never } | { readonly members: Members; readonly list?: never; key?: string };

const WORDS: { readonly [word: string]: readonly [Json, string?] } = {
  true: [true],
  false: [false],
  null: [null],
  True: [true, 'Python words became true, false or null'],
  False: [false, 'Python words became true, false or null'],
  None: [null, 'Python words became true, false or null'],
  NaN: [null, 'NaN, Infinity and undefined became null'],
  Infinity: [null, 'NaN, Infinity and undefined became null'],
  '-Infinity': [null, 'NaN, Infinity and undefined became null'],
  undefined: [null, 'NaN, Infinity and undefined became null'],
};

/** Where reading cannot go on. No Error, since a text may hold thousands of brackets that begin nothing, and a stack is dear. */
class Stop {
  constructor(
    readonly at: number,
    readonly reason: string,
  ) {}
}

/** What was mended, by kind: how often, and where first. */
export type Repairs = ReadonlyMap<string, { readonly count: number; readonly at: number }>;

const NONE: Repairs = new Map();

/** One try at one place. */
export class LenientReader {
  #repairs: Map<string, { count: number; readonly at: number }> | undefined;
  readonly #text: string;
  readonly #mayClose: boolean;
  #at: number;

  constructor(text: string, start: number, mayClose: boolean) {
    this.#text = text;
    this.#at = start;
    this.#mayClose = mayClose;
  }

  get repairs(): Repairs {
    return this.#repairs ?? NONE;
  }

  read(): Reading {
    try {
      const value = this.#value();
      return { ok: true, value, end: this.#at };
    } catch (stop) {
      if (!(stop instanceof Stop)) throw stop;
      return { ok: false, at: stop.at, reason: stop.reason };
    }
  }

  /** Skips white space and comments; used behind the value too. */
  skipBlanks(): number {
    for (; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at] as string;
      if (sign === '/' || sign === '#') {
        const end = this.#commentEnd(sign);
        if (end === undefined) return this.#at;
        this.#mend('comments were left out');
        this.#at = end - 1;
      } else if (!/\s/.test(sign)) break;
    }
    return this.#at;
  }

  #commentEnd(sign: string): number | undefined {
    const next = this.#text[this.#at + 1];
    const isBlock = sign === '/' && next === '*';
    if (!isBlock && sign !== '#' && next !== '/') return undefined;
    const end = this.#text.indexOf(isBlock ? '*/' : '\n', this.#at + 1);
    if (end >= 0) return isBlock ? end + 2 : end;
    return this.#text.length;
  }

  #mend(what: string, at = this.#at): void {
    this.#repairs ??= new Map();
    const known = this.#repairs.get(what);
    if (known) known.count++;
    else this.#repairs.set(what, { count: 1, at });
  }

  #value(): Json {
    const frames: Frame[] = [];
    for (;;) {
      const begun = this.#begin(frames);
      let value: Json;
      if (begun.open) {
        frames.push(begun.open);
        if (!this.#closes(frames, true)) continue;
        value = containerOf(frames.pop() as Frame);
      } else if (begun.value === undefined) {
        // The text ended where a value had to come, and may be closed: the key without a value goes.
        value = containerOf(frames.pop() as Frame);
      } else value = begun.value;
      for (;;) {
        const frame = frames.at(-1);
        if (!frame) return value;
        add(frame, value);
        if (!this.#closes(frames, false)) break;
        value = containerOf(frames.pop() as Frame);
      }
    }
  }

  /** Reads what stands before a value (its key), then a scalar, or the bracket of a list or an object. */
  #begin(frames: readonly Frame[]): { readonly value?: Json; readonly open?: Frame } {
    const frame = frames.at(-1);
    if (frame?.members && !this.#key(frame)) return {};
    this.skipBlanks();
    const sign = this.#text[this.#at];
    if (sign === undefined) {
      if (frame) this.#mendEnd();
      else throw new Stop(this.#at, 'there is no value');
      return {};
    }
    if (sign === '{' || sign === '[') {
      if (frames.length >= MAX_JSON_DEPTH) throw new Stop(this.#at, `the value is nested deeper than ${MAX_JSON_DEPTH} levels`);
      this.#at++;
      return { open: sign === '{' ? { members: {} } : { list: [] } };
    }
    if (sign === '"' || sign === "'") return { value: this.#string(sign) };
    const value = this.#scalar();
    if (value === undefined && !frame) throw new Stop(this.#at, 'the text ends before the value does');
    return value === undefined ? {} : { value };
  }

  /** False when the text ended before the key and its colon, and may be closed. */
  #key(frame: Extract<Frame, { members: Members }>): boolean {
    this.skipBlanks();
    const sign = this.#text[this.#at];
    const start = this.#at;
    if (sign === '"' || sign === "'") frame.key = this.#string(sign);
    else {
      const word = match(/[\p{L}_$][\p{L}\p{N}_$-]*/uy, this.#text, this.#at);
      if (word === undefined && sign !== undefined) throw new Stop(start, `expected a key, not ${JSON.stringify(sign)}`);
      if (word !== undefined) {
        this.#mend('keys without quotes were taken as text');
        frame.key = word;
        this.#at += word.length;
      }
    }
    this.skipBlanks();
    if (this.#text[this.#at] === ':') {
      this.#at++;
      return true;
    }
    if (this.#at < this.#text.length)
      throw new Stop(this.#at, `expected a colon behind the key, not ${JSON.stringify(this.#text[this.#at])}`);
    this.#mendEnd();
    return false;
  }

  /** Reads the comma or the closing bracket behind a value (`fresh`: behind an opening one); true when the innermost list or object ends. */
  #closes(frames: readonly Frame[], fresh: boolean): boolean {
    const close = frames.at(-1)?.list ? ']' : '}';
    this.skipBlanks();
    let sign = this.#text[this.#at];
    if (!fresh && sign === ',') {
      const comma = this.#at++;
      this.skipBlanks();
      sign = this.#text[this.#at];
      if (sign !== close && sign !== undefined) return false;
      this.#mend('trailing commas were left out', comma);
    }
    if (sign === close) {
      this.#at++;
      return true;
    }
    if (sign === undefined) {
      this.#mendEnd();
      return true;
    }
    if (fresh) return false;
    throw new Stop(this.#at, `expected a comma or ${close}, not ${JSON.stringify(sign)}`);
  }

  #mendEnd(): void {
    if (!this.#mayClose) throw new Stop(this.#at, 'the text ends before the value does');
    this.#mend('what was open at the end was closed, and what was only half there was left out');
  }

  #string(quote: string): string {
    if (quote === "'") this.#mend('single quotes were taken as double quotes');
    let value = '';
    let from = ++this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === quote.charCodeAt(0)) {
        value += this.#text.slice(from, this.#at++);
        return value;
      }
      if (code < 0x20) this.#mend('control characters in strings were kept');
      if (code !== 0x5c) continue;
      value += this.#text.slice(from, this.#at);
      value += this.#escape();
      from = this.#at + 1;
    }
    this.#at = this.#text.length;
    this.#mendEnd();
    return value + this.#text.slice(from);
  }

  /** Leaves the place on the last character of the escape. */
  #escape(): string {
    const letter = this.#text[++this.#at] ?? '';
    if (Object.hasOwn(ESCAPES, letter)) return ESCAPES[letter] as string;
    const digits = letter === 'u' ? match(/[0-9a-fA-F]{4}/y, this.#text, this.#at + 1) : undefined;
    if (digits !== undefined) {
      this.#at += 4;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    // Half an escape at the end is left out with everything else that is half there.
    if (letter === '' || (letter === 'u' && this.#at + 5 > this.#text.length)) {
      this.#at = this.#text.length;
      return '';
    }
    this.#mend('escapes that JSON does not know were kept as text');
    return letter === "'" ? letter : `\\${letter}`;
  }

  /** Undefined for half a word or number at the end of a text that may be closed. */
  #scalar(): Json | undefined {
    const at = this.#at;
    const token = match(/[-+.\p{L}\p{N}_$]+/uy, this.#text, at) ?? '';
    this.#at += token.length;
    const atEnd = token !== '' && this.#at === this.#text.length;
    if (NUMBER.test(token)) {
      if (atEnd && this.#mayClose) this.#mend('the number at the end was taken as it stands', at);
      return Number(token);
    }
    const word = Object.hasOwn(WORDS, token) ? WORDS[token] : undefined;
    if (word?.[1]) this.#mend(word[1], at);
    if (word) return word[0];
    if (atEnd && this.#mayClose && isHalf(token)) {
      this.#mendEnd();
      return undefined;
    }
    const found = token === '' ? this.#text.slice(at, at + 1) : token.length > 40 ? `${token.slice(0, 40)}…` : token;
    throw new Stop(at, `expected a value, not ${JSON.stringify(found)}`);
  }
}

function isHalf(token: string): boolean {
  return Object.keys(WORDS).some(word => word.startsWith(token)) || NUMBER.test(`${token}0`);
}

function containerOf(frame: Frame): Json {
  return frame.list ?? (frame.members as Members);
}

function add(frame: Frame, value: Json): void {
  if (frame.list) frame.list.push(value);
  else setMember(frame.members as Members, frame.key as string, value);
}

/** `pattern` is sticky, so it looks at this place only. */
function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
