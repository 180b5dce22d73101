/**
 * The state machine that finds the pieces: one code point at a time, constant work for each. Knows offsets and words, keeps no
 * text. Spans and fences are read elsewhere and arrive as wholes.
 */
import { Breaks } from './breaks.js';
import { CharClass, GraphemeTracker, isLetter } from './chars.js';
import { LineLists } from './line-lists.js';
import { Lookahead } from './lookahead.js';
import { Nesting } from './nesting.js';
import { type BeforeDot, beforeDot, type Rules } from './rules.js';
import type { SpanKind } from './spans.js';
import type { Candidate } from './verdicts.js';
import { Words } from './words.js';

export interface ScannerOptions {
  readonly minChars: number;
  readonly maxChars: number;
  readonly fast: boolean;
  readonly rules: Rules;
}

export type PieceKind = 'sentence' | 'weak' | 'line' | 'code' | 'length';

/** A URL or the like, or a heap of combining marks, longer than this is cut as text. */
const ATOM_LIMIT = 1000;
/** Thai and Lao sentences end at a space, which only its distance tells from other spaces (rule 7). */
const THAI_CHARS = 40;
const FAST_CHARS = 12;
const FAST_WORDS = 3;
const FAST_FULL_WIDTH_CHARS = 6;
const EM_DASH = '—';

const isGreek = /\p{Script=Greek}/u;
const isArmenian = /\p{Script=Armenian}/u;

export class Scanner {
  private readonly nesting = new Nesting();
  private readonly lists = new LineLists();
  private readonly graphemes = new GraphemeTracker();
  private readonly words = new Words();
  private readonly lookahead: Lookahead;
  private readonly breaks: Breaks;

  private start = 0;
  private first = true;
  private atLineStart = true;
  /** Only white space so far. */
  private blank = true;
  /** A letter, digit or span has been seen: without one nothing is worth a piece. */
  private content = false;
  private textAt = 0;

  private previousCharacter = '';
  private previousClass: CharClass = CharClass.Newline;
  private gapAt = 0;
  private weakAt = -1;
  private weakFull = false;
  private thaiAt = -1;

  /** `emit(end, kind)`: the text up to `end` is a piece. */
  constructor(
    private readonly options: ScannerOptions,
    private readonly emit: (end: number, kind: PieceKind) => void,
  ) {
    this.lookahead = new Lookahead(options.rules, this.nesting);
    this.breaks = new Breaks(options.maxChars);
  }

  /** Whether only white space stands before, in this line. */
  get lineIsBlank(): boolean {
    return this.atLineStart && this.blank;
  }

  /** Reads one code point that lies at `[at, end)`. */
  take(character: string, codePoint: number, charClass: CharClass, at: number, end: number): void {
    const actual = this.actualClass(character, charClass);
    const look = this.lookahead.feed(character, actual, end);
    if (look === 'cut') this.closeSentence();
    this.settleWeak(actual, at);
    this.settleThai(actual);
    if (this.graphemes.begins(codePoint, charClass) && this.mayBreakAt(at, actual)) this.breaks.noteGrapheme(at, this.start);
    this.nesting.take(character, charClass, at, this.words.text !== '');
    if (look === 'taken') this.words.end();
    else this.read(character, actual, at, end);
    this.previousCharacter = character;
    if (actual !== CharClass.Extend) this.previousClass = actual;
    if (actual === CharClass.Newline) this.newline(at, end);
    else this.limit(at, end);
  }

  /** A code span, link or tag is about to begin at `at`. */
  openSpan(at: number): void {
    if (this.lookahead.beforeSpan() === 'cut') this.closeSentence();
    this.settleWeak(CharClass.Other, at);
    this.breaks.noteGrapheme(at, this.start);
  }

  /** A whole span: one atom of the text. */
  takeSpan(kind: SpanKind, hasContent: boolean, at: number, end: number): void {
    this.lookahead.behindSpan(kind === 'tag' || kind === 'note', end);
    this.touch(at);
    if (kind !== 'tag') {
      this.content ||= hasContent;
      this.words.countSpan();
      this.previousClass = CharClass.Other;
      this.previousCharacter = '';
    }
    this.limit(at, end);
  }

  /** The end of the stream: the last undecided sentence, then the rest. */
  finish(end: number): void {
    if (this.lookahead.endsAtFlush()) this.closeSentence();
    this.stopWaiting(end);
    if (end > this.start) this.close(end, this.lookahead.isFinished() ? 'sentence' : 'line');
  }

  /** Lets a finished sentence at the end go (rule 10). */
  releaseFinished(): void {
    if (this.lookahead.isFinished()) this.close(this.lookahead.cut, 'sentence');
  }

  /** Cuts at the last weak mark, if there is one (rule 8: the deadline says so). */
  releaseWeak(): void {
    const at = this.breaks.lastWeak(this.start);
    if (at > this.start) this.split(at, 'weak');
  }

