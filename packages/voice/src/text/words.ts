/** The word that is being read, the one before it, and how many the piece has so far. Words are kept up to a few dozen characters. */
import { CharClass } from './chars.js';

const WORD_LIMIT = 40;

const { Dash, Digit, Dot, Extend, Ideograph, Letter, Lower, Mark, Other, Quote, Thai, Upper, Weak } = CharClass;
const BEGINS: ReadonlySet<CharClass> = new Set([Upper, Lower, Letter, Ideograph, Thai, Digit, Other]);
/** Only continue a word: `9:30`, `don't`, `user@host`, `e.g`. */
const JOINS: ReadonlySet<CharClass> = new Set([Dot, Mark, Weak, Quote, Dash, Extend]);

export class Words {
  /** The word being read, or ''. */
  text = '';
  at = 0;
  previous = '';
  /** Words of the piece. */
  count = 0;
  first = '';
  /** Punctuation stands inside the word: a domain, a time, a version (rule 3). */
  atomic = false;

  take(character: string, charClass: CharClass, at: number): void {
    if (BEGINS.has(charClass)) this.grow(character, at);
    else if (JOINS.has(charClass) || character === '_' || character === '’') this.join(character, charClass);
    else this.end();
  }

  end(): void {
    if (this.text === '') return;
    this.previous = this.text;
    if (this.count === 1) this.first = this.text;
    this.text = '';
    this.atomic = false;
  }

  /** A span counts as a word without letters. */
  countSpan(): void {
    this.text = '';
    this.count++;
  }

  /** A new piece begins; `first` has been read of it already. */
  restart(first: string): void {
    this.count = first === '' ? 0 : 1;
    this.first = first;
    if (first !== '' && this.text.endsWith(first)) this.text = first;
  }

  private grow(character: string, at: number): void {
    if (this.text === '') {
      this.at = at;
      this.count++;
      this.atomic = false;
    }
    if (this.text.length < WORD_LIMIT) this.text += character;
  }

  private join(character: string, charClass: CharClass): void {
    if (this.text === '') return;
    if (this.text.length < WORD_LIMIT) this.text += character;
    if (charClass !== CharClass.Extend && !"-'’".includes(character)) this.atomic = true;
  }
}
