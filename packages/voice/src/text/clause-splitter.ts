/**
 * Cuts a reply, as it streams in, into pieces to speak. The rules stand in the documentation of turn-taking, section "Clauses"; the
 * comments name them by number.
 */
import { CharClass, classOf, isLetter } from './chars.js';
import { rulesFor } from './rules.js';
import { type PieceKind, Scanner } from './scanner.js';
import { FenceReader, opensSpan, SpanReader } from './spans.js';

/** A piece of the reply. Pieces follow each other without a gap: joined they are the reply, byte for byte. */
export interface Clause {
  /** The text as it arrived, white space and markup included. */
  readonly text: string;
  /** Offset of the first UTF-16 code unit in the whole reply. */
  readonly start: number;
  /** Offset behind the last one. */
  readonly end: number;
  /** Why it ends there: a sentence, a weak mark such as a comma, a line, a code fence, or its length. */
  readonly kind: PieceKind;
}

export interface ClauseSplitterOptions {
  /** A sentence of fewer UTF-16 code units is joined with the next one, lines and fences excepted. Default 1: nothing is joined. */
  readonly minChars?: number;
  /** No piece is longer, in UTF-16 code units, except for a code fence or a single URL, link or code span. Default 400. */
  readonly maxChars?: number;
  /** `fast`: the first piece may end at a comma or the like, so that speech starts sooner. Default `sentence`. */
  readonly firstClause?: 'fast' | 'sentence';
  /** BCP 47 tag (`de`, `de-AT`). Default: English, and the punctuation of every script. */
  readonly locale?: string;
}

const DEFAULT_MAX_CHARS = 400;
/** A fence longer than this leaves in parts, so that an unclosed one cannot fill the memory. */
const FENCE_LIMIT = 65_536;

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/**
 * A push parser for clauses. The pieces depend on the text only, not on how it was cut into tokens; work and memory are linear.
 *
 * @throws {RangeError} when `minChars` or `maxChars` is not a positive whole number that fits, or `firstClause` is unknown
 * @throws {TypeError} when `locale` is not a string
 *
 * @example
 * const splitter = new ClauseSplitter({ firstClause: 'fast' });
 * for await (const token of tokens) for (const clause of splitter.push(token)) speak(clause.text);
 * for (const clause of splitter.flush()) speak(clause.text);
 */
export class ClauseSplitter {
  private readonly options: { minChars: number; maxChars: number; fast: boolean; rules: ReturnType<typeof rulesFor> };
  private scanner!: Scanner;
  private clauses: Clause[] = [];

  /** Text not yet given away, from `bufferAt` on; `head` of it has been given away in this push. */
  private buffer = '';
  private bufferAt = 0;
  private pieceAt = 0;
  /** How far the text has been read. */
  private readAt = 0;
  private highSurrogate = -1;

  private span: SpanReader | undefined;
  private spanAt = 0;
  private spanHasContent = false;
  private fence: FenceReader | undefined;
  /** Up to here nothing opens a span: this text was held back before, in vain. */
  private literalUntil = 0;

  constructor(options: ClauseSplitterOptions = {}) {
    const { minChars = 1, maxChars = DEFAULT_MAX_CHARS, firstClause = 'sentence', locale } = options;
    checkCount('minChars', minChars, 0);
    checkCount('maxChars', maxChars, 1);
    if (maxChars < minChars) {
      throw new RangeError(`maxChars (${maxChars}) must not be less than minChars (${minChars}): raise maxChars or lower minChars.`);
    }
    if (firstClause !== 'fast' && firstClause !== 'sentence') {
      throw new RangeError(`firstClause must be 'fast' or 'sentence', not ${JSON.stringify(firstClause)}.`);
    }
    if (locale !== undefined && typeof locale !== 'string') {
      throw new TypeError(`locale must be a language tag such as 'de' or 'pt-BR', not ${typeof locale}.`);
    }
    this.options = { minChars, maxChars, fast: firstClause === 'fast', rules: rulesFor(locale) };
    this.reset();
  }

  /**
   * Takes the next part of the reply, of any size, and returns the pieces that are now sure.
   *
   * @throws {TypeError} when `text` is not a string
   */
  push(text: string): Clause[] {
    if (typeof text !== 'string') throw new TypeError(`push() takes a string, not ${text === null ? 'null' : typeof text}.`);
    const from = this.bufferAt + this.buffer.length;
    this.buffer += text;
    for (let index = 0; index < text.length; index++) this.takeUnit(text.charCodeAt(index), from + index);
    return this.handOver();
  }

  /** To be called when no text has come for a while (200 ms): a finished sentence at the end need not wait for what follows. */
  idle(): Clause[] {
    if (!this.span && !this.fence && this.highSurrogate < 0) this.scanner.releaseFinished();
    return this.handOver();
  }

  /** To be called when the voice is about to run out of text: cuts at the last comma or the like, if there is one. */
  hurry(): Clause[] {
    if (!this.span && !this.fence) this.scanner.releaseWeak();
    return this.handOver();
  }

