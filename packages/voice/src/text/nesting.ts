/** Open quotes and brackets: weak cuts never fall inside (rule 8), and a full-width stop inside a book title `《…！》` ends nothing. */
import { CharClass } from './chars.js';

const BRACKET_REACH = 200;
const SHORT_QUOTE = 40;
const TITLE_REACH = 60;
const BRACKETS = '([{（【〔［｛';
const CLOSING_BRACKETS = ')]}）】〕］｝';
const TITLES = '《〈';
const CLOSING_TITLES = '》〉';

export class Nesting {
  private quoteAt = -1;
  private bracketAt = -1;
  private depth = 0;
  private titleAt = -1;

  /** Forgets everything: a newline closes what was left open. */
  reset(): void {
    this.quoteAt = -1;
    this.bracketAt = -1;
    this.depth = 0;
    this.titleAt = -1;
  }

  get quoteIsOpen(): boolean {
    return this.quoteAt >= 0;
  }

  take(character: string, charClass: CharClass, at: number, insideWord: boolean): void {
    if (charClass === CharClass.Opener) this.open(character, at);
    else if (charClass === CharClass.Closer) this.close(character, at, insideWord);
    else if (character === '"') this.quoteAt = this.quoteAt < 0 ? at : -1;
  }

  /** Whether a weak cut at this offset would tear a bracket or a short quote. One left open too long counts as stray. */
  forbidsWeak(at: number): boolean {
    return (this.depth > 0 && at - this.bracketAt <= BRACKET_REACH) || (this.quoteAt >= 0 && at - this.quoteAt < SHORT_QUOTE);
  }

  insideTitle(at: number): boolean {
    return this.titleAt >= 0 && at - this.titleAt <= TITLE_REACH;
  }

  private open(character: string, at: number): void {
    if (BRACKETS.includes(character)) {
      if (this.depth++ === 0) this.bracketAt = at;
    } else if (TITLES.includes(character)) this.titleAt = at;
    else if ('“«‘'.includes(character) && this.quoteAt >= 0)
      this.quoteAt = -1; // „…“ and »…« close with it
    else if (character !== '¿' && character !== '¡') this.quoteAt = at;
  }

  private close(character: string, at: number, insideWord: boolean): void {
    if (CLOSING_BRACKETS.includes(character)) this.depth = Math.max(0, this.depth - 1);
    else if (CLOSING_TITLES.includes(character)) this.titleAt = -1;
    else if (character === '»' && this.quoteAt < 0) this.quoteAt = at;
    else if (character !== '’' || !insideWord) this.quoteAt = -1;
  }
}
