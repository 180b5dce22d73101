/**
 * The possible end of a sentence and what must still arrive to be sure of it (rules 5, 6, 7 and 11). One candidate at a time: a
 * candidate is decided at the latest when the next word ends, which is before the next terminator.
 */
import { CharClass, isLetter } from './chars.js';
import type { Nesting } from './nesting.js';
import { endsBefore, isStarter, type Rules } from './rules.js';
import { type Candidate, type Verdict, verdictAtNext } from './verdicts.js';

/**
 * - `pass`: the character is ordinary text; nothing is decided by it, or the candidate was dropped
 * - `taken`: it belongs to the terminator: another stop, a closer, an emoji
 * - `cut`: a sentence ended at `cut`; the character is still to be read
 */
export type Look = 'pass' | 'taken' | 'cut';

/** `behind`: directly behind the terminator. `after`: behind white space. `word`, `glued`: inside the next word. */
type Phase = 'behind' | 'after' | 'word' | 'glued';

const NEXT_WORD_LIMIT = 40;
const SKIP_LIMIT = 8;
const QUOTED_SPEECH_GOES_ON = 'とってはがをのにもでだなや、，,';
const WORD_THEN_STOP = /^\p{Lu}?\p{Ll}{2,}$/u;
const THOUSANDS = /^\p{Nd}{1,3}(?:,\p{Nd}{3})+$/u;

export class Lookahead {
  private candidate: Candidate | undefined;
  /** What the last cut was made for. */
  decided: Candidate['stop'] = 'full';
  private phase: Phase = 'behind';
  private closed = false;
  private closer = '';
  private dots = 1;
  private gluedDots = 0;
  private skipped = 0;
  /** Where the sentence ends, if it does: behind the terminator, its closers and emoji. */
  cut = 0;
  /** The next word, as far as it has been read. For a list, the marker behind the cut. */
  nextWord = '';

  constructor(
    private readonly rules: Rules,
    private readonly nesting: Nesting,
  ) {}

  get pending(): Candidate | undefined {
    return this.candidate;
  }

  begin(candidate: Candidate, cut: number): void {
    this.candidate = candidate;
    this.decided = candidate.stop;
    this.phase = 'behind';
    this.closed = false;
    this.closer = '';
    this.dots = 1;
    this.gluedDots = 0;
    this.skipped = 0;
    this.cut = cut;
    this.nextWord = candidate.stop === 'list' ? candidate.word : '';
  }

  drop(): void {
    this.candidate = undefined;
  }

  /** Takes up a candidate again that was dropped with a piece cut before it. */
  resume(candidate: Candidate): void {
    this.candidate = candidate;
  }

  /** Whether the candidate is an end without more text: at `idle()`, before a newline, or when it grows too long (rule 10). */
  isFinished(): boolean {
    const candidate = this.candidate;
    if (!candidate || this.phase === 'word' || this.phase === 'glued') return false;
    if (candidate.stop === 'list') return false;
    if (candidate.stop !== 'dot') return true;
    switch (candidate.before) {
      case 'plain':
      case 'before-number':
        return true;
      case 'final':
        return !candidate.leadIn;
      case 'year':
      case 'number':
      case 'ordinal':
        // "3." may still become "3.14".
        return this.phase === 'after';
      default:
        return false;
    }
  }

  /** At the end of the stream the next word is whole. */
  endsAtFlush(): boolean {
    if (!this.candidate) return false;
    if (this.phase === 'word') return this.atWordEnd('') === 'cut';
    return this.phase === 'glued' && this.atGluedEnd('', CharClass.Newline) === 'cut';
  }

  feed(character: string, charClass: CharClass, end: number): Look {
    if (!this.candidate) return 'pass';
    // A newline ends the piece whatever stands before it (rule 4).
    if (charClass === CharClass.Newline && (this.phase === 'behind' || this.phase === 'after')) return 'pass';
    switch (this.phase) {
      case 'behind':
        return this.behind(this.candidate, character, charClass, end);
      case 'after':
        return this.after(this.candidate, character, charClass, end);
      case 'word':
        if (this.growsWord(character, charClass)) return 'pass';
        return this.settle(this.atWordEnd(character));
      case 'glued':
        if (this.growsWord(character, charClass)) return 'pass';
        return this.settle(this.atGluedEnd(character, charClass));
    }
  }

