/**
 * What a single code point is to the clause splitter. One class per code point, looked up in a table that fills itself,
 * so that the state machine never runs a regular expression over the buffer.
 */
export const CharClass = {
  Other: 0,
  Space: 1,
  Newline: 2,
  Upper: 3,
  Lower: 4,
  /** A letter of a script without case whose words are separated by spaces (Arabic, Devanagari, Hangul, …). */
  Letter: 5,
  /** Han and kana: no case, no spaces. */
  Ideograph: 6,
  /** Thai and Lao: no case, no spaces between words, no terminators. */
  Thai: 7,
  Digit: 8,
  /** Combining marks, joiners, variation selectors and bidi controls: they belong to the character before. */
  Extend: 9,
  Emoji: 10,
  /** `.` and the full-width `．`. */
  Dot: 11,
  /** `? ! ؟` and kin: end a sentence when white space follows. */
  Mark: 12,
  Ellipsis: 13,
  /** `。！？।` and kin: end a sentence whatever follows. */
  FullStop: 14,
  /** `, ; :` and kin: a weak cut when white space follows. */
  Weak: 15,
  /** `，、；：` and the em dash: a weak cut whatever follows. */
  WeakFull: 16,
  Opener: 17,
  Closer: 18,
  /** `" '`: opener or closer, by where it stands. */
  Quote: 19,
  /** `* _ ~ #`: markdown that may open or close. */
  Markup: 20,
  Dash: 21,
  Bullet: 22,
} as const;
export type CharClass = (typeof CharClass)[keyof typeof CharClass];

const LISTED: ReadonlyArray<readonly [string, CharClass]> = [
  ['\n\v\f\u0085\u2028\u2029', CharClass.Newline],
  ['.．', CharClass.Dot],
  ['?!؟‼⁇⁈⁉', CharClass.Mark],
  ['…', CharClass.Ellipsis],
  ['。！？｡।॥۔።፧፨។៕။։᠃꧉།', CharClass.FullStop],
  [',;:،؛\u0387\u00b7၊፣፤፥–', CharClass.Weak],
  ['，、；：—', CharClass.WeakFull],
  ['([{¿¡„‚“‘«‹「『（【《〈〔［｛', CharClass.Opener],
  [')]}”’»›」』）】》〉〕］｝', CharClass.Closer],
  ['"\'', CharClass.Quote],
  ['*_~#', CharClass.Markup],
  ['-−‐‑―', CharClass.Dash],
  ['•⁃◦▪●‣', CharClass.Bullet],
  ['©®™', CharClass.Other],
];

const PATTERNS: ReadonlyArray<readonly [RegExp, CharClass]> = [
  [/[\s\u200b]/u, CharClass.Space],
  [/[\p{M}\p{Cf}\p{Emoji_Modifier}\u0e33\u0eb3\u1160-\u11ff]/u, CharClass.Extend],
  [/\p{Nd}/u, CharClass.Digit],
  [/[\p{Lu}\p{Lt}]/u, CharClass.Upper],
  [/\p{Ll}/u, CharClass.Lower],
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u, CharClass.Ideograph],
  [/[\p{Script=Thai}\p{Script=Lao}]/u, CharClass.Thai],
  [/[\p{L}\p{Nl}]/u, CharClass.Letter],
  [/[\p{Extended_Pictographic}\p{Regional_Indicator}]/u, CharClass.Emoji],
];

const UNKNOWN = 255;
const table = new Uint8Array(0x20000).fill(UNKNOWN);
for (const [characters, charClass] of LISTED) for (const character of characters) table[character.codePointAt(0)!] = charClass;

function classify(codePoint: number): CharClass {
  const character = String.fromCodePoint(codePoint);
  return PATTERNS.find(([pattern]) => pattern.test(character))?.[1] ?? CharClass.Other;
}

/** The class of a code point; lone surrogates are `Other`. */
export function classOf(codePoint: number): CharClass {
  if (codePoint >= table.length) return classify(codePoint);
  const known = table[codePoint]!;
  if (known !== UNKNOWN) return known as CharClass;
  const found = classify(codePoint);
  table[codePoint] = found;
  return found;
}

/** Letters of any script, by class. */
export function isLetter(charClass: CharClass): boolean {
  return charClass >= CharClass.Upper && charClass <= CharClass.Thai;
}

const ZERO_WIDTH_JOINER = 0x200d;

function isRegionalIndicator(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}

/** Follows the code points of a text and says whether a grapheme may begin at the next one (rule 3: no character is cut in two). */
export class GraphemeTracker {
  private previous = 0;
  private flags = 0;

  /** Takes the next code point; true when a grapheme begins with it. */
  begins(codePoint: number, charClass: CharClass): boolean {
    const joined = charClass === CharClass.Extend || this.previous === ZERO_WIDTH_JOINER;
    const flag = isRegionalIndicator(codePoint);
    this.flags = flag ? this.flags + 1 : 0;
    this.previous = codePoint;
    return !joined && !(flag && this.flags % 2 === 0);
  }
}