  /** A whole fence, or a part of an endless one. */
  closeCode(end: number): void {
    this.close(end, 'code');
    this.newLine();
  }

  /** Greek and Armenian share `;` and `:` with Latin, but end sentences with them. */
  private actualClass(character: string, charClass: CharClass): CharClass {
    if (charClass !== CharClass.Weak) return charClass;
    const question = character === ';' && isGreek.test(this.previousCharacter);
    const stop = character === ':' && isArmenian.test(this.previousCharacter);
    const local = this.options.rules.stops.includes(character) && isLetter(this.previousClass);
    return question || stop || local ? CharClass.Mark : charClass;
  }

  private read(character: string, charClass: CharClass, at: number, end: number): void {
    if (charClass === CharClass.Newline) return;
    if (charClass === CharClass.Space) {
      this.space(at);
      return;
    }
    if (charClass === CharClass.Bullet) this.bullet(character);
    this.touch(at);
    switch (charClass) {
      case CharClass.Dot:
        this.dot(character, end);
        break;
      case CharClass.FullStop:
        this.consider('full', character, end);
        break;
      case CharClass.Mark:
        this.consider('mark', character, end);
        break;
      case CharClass.Ellipsis:
        this.consider('ellipsis', character, end);
        break;
      case CharClass.Weak:
      case CharClass.WeakFull:
        this.considerWeak(character, charClass, at, end);
        break;
      case CharClass.Closer:
        if (character === ')') this.closingParenthesis();
        break;
      default:
        break;
    }
    const wasAtomic = this.words.atomic;
    this.words.take(character, charClass, at);
    if (this.words.atomic && !wasAtomic) this.breaks.joinSince(this.words.at);
    const letterOrDigit = isLetter(charClass) || charClass === CharClass.Digit;
    this.content ||= letterOrDigit;
  }

  /** The piece has visible text from here. */
  private touch(at: number): void {
    if (this.blank) this.textAt = at;
    this.blank = false;
  }

  private space(at: number): void {
    this.words.end();
    if (this.previousClass === CharClass.Space) return;
    this.gapAt = at;
    if (this.blank) return;
    const good = this.previousClass !== CharClass.Digit && !this.options.rules.neverLast.has(this.words.previous.toLowerCase());
    this.breaks.noteSpace(at, this.start, good);
    if (this.previousClass === CharClass.Thai && at - this.textAt >= THAI_CHARS) this.thaiAt = at;
  }

  private dot(character: string, end: number): void {
    // A dot behind a Thai or Lao letter abbreviates.
    if (this.previousClass === CharClass.Thai) return;
    if (character === '．') this.consider('full', character, end);
    else if (!this.content || !this.considerMarker(end)) this.consider('dot', character, end);
  }

  /** `1.` at a line's start, or the next marker of a list in one line. */
  private considerMarker(end: number): boolean {
    if (this.words.text === '') return false;
    if (this.words.count === 1) {
      if (!this.lists.opens(this.words.text, this.atLineStart)) return false;
      this.begin('dot', 'marker', '.', end);
      return true;
    }
    if (this.gapAt < this.start || this.previousClass === CharClass.Space || !this.lists.follows(this.words.text)) return false;
    this.begin('list', 'nothing', '.', this.gapAt);
    return true;
  }

  private closingParenthesis(): void {
    if (this.words.text === '' || this.lookahead.pending) return;
    if (this.words.count === 1) this.lists.opens(this.words.text, this.atLineStart && /^\d/.test(this.words.text));
    else if (this.gapAt > this.start && this.lists.follows(this.words.text)) this.begin('list', 'nothing', ')', this.gapAt);
  }

  private bullet(character: string): void {
    const nextItem = this.content && this.previousClass === CharClass.Space && this.lists.isBullet(character);
    if (nextItem) this.close(this.gapAt, 'line');
    if (this.lineIsBlank) this.lists.openBullet(character);
    this.atLineStart ||= nextItem;
  }

  private consider(stop: Candidate['stop'], character: string, end: number): void {
    const inTitle = (stop === 'full' || stop === 'mark') && this.nesting.insideTitle(end);
    if (!this.content || inTitle) return;
    const attached = this.previousClass !== CharClass.Space && this.previousClass !== CharClass.Newline;
    let before: BeforeDot = attached ? 'plain' : 'nothing';
    if (stop === 'dot' && this.words.text !== '') before = beforeDot(this.words.text, this.words.previous, this.options.rules);
    this.begin(stop, before, character, end);
  }

  private begin(stop: Candidate['stop'], before: BeforeDot, character: string, cut: number): void {
    const lead = this.words.count <= 3 && this.options.rules.leadIns.has(this.words.first.toLowerCase());
    this.lookahead.begin(
      {
        stop,
        before,
        word: this.words.text,
        lastClass: this.previousClass,
        leadIn: before === 'final' && lead,
        exclamation: character === '!',
        decimal: character === '．',
      },
      cut,
    );
  }