  /** A code span, link or tag begins: decided now, so that an unclosed one holds nothing back. */
  beforeSpan(): Look {
    const candidate = this.candidate;
    if (!candidate || this.phase === 'behind') return 'pass';
    if (this.phase === 'word') return this.settle(this.atWordEnd(''));
    if (this.phase === 'glued') return this.settle('keep');
    const ends = this.isFinished() && candidate.stop !== 'ellipsis' && candidate.before !== 'ordinal' && candidate.before !== 'final';
    return this.settle(ends ? 'cut' : 'keep');
  }

  /** A span directly behind the terminator: a tag or `[1]` comes along, code and links are glued text. */
  behindSpan(comesAlong: boolean, end: number): void {
    if (!this.candidate) return;
    if (comesAlong && this.phase === 'behind') this.extend(end);
    else this.drop();
  }

  private extend(end: number): Look {
    if (this.candidate?.stop !== 'list') this.cut = end;
    return 'taken';
  }

  private settle(verdict: Verdict): Look {
    if (verdict === 'word') this.phase = 'word';
    if (verdict === 'cut' || verdict === 'keep') this.drop();
    return verdict === 'cut' ? 'cut' : 'pass';
  }

  private growsWord(character: string, charClass: CharClass): boolean {
    const inner = isLetter(charClass) || charClass === CharClass.Digit || charClass === CharClass.Extend || "'’-".includes(character);
    if (!inner || this.nextWord.length >= NEXT_WORD_LIMIT) return false;
    this.nextWord += character;
    return true;
  }

  private behind(candidate: Candidate, character: string, charClass: CharClass, end: number): Look {
    const full = candidate.stop === 'full';
    switch (charClass) {
      case CharClass.Extend:
      case CharClass.Emoji:
      case CharClass.Markup:
        return this.extend(end);
      case CharClass.Closer:
        this.closed = true;
        this.closer = character;
        return this.extend(end);
      case CharClass.Space:
        if (full) return this.settle('cut');
        this.phase = 'after';
        return 'taken';
      case CharClass.Dot:
      case CharClass.Mark:
      case CharClass.Ellipsis:
      case CharClass.FullStop:
        return this.anotherStop(candidate, charClass, end);
      default:
        if (full) return this.behindFullStop(candidate, character, charClass, end);
        return this.glued(candidate, character, charClass, end);
    }
  }

  private anotherStop(candidate: Candidate, charClass: CharClass, end: number): Look {
    if (this.closed) return this.settle(candidate.stop === 'full' ? 'cut' : 'keep');
    const dotted = charClass === CharClass.Dot || charClass === CharClass.Ellipsis;
    const stop =
      charClass === CharClass.FullStop || candidate.stop === 'full' ? 'full' : candidate.stop === 'mark' || !dotted ? 'mark' : 'ellipsis';
    this.candidate = { ...candidate, stop, before: candidate.before === 'nothing' ? 'nothing' : 'plain', decimal: false };
    this.cut = end;
    return 'taken';
  }

  private behindFullStop(candidate: Candidate, character: string, charClass: CharClass, end: number): Look {
    if (charClass === CharClass.Quote && this.nesting.quoteIsOpen) {
      this.closed = true;
      this.closer = character;
      return this.extend(end);
    }
    if (candidate.decimal && charClass === CharClass.Digit) return this.settle('keep');
    const goesOn = this.closer !== '' && QUOTED_SPEECH_GOES_ON.includes(character);
    return this.settle(goesOn ? 'keep' : 'cut');
  }