  /** The end of the reply: returns the rest. The splitter is then ready for a new reply, with offsets from 0. */
  flush(): Clause[] {
    this.endSurrogate();
    if (this.fence) this.emit(this.readAt, 'code');
    if (this.span) this.endSpan();
    this.scanner.finish(this.readAt);
    const clauses = this.handOver();
    this.reset();
    return clauses;
  }

  private reset(): void {
    this.scanner = new Scanner(this.options, (end, kind) => this.emit(end, kind));
    this.buffer = '';
    this.bufferAt = 0;
    this.pieceAt = 0;
    this.readAt = 0;
    this.highSurrogate = -1;
    this.span = undefined;
    this.fence = undefined;
    this.literalUntil = 0;
  }

  private emit(end: number, kind: PieceKind): void {
    const start = this.pieceAt;
    if (end <= start) return;
    this.clauses.push({ text: this.buffer.slice(start - this.bufferAt, end - this.bufferAt), start, end, kind });
    this.pieceAt = end;
  }

  private handOver(): Clause[] {
    const { clauses } = this;
    if (clauses.length === 0) return [];
    this.clauses = [];
    this.buffer = this.buffer.slice(this.pieceAt - this.bufferAt);
    this.bufferAt = this.pieceAt;
    return clauses;
  }

  /** Joins surrogate pairs, which tokens may have torn apart. */
  private takeUnit(unit: number, at: number): void {
    if (this.highSurrogate >= 0) {
      if (isLowSurrogate(unit)) {
        const codePoint = (this.highSurrogate - 0xd800) * 0x400 + (unit - 0xdc00) + 0x10000;
        this.highSurrogate = -1;
        this.takeCodePoint(codePoint, at - 1, at + 1);
        return;
      }
      this.endSurrogate();
    }
    if (isHighSurrogate(unit)) this.highSurrogate = unit;
    else this.takeCodePoint(unit, at, at + 1);
  }

  private endSurrogate(): void {
    if (this.highSurrogate < 0) return;
    const lone = this.highSurrogate;
    this.highSurrogate = -1;
    this.takeCodePoint(lone, this.readAt, this.readAt + 1);
  }

  private takeCodePoint(codePoint: number, at: number, end: number): void {
    this.readAt = end;
    const charClass = classOf(codePoint);
    if (this.fence) this.takeFenced(this.fence, codePoint, charClass, end);
    else if (this.span) this.takeSpanned(this.span, codePoint, charClass, at, end);
    else if (at >= this.literalUntil && opensSpan(codePoint, this.scanner.lineIsBlank)) this.openSpan(codePoint, at);
    else this.scanner.take(String.fromCodePoint(codePoint), codePoint, charClass, at, end);
  }

  private openSpan(codePoint: number, at: number): void {
    this.span = new SpanReader(codePoint, this.scanner.lineIsBlank);
    this.spanAt = at;
    this.spanHasContent = false;
    this.scanner.openSpan(at);
  }

  private takeSpanned(span: SpanReader, codePoint: number, charClass: CharClass, at: number, end: number): void {
    const step = span.feed(codePoint, charClass);
    if (step === 'more') {
      this.spanHasContent ||= isLetter(charClass) || charClass === CharClass.Digit;
      return;
    }
    this.span = undefined;
    if (step === 'fence') this.fence = new FenceReader(span.fence);
    else if (step === 'text') this.takeLiterally(this.spanAt, end);
    else if (step === 'closed') this.scanner.takeSpan(span.kind, this.spanHasContent, this.spanAt, end);
    else {
      this.scanner.takeSpan(span.kind, this.spanHasContent, this.spanAt, at);
      this.takeCodePoint(codePoint, at, end);
    }
  }

  private takeFenced(fence: FenceReader, codePoint: number, charClass: CharClass, end: number): void {
    const closed = fence.closesWith(codePoint, charClass);
    if (closed) this.fence = undefined;
    if (closed || end - this.pieceAt >= FENCE_LIMIT) this.scanner.closeCode(end);
  }

  /** Reads text again that was held back in vain, with nothing in it opening a span. */
  private takeLiterally(from: number, to: number): void {
    this.literalUntil = to;
    let at = from;
    while (at < to) {
      const codePoint = this.buffer.codePointAt(at - this.bufferAt)!;
      const end = at + (codePoint > 0xffff ? 2 : 1);
      this.takeCodePoint(codePoint, at, end);
      at = end;
    }
  }

  private endSpan(): void {
    const { span } = this;
    this.span = undefined;
    if (span?.isWhole()) this.scanner.takeSpan(span.kind, this.spanHasContent, this.spanAt, this.readAt);
    else this.takeLiterally(this.spanAt, this.readAt);
  }
}

function checkCount(name: string, value: number, least: number): void {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number of UTF-16 code units, not ${typeof value}.`);
  if (!Number.isInteger(value) || value < least) {
    throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}.`);
  }
}
