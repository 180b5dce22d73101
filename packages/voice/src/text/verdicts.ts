/** What the first character of the next word says about a possible end of a sentence (rules 6 and 11): tables, no state. */
import { CharClass, isLetter } from './chars.js';
import type { BeforeDot, Rules } from './rules.js';

export interface Candidate {
  /** `full` cuts whatever follows; `list` is the marker of the next item of a list written in one line, `cut` lies before it. */
  readonly stop: 'full' | 'mark' | 'dot' | 'ellipsis' | 'list';
  readonly before: BeforeDot;
  /** The word before the terminator and the class of its last character. */
  readonly word: string;
  readonly lastClass: CharClass;
  /** The sentence began with a phrase of time: `At 5 a.m.` */
  readonly leadIn: boolean;
  /** An exclamation mark, which may belong to a name. */
  readonly exclamation: boolean;
  /** A full-width dot, which may stand in a number. */
  readonly decimal: boolean;
}

/** `skip`: look at the next character. `word`: wait for the whole next word. */
export type Verdict = 'cut' | 'keep' | 'skip' | 'word';

const CURRENCY = /\p{Sc}/u;

/** `closed`: a quote or bracket closed behind the stop. `dots`: how many stand in a spaced ellipsis `. . .`. */
export function verdictAtNext(
  candidate: Candidate,
  closed: boolean,
  dots: number,
  character: string,
  charClass: CharClass,
  rules: Rules,
): Verdict {
  switch (charClass) {
    case CharClass.Dash:
    case CharClass.WeakFull:
    case CharClass.Opener:
    case CharClass.Quote:
    case CharClass.Closer:
    case CharClass.Markup:
    case CharClass.Bullet:
      return candidate.stop === 'mark' && !closed ? 'cut' : 'skip';
    case CharClass.Weak:
      return character === '–' ? 'skip' : 'keep';
    case CharClass.Other:
      if (character === '№' || character === '§') return 'keep';
      if (!CURRENCY.test(character)) return 'skip';
      break;
    default:
      break;
  }
  switch (candidate.stop) {
    case 'mark':
      return charClass === CharClass.Lower && markGoesOn(candidate, closed, rules) ? 'keep' : 'cut';
    case 'list':
      return charClass === CharClass.Lower ? 'keep' : 'cut';
    case 'ellipsis':
      return charClass === CharClass.Upper ? 'cut' : 'keep';
    default:
      return afterDot(candidate.before, dots, charClass, rules);
  }
}

/** `"Stop!" he said`, `Yahoo! in the …`. */
function markGoesOn(candidate: Candidate, closed: boolean, rules: Rules): boolean {
  return closed || rules.lowerContinues || (candidate.exclamation && rules.exclaimed.has(candidate.word.toLowerCase()));
}

function afterDot(before: BeforeDot, dots: number, charClass: CharClass, rules: Rules): Verdict {
  const upper = charClass === CharClass.Upper;
  const uncased = isLetter(charClass) && !upper && charClass !== CharClass.Lower;
  switch (before) {
    case 'plain':
      return charClass === CharClass.Lower && !rules.lowerStarts ? 'keep' : 'cut';
    case 'nothing':
      return upper && (dots === 1 || dots > 3) ? 'cut' : 'keep';
    case 'title':
    case 'marker':
      return 'keep';
    case 'before-number':
    case 'abbreviation':
    case 'final':
    case 'initial':
      return upper ? 'word' : 'keep';
    case 'ordinal':
      return upper ? 'word' : uncased ? 'cut' : 'keep';
    case 'number':
    case 'year':
      return charClass === CharClass.Lower ? 'keep' : uncased ? 'cut' : 'word';
  }
}
