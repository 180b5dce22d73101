/**
 * The rules of a language, looked up from the data in `locales/`: what a word before a dot is, what a word after it says.
 * Knows nothing of streams or offsets.
 */
import { common } from './locales/common.js';
import { en } from './locales/en.js';
import { locales } from './locales/index.js';
import type { LocaleData } from './locales/locale.js';

/** What stands before a dot; decides how much of the next word must be known (rules 6 and 11). */
export type BeforeDot =
  | 'plain'
  | 'title'
  | 'abbreviation'
  | 'final'
  | 'before-number'
  | 'initial'
  | 'ordinal'
  | 'number'
  | 'year'
  | 'nothing'
  | 'marker';

export interface Rules {
  readonly kinds: ReadonlyMap<string, BeforeDot>;
  readonly starters: ReadonlySet<string>;
  readonly months: ReadonlySet<string>;
  readonly neverLast: ReadonlySet<string>;
  readonly leadIns: ReadonlySet<string>;
  readonly exclaimed: ReadonlySet<string>;
  readonly suffixes: readonly string[];
  /** Characters that end a sentence before white space, as one string. */
  readonly stops: string;
  readonly ordinals: boolean;
  readonly lowerStarts: boolean;
  readonly lowerContinues: boolean;
}

const words = (list: string | undefined): string[] => (list ? list.split(' ') : []);

function compile(parts: readonly LocaleData[]): Rules {
  const kinds = new Map<string, BeforeDot>();
  // The later list wins: a word that is both a plain abbreviation and a title is a title.
  for (const part of parts) {
    for (const word of words(part.abbreviations)) kinds.set(word, 'abbreviation');
    for (const word of words(part.beforeNumber)) kinds.set(word, 'before-number');
    for (const word of words(part.finals)) kinds.set(word, 'final');
    for (const word of words(part.titles)) kinds.set(word, 'title');
  }
  const set = (pick: (part: LocaleData) => string | undefined) => new Set(parts.flatMap(part => words(pick(part))));
  return {
    kinds,
    starters: set(part => part.starters),
    months: set(part => part.months),
    neverLast: set(part => part.neverLast),
    leadIns: set(part => part.leadIns),
    exclaimed: set(part => part.exclaimed),
    suffixes: parts.flatMap(part => words(part.suffixes)),
    stops: parts.map(part => part.stops ?? '').join(''),
    ordinals: parts.some(part => part.ordinals),
    lowerStarts: parts.some(part => part.lowerStarts),
    lowerContinues: parts.some(part => part.lowerContinues),
  };
}

const LATIN = /^\p{Script=Latin}/u;

/** Of a language nobody asked for: its months and long titles, and its abbreviations if English has no such letters. */
function guest(data: LocaleData): LocaleData {
  const foreign = !LATIN.test(data.titles ?? data.abbreviations ?? 'a');
  const own = (list: string | undefined) =>
    words(list)
      .filter(word => foreign || word.length > 2)
      .join(' ');
  const abbreviations = foreign ? own(data.abbreviations) : '';
  const finals = foreign ? own(data.finals) : '';
  const starters = foreign ? own(data.starters) : '';
  return { titles: own(data.titles), abbreviations, finals, starters, months: own(data.months) };
}

const cache = new Map<string, Rules>();

/**
 * Rules for a BCP 47 tag (`de`, `de-AT`). Without a locale, or with an unknown one: English, with the months, titles and
 * foreign-script abbreviations of all other languages, so that mixed text works.
 */
export function rulesFor(locale: string | undefined): Rules {
  const language = (locale ?? '').toLowerCase().split(/[-_]/)[0]!;
  const key = Object.hasOwn(locales, language) ? language : '';
  const known = cache.get(key);
  if (known) return known;
  const others = Object.values(locales).filter(data => data !== en);
  const rules = compile(key ? [common, locales[key]!] : [...others.map(guest), common, en]);
  cache.set(key, rules);
  return rules;
}

const NUMBER = /^[\p{Sc}+\-(]*\p{Nd}[\p{Nd}.,:/'’-]*(?:\p{Sc}|%)?$/u;
const ORDINAL = /^\p{Nd}{1,3}$/u;
const YEAR = /^\p{Nd}{4}$/u;
const ROMAN = /^[IVXLC]{2,7}$/;
const ROMAN_AFTER = /^(?:[IVXLC]{2,}|[VX])$/;
const LETTERS_WITH_DOTS = /^(?:\p{L}\p{M}*[.．]-?)+\p{L}{1,2}\p{M}*$/u;
const BIDI_CONTROLS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const SINGLE_CAPITAL = /^\p{Lu}$/u;
const ELISION = /^\p{L}{1,2}['’](?=\p{L}{2})/u;
const SINGLE_LETTER = /^(?:\p{L}\p{M}*[.．]?-)?[\p{Lu}\p{Ll}\p{Script=Arabic}]\p{M}*$/u;

function isBeforeNumber(word: string, rules: Rules): boolean {
  return rules.kinds.get(word.toLowerCase()) === 'before-number' || rules.suffixes.some(suffix => word.endsWith(suffix));
}

/** What the word directly before a dot is. `word` is at most a few dozen characters, without the dot itself; `wordBefore` the one before it. */
export function beforeDot(word: string, wordBefore: string, rules: Rules): BeforeDot {
  if (word === '') return 'nothing';
  if (YEAR.test(word)) return 'year';
  // In "kl. 5." and "Nr. 5." the number counts nothing off.
  if (ORDINAL.test(word)) return isBeforeNumber(wordBefore.replace(/\.$/, ''), rules) ? 'number' : 'ordinal';
  if (NUMBER.test(word)) return 'number';
  const bare = word.replace(BIDI_CONTROLS, '').replace(ELISION, '');
  const listed = rules.kinds.get(bare.toLowerCase());
  // `p. 5` is a page, `P. Smith` a person.
  if (listed && (listed === 'title' || !SINGLE_CAPITAL.test(bare))) return listed;
  if (SINGLE_LETTER.test(bare)) return 'initial';
  if (isBeforeNumber(bare, rules)) return 'before-number';
  if (LETTERS_WITH_DOTS.test(bare)) return 'abbreviation';
  if (rules.ordinals && ROMAN.test(word)) return 'initial';
  return 'plain';
}

/** Whether a word usually starts a sentence; `It's` counts as `it`. */
export function isStarter(word: string, rules: Rules): boolean {
  const lower = word.toLowerCase();
  return rules.starters.has(lower) || rules.starters.has(lower.split(/['’-]/)[0]!);
}

const ZONE = /^\p{Lu}{2,4}$/u;

/** Whether the whole next word makes the dot before it the end of a sentence. `initial`: the word is a letter with a dot itself. */
export function endsBefore(before: BeforeDot, word: string, initial: boolean, leadIn: boolean, rules: Rules): boolean {
  const starts = isStarter(word, rules) && !initial;
  const lower = word.toLowerCase();
  switch (before) {
    case 'abbreviation':
    case 'initial':
      return starts;
    case 'final':
      return !leadIn && !rules.months.has(lower) && !ZONE.test(word);
    case 'before-number':
      return !ROMAN_AFTER.test(word);
    case 'ordinal':
      if (rules.months.has(lower)) return false;
      return starts || !rules.ordinals;
    default:
      return true;
  }
}