  private considerWeak(character: string, charClass: CharClass, at: number, end: number): void {
    const dashInside = character === '–' && this.previousClass !== CharClass.Space;
    const neverLast = this.options.rules.neverLast.has((this.words.text || this.words.previous).toLowerCase());
    if (!this.content || dashInside || neverLast || this.nesting.forbidsWeak(at)) return;
    this.weakAt = end;
    this.weakFull = charClass === CharClass.WeakFull && character !== EM_DASH;
  }

  /** A weak mark counts when white space, or for the full-width ones anything, follows. */
  private settleWeak(next: CharClass, at: number): void {
    if (this.weakAt < 0) return;
    const mark = this.weakAt;
    this.weakAt = -1;
    const follows = next === CharClass.Space || this.previousClass === CharClass.WeakFull;
    if (!follows || mark !== at || mark <= this.start) return;
    this.breaks.noteWeak(mark, this.start);
    if (!this.first || !this.options.fast) return;
    const chars = mark - this.textAt;
    const enough = this.weakFull ? chars >= FAST_FULL_WIDTH_CHARS : chars >= FAST_CHARS && this.words.count >= FAST_WORDS;
    if (enough && chars >= this.options.minChars) this.close(mark, 'weak');
  }

  private settleThai(next: CharClass): void {
    if (this.thaiAt < 0 || next === CharClass.Space) return;
    const at = this.thaiAt;
    this.thaiAt = -1;
    if (next === CharClass.Thai && at - this.textAt >= this.options.minChars) this.close(at, 'length');
  }

  private newline(at: number, end: number): void {
    this.stopWaiting(end);
    // The newline itself comes along, if it fits.
    const place = end - this.start > this.options.maxChars ? at : end;
    if (!this.blank) this.close(place, this.lookahead.isFinished() ? 'sentence' : 'line');
    else this.limit(at, end);
    this.newLine();
  }

  private newLine(): void {
    this.words.end();
    this.nesting.reset();
    this.lists.reset();
    this.atLineStart = true;
    this.previousClass = CharClass.Newline;
    this.previousCharacter = '';
  }

  /** A sentence ended at the look-ahead's cut. Shorter than the minimum, it goes on with the next one (rule 9). */
  private closeSentence(): void {
    const { cut, nextWord } = this.lookahead;
    if (cut - this.textAt < this.options.minChars) return;
    const item = this.lookahead.decided === 'list';
    this.close(cut, item ? 'line' : 'sentence');
    if (item) this.lists.advance(nextWord);
    if (nextWord === '') return;
    // The next word has been read already and belongs to the new piece.
    this.blank = false;
    this.content = true;
    this.textAt = cut;
    this.words.restart(nextWord);
  }

  private close(end: number, kind: PieceKind): void {
    this.emit(end, kind);
    this.lookahead.drop();
    this.start = end;
    this.textAt = end;
    this.first = false;
    this.atLineStart = false;
    this.blank = true;
    this.content = false;
    this.words.restart('');
    this.weakAt = -1;
    this.thaiAt = -1;
  }

  private mayBreakAt(at: number, next: CharClass): boolean {
    return !this.words.atomic || this.words.text === '' || next === CharClass.Space || at - this.words.at > ATOM_LIMIT;
  }

  /** Rule 9: too long. A sentence's end that is still undecided may wait while what is behind it fits. */
  private limit(at: number, end: number): void {
    const { maxChars } = this.options;
    while (end - this.start > maxChars) {
      const { cut } = this.lookahead;
      const waits = this.waits();
      if (waits && end - cut <= maxChars) return;
      let place = waits ? cut : this.breaks.best(this.start);
      if (place < 0 && at - this.start > maxChars + ATOM_LIMIT) place = at;
      if (place < 0 || place >= end) return;
      this.split(place, waits ? 'sentence' : 'length');
    }
  }

  /** Whether a sentence's end within `maxChars` is undecided. */
  private waits(): boolean {
    const { pending, cut } = this.lookahead;
    return pending !== undefined && cut > this.start && cut - this.start <= this.options.maxChars;
  }

  /** Nothing more comes to decide it, and what is behind it does not fit. */
  private stopWaiting(end: number): void {
    if (end - this.start > this.options.maxChars && this.waits()) this.split(this.lookahead.cut, 'sentence');
  }

  /** Cuts in the midst of text that has been read on: what remains keeps its words, and a stop in it its chance. */
  private split(at: number, kind: PieceKind): void {
    const { content, blank, weakAt, thaiAt } = this;
    const words = this.words.count;
    const { pending, cut } = this.lookahead;
    this.close(at, kind);
    Object.assign(this, { content, blank, weakAt, thaiAt });
    this.words.count = words;
    if (pending && cut > at) this.lookahead.resume(pending);
  }
}
