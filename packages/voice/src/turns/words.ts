// What words are worth for turn-taking, without case and punctuation.

/** The words of a text as they are compared. `wordsOf('Okay, Stop!')` → `['okay', 'stop']` */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  const plain = text.normalize('NFKC').replace(APOSTROPHES, "'").replace(ARABIC_MARKS, '').toLowerCase();
  // Piece by piece, since the segmenter's time grows with the square of the length.
  for (const piece of plain.split(BETWEEN)) {
    if (PLAIN_WORD.test(piece)) words.push(piece);
    else for (const { segment, isWordLike } of SEGMENTER.segment(piece)) if (isWordLike) words.push(segment);
  }
  return words;
}

/** Whether two transcripts say the same. Without a word on either side they do not. `sameWords('Stop.', 'stop')` → `true` */
export function sameWords(a: string, b: string): boolean {
  const [one, other] = [unitsOf(wordsOf(a)), unitsOf(wordsOf(b))];
  return one.length > 0 && one.length === other.length && one.every((unit, i) => unit === other[i]);
}

/** The words that are more than a sign of listening. `beyondBackchannel('yeah, stop')` → `['yeah', 'stop']`, of "mm-hmm" none */
export function beyondBackchannel(text: string, more: readonly string[] = []): readonly string[] {
  const words = wordsOf(text);
  const units = unitsOf(words);
  known ??= new Set(BACKCHANNELS.map(phraseOf));
  const own = new Set(more.map(phraseOf));
  const longest = Math.max(...[...known, ...own].map(phrase => phrase.split(' ').length));
  // Where a phrase may end. Phrases share beginnings, so the longest is not always right.
  const ends = new Set([0]);
  for (let from = 0; from < units.length; from++) {
    if (!ends.has(from)) continue;
    for (let to = from + 1; to <= Math.min(units.length, from + longest); to++) {
      const phrase = units.slice(from, to).join(' ');
      if (known.has(phrase) || own.has(phrase)) ends.add(to);
    }
  }
  return ends.has(units.length) ? [] : words;
}

/** Whether the microphone heard the agent: the words stand in this order in what it just said. One word proves nothing unless it is long. */
export function repeats(heard: string, spoken: string): boolean {
  const words = wordsOf(heard);
  if (words.length === 0 || (words.length === 1 && (words[0]?.length ?? 0) < 6)) return false;
  return ` ${phraseOf(spoken)} `.includes(` ${unitsOf(words).join(' ')} `);
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'word' });
const BETWEEN = /[\s。、，！？]+/u;
const PLAIN_WORD = /^[a-z]+$/u;
const APOSTROPHES = /[‘’ʼ]/gu;
/** Vowel signs and the stretching line, which some write and some do not. */
const ARABIC_MARKS = /[\u064B-\u0652\u0640]/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Single characters where words are written together: where these are cut depends on what stands beside them. */
function unitsOf(words: readonly string[]): readonly string[] {
  return words.flatMap(word => (UNSPACED.test(word) ? [...word] : [word]));
}

function phraseOf(text: string): string {
  return unitsOf(wordsOf(text)).join(' ');
}

/** {@link BACKCHANNELS} as they are compared. */
let known: ReadonlySet<string> | undefined;

/** In the languages that are spoken most. Words that can also be an answer count only while the agent speaks. */
const BACKCHANNELS: readonly string[] = [
  ...[
    'mm',
    'mhm',
    'mm-hm',
    'mm-hmm',
    'mmhmm',
    'hm',
    'hmm',
    'uh-huh',
    'aha',
    'ah',
    'oh',
    'yeah',
    'yep',
    'yes',
    'right',
    'okay',
    'ok',
    'sure',
    'i see',
    'got it',
    'great',
    'cool',
    'nice',
    'wow',
    'really',
    'uh',
    'um',
  ],
  ...[
    'ja',
    'genau',
    'stimmt',
    'klar',
    'ach so',
    'aha',
    'gut',
    'sí',
    'claro',
    'vale',
    'ya',
    'ajá',
    'oui',
    "d'accord",
    'ouais',
    'voilà',
    'bien',
    'sì',
    'certo',
    'già',
    'sim',
    'certo',
    'tá',
    'pois é',
    'ja ja',
    'precies',
    'oké',
  ],
  ...[
    'да',
    'ага',
    'угу',
    'понятно',
    'так',
    'ясно',
    'tak',
    'no tak',
    'jasne',
    'evet',
    'tamam',
    'नहीं तो',
    'हाँ',
    'हां',
    'अच्छा',
    'ठीक है',
    'نعم',
    'طيب',
    'آه',
    'أيوه',
    'تمام',
    'はい',
    'ええ',
    'うん',
    'そう',
    'そうですね',
    'なるほど',
    'なるほどね',
    'へえ',
    '嗯',
    '对',
    '對',
    '哦',
    '好',
    '好的',
    '是',
    '是的',
    '네',
    '예',
    '응',
    '그래',
    '맞아',
  ],
];
