// Spoken English numbers as digits, so that "twenty five" and "25" count as the same word.

const units = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
    .split(' ')
    .map((word, value) => [word, value]),
);
const tens = new Map('twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, index) => [word, (index + 2) * 10]));
const scales = new Map([
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
]);

/** Replaces each run of number words by one word of digits; other words stay. Words are lower case, without punctuation. */
export function numbersToDigits(words: readonly string[]): string[] {
  const result: string[] = [];
  for (let at = 0; at < words.length; ) {
    const { value, used } = readNumber(words, at);
    if (used === 0) {
      result.push(words[at]!);
      at++;
    } else {
      result.push(value);
      at += used;
    }
  }
  return result;
}

/** The longest number that begins at a word. `used` is 0 when none does. */
function readNumber(words: readonly string[], from: number): { value: string; used: number } {
  let total = 0;
  let group = 0;
  let used = 0;
  // What may still be added to the group: below 1000, below 100, below 10, nothing.
  let room = 1000;
  for (let at = from; at < words.length; at++) {
    const word = words[at]!;
    const unit = units.get(word);
    const ten = tens.get(word);
    const scale = scales.get(word);
    if (unit !== undefined && unit < room && !(unit === 0 && used > 0)) {
      group += unit;
      room = 1;
    } else if (ten !== undefined && ten < room) {
      group += ten;
      room = 10;
    } else if (word === 'hundred' && group > 0 && group < 10) {
      group *= 100;
      room = 100;
    } else if (scale !== undefined && group > 0 && (total === 0 || scale < 1e9)) {
      total += group * scale;
      group = 0;
      room = 1000;
    } else if (word === 'and' && used > 0 && (group >= 100 || total > 0) && isSmall(words[at + 1])) {
      continue;
    } else {
      break;
    }
    used = at - from + 1;
  }
  return { value: String(total + group), used };
}

function isSmall(word: string | undefined): boolean {
  return word !== undefined && (units.has(word) || tens.has(word));
}
