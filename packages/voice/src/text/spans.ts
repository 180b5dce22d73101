/**
 * Spans that only make sense whole: inline code, links, tags, and the opening line of a code fence (rules 3 and 4).
 * Their characters are held back until the span closes. If it does not within SPAN_LIMIT characters, or in its line, the held
 * text is given back as ordinary text, once: that keeps the work linear.
 */
import { CharClass, isLetter } from './chars.js';

const SPAN_LIMIT = 200;
const BACKTICK = 0x60;
const TILDE = 0x7e;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_PAREN = 0x28;
const CLOSE_PAREN = 0x29;
const LESS = 0x3c;
const GREATER = 0x3e;

/** `note` is a bracket without letters: `[1]`, `[...]`. */
export type SpanKind = 'code' | 'link' | 'note' | 'tag';

export type SpanStep =
  | 'more'
  /** The span ends with this character. */
  | 'closed'
  /** The span ended before this character, which is still to be read. */
  | 'closed-before'
  /** It was no span: read all of it, this character included, as text. */
  | 'text'
  /** The line just ended opens a code fence. */
  | 'fence';

type State = 'run' | 'body' | 'closing-run' | 'label' | 'after-label' | 'target' | 'tag-start' | 'tag';

export function opensSpan(codePoint: number, atLineStart: boolean): boolean {
  return codePoint === BACKTICK || codePoint === OPEN_BRACKET || codePoint === LESS || (codePoint === TILDE && atLineStart);
}

/** Reads one span, code point by code point, its opening one already taken. */
export class SpanReader {
  private state: State;
  private length = 1;
  private openRun = 1;
  private closeRun = 0;
  private depth = 1;
  private letters = false;

  constructor(
    private readonly opener: number,
    private readonly atLineStart: boolean,
  ) {
    this.state = opener === OPEN_BRACKET ? 'label' : opener === LESS ? 'tag-start' : 'run';
  }

  get kind(): SpanKind {
    if (this.opener === OPEN_BRACKET) return this.state === 'target' ? 'link' : 'note';
    return this.opener === LESS ? 'tag' : 'code';
  }

  /** What opens or closes the fence: its character and how many. */
  get fence(): { readonly codePoint: number; readonly count: number } {
    return { codePoint: this.opener, count: this.openRun };
  }

  feed(codePoint: number, charClass: CharClass): SpanStep {
    this.length++;
    const step = this.next(codePoint, charClass);
    return step === 'more' && this.length >= SPAN_LIMIT ? 'text' : step;
  }

  /** At the end of the stream: whether what was read is a whole span. */
  isWhole(): boolean {
    if (this.state === 'closing-run') return this.closeRun === this.openRun;
    return this.state === 'after-label' && !this.letters;
  }

  private next(codePoint: number, charClass: CharClass): SpanStep {
    if (charClass === CharClass.Newline) return this.atNewline();
    switch (this.state) {
      case 'run':
        if (codePoint === this.opener) this.openRun++;
        else if (this.opener === TILDE && this.openRun < 3) return 'text';
        else this.state = 'body';
        return 'more';
      case 'body':
        if (codePoint === BACKTICK && this.opener === BACKTICK) {
          this.state = 'closing-run';
          this.closeRun = 1;
        }
        return 'more';
      case 'closing-run':
        if (codePoint === BACKTICK) this.closeRun++;
        else if (this.closeRun === this.openRun) return 'closed-before';
        else this.state = 'body';
        return 'more';
      case 'label':
        if (codePoint === OPEN_BRACKET) this.depth++;
        else if (codePoint === CLOSE_BRACKET && --this.depth === 0) this.state = 'after-label';
        else if (isLetter(charClass)) this.letters = true;
        return 'more';
      case 'after-label':
        if (codePoint !== OPEN_PAREN) return this.letters ? 'text' : 'closed-before';
        this.state = 'target';
        this.depth = 1;
        return 'more';
      case 'target':
        if (codePoint === OPEN_PAREN) this.depth++;
        return codePoint === CLOSE_PAREN && --this.depth === 0 ? 'closed' : 'more';
      case 'tag-start':
        if (!isLetter(charClass) && codePoint !== 0x2f && codePoint !== 0x21) return 'text';
        this.state = 'tag';
        return 'more';
      case 'tag':
        return codePoint === GREATER ? 'closed' : 'more';
    }
  }

  private atNewline(): SpanStep {
    if (this.isWhole()) return 'closed-before';
    const opensFence = this.atLineStart && this.openRun >= 3 && (this.state === 'run' || this.state === 'body');
    return opensFence ? 'fence' : 'text';
  }
}

/** Reads the inside of a code fence until the run that closes it. */
export class FenceReader {
  private run = 0;
  private atLineStart = true;

  constructor(private readonly fence: { readonly codePoint: number; readonly count: number }) {}

  /** True when this character completes the closing fence. */
  closesWith(codePoint: number, charClass: CharClass): boolean {
    if (charClass === CharClass.Newline) {
      this.atLineStart = true;
      this.run = 0;
    } else if (this.atLineStart && codePoint === this.fence.codePoint) {
      return ++this.run === this.fence.count;
    } else if (charClass !== CharClass.Space || this.run > 0) {
      this.atLineStart = false;
    }
    return false;
  }
}