  private glued(candidate: Candidate, character: string, charClass: CharClass, end: number): Look {
    const opensBracket = '([{¿¡'.includes(character);
    if (charClass === CharClass.Quote || (charClass === CharClass.Opener && !opensBracket)) {
      this.closed = true;
      return this.extend(end);
    }
    if (this.closed || candidate.stop === 'ellipsis' || candidate.stop === 'list') return this.settle('keep');
    const uncased = charClass === CharClass.Ideograph || charClass === CharClass.Letter;
    if (uncased && candidate.lastClass === charClass) {
      const long = charClass === CharClass.Ideograph || candidate.word.length >= 4;
      return this.settle(candidate.stop === 'mark' || (candidate.before === 'plain' && long) ? 'cut' : 'keep');
    }
    const gluedSentences = WORD_THEN_STOP.test(candidate.word) || THOUSANDS.test(candidate.word);
    if (charClass !== CharClass.Upper || !gluedSentences || candidate.before === 'title') return this.settle('keep');
    this.phase = 'glued';
    this.nextWord = character;
    return 'pass';
  }

  private after(candidate: Candidate, character: string, charClass: CharClass, end: number): Look {
    switch (charClass) {
      case CharClass.Space:
        this.gluedDots = 0;
        return 'taken';
      case CharClass.Extend:
        // Behind an emoji that came along: its skin tone, its variation selector.
        return this.cut === end - character.length ? this.extend(end) : 'taken';
      case CharClass.Closer:
        // "« Ça va ? » dit-il": French sets a space before the closing mark.
        if (!this.nesting.quoteIsOpen || this.skipped > 0 || this.dots > 1) break;
        this.closed = true;
        return this.extend(end);
      case CharClass.Emoji:
        // "Great job! 🎉 Let's": an emoji behind the space still belongs to the sentence (rule 5).
        return this.skipped === 0 && this.dots === 1 ? this.extend(end) : 'taken';
      case CharClass.Dot:
      case CharClass.Ellipsis:
        return this.spacedDot(candidate, charClass, end);
      case CharClass.Mark:
        if (candidate.stop !== 'mark' || this.skipped > 0) return this.settle('keep');
        this.phase = 'behind';
        return this.extend(end);
      default:
        break;
    }
    const resumes = this.gluedDots > 1 && candidate.before === 'plain';
    const verdict = resumes ? 'cut' : verdictAtNext(candidate, this.closed, this.dots, character, charClass, this.rules);
    if (verdict === 'word') this.nextWord = character;
    this.gluedDots = 0;
    if (verdict === 'skip') return ++this.skipped > SKIP_LIMIT ? this.settle('keep') : 'pass';
    return this.settle(verdict);
  }

  /** `. . .`: behind a word the cut stays at the first dot, standing free it moves along. */
  private spacedDot(candidate: Candidate, charClass: CharClass, end: number): Look {
    if (candidate.stop === 'mark' || candidate.stop === 'list') return this.settle('keep');
    this.dots++;
    this.gluedDots += charClass === CharClass.Ellipsis ? 3 : 1;
    if (candidate.before === 'nothing') this.cut = end;
    return 'taken';
  }

  private atWordEnd(next: string): Verdict {
    const candidate = this.candidate!;
    const initial = this.nextWord.length === 1 && next === '.';
    return endsBefore(candidate.before, this.nextWord, initial, candidate.leadIn, this.rules) ? 'cut' : 'keep';
  }

  /** `done.Second step`: only between words that look like the end and the beginning of sentences, never inside a name. */
  private atGluedEnd(next: string, charClass: CharClass): Verdict {
    const candidate = this.candidate!;
    const opensSentence = isStarter(this.nextWord, this.rules) || this.rules.kinds.get(this.nextWord.toLowerCase()) === 'title';
    if (next === '.') return opensSentence ? 'cut' : 'keep';
    const wordEnds =
      charClass === CharClass.Space || charClass === CharClass.Newline || (charClass === CharClass.Weak && next !== ':') || next === '!';
    const lowerBefore = !/^\p{Lu}/u.test(candidate.word);
    return wordEnds && (lowerBefore || opensSentence) ? 'cut' : 'keep';
  }
}
