// What words are worth for turn-taking, without case and punctuation.

/** The words of a text as they are compared. `wordsOf('Okay, Stop!')` → `['okay', 'stop']` */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of SEGMENTER.segment(text.normalize('NFKC').toLowerCase())) if (isWordLike) words.push(segment);
  return words;
}

/** Whether two transcripts say the same. Without a word on either side they do not. `sameWords('Stop.', 'stop')` → `true` */
export function sameWords(a: string, b: string): boolean {
  const [one, other] = [wordsOf(a), wordsOf(b)];
  return one.length > 0 && one.length === other.length && one.every((word, i) => word === other[i]);
}

/** The words that are more than a sign of listening. `beyondBackchannel('yeah, stop')` → `['yeah', 'stop']`, of "mm-hmm" none */
export function beyondBackchannel(text: string, more: readonly string[] = []): readonly string[] {
  const words = wordsOf(text);
  const known = new Set([...BACKCHANNELS, ...more].map(phrase => wordsOf(phrase).join(' ')));
  for (let at = 0; at < words.length; ) {
    const length = [3, 2, 1].find(n => at + n <= words.length && known.has(words.slice(at, at + n).join(' ')));
    if (length === undefined) return words;
    at += length;
  }
  return [];
}

/** Whether the microphone heard the agent: the words stand in this order in what it just said. One word proves nothing unless it is long. */
export function repeats(heard: string, spoken: string): boolean {
  const words = wordsOf(heard);
  if (words.length === 0 || (words.length === 1 && (words[0]?.length ?? 0) < 6)) return false;
  return ` ${wordsOf(spoken).join(' ')} `.includes(` ${words.join(' ')} `);
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'word' });

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
    'はい',
    'ええ',
    'うん',
    'そう',
    'そうですね',
    'なるほど',
    '嗯',
    '对',
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
