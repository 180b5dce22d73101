// Text as an English synthesizer that knows only ASCII can take it: letters lose their accents, typographic signs become plain
// ones, and what has no plain form is left out.

const replacements: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '‛': "'",
  '′': "'",
  ʼ: "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '″': '"',
  '«': '"',
  '»': '"',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '–': ', ',
  '—': ', ',
  '―': ', ',
  '−': '-',
  '•': ', ',
  '·': ' ',
  '¿': '',
  '¡': '',
  '×': ' times ',
  '÷': ' divided by ',
  '±': ' plus or minus ',
  '≈': ' about ',
  '≤': ' at most ',
  '≥': ' at least ',
  '≠': ' is not ',
  '°': ' degrees ',
  '§': ' section ',
  '©': ' copyright ',
  '€': ' euros ',
  '£': ' pounds ',
  '¥': ' yen ',
  '¢': ' cents ',
  µ: 'micro',
  μ: 'micro',
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'th',
  Ð: 'Th',
  þ: 'th',
  Þ: 'Th',
  ł: 'l',
  Ł: 'L',
  ı: 'i',
  ħ: 'h',
  Ħ: 'H',
  ŧ: 't',
  Ŧ: 'T',
  ŋ: 'ng',
  Ŋ: 'Ng',
  '。': '. ',
  '、': ', ',
  '，': ', ',
  '！': '! ',
  '？': '? ',
  '：': ': ',
  '；': '; ',
};

/** Printable ASCII on one line, without control characters; empty when nothing can be said. */
export function plainAscii(text: string): string {
  let plain = '';
  for (const character of text) plain += replacements[character] ?? character;
  return plain
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('\u2044', '/')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/ +/g, ' ')
    .replace(/ (?=[,.;:!?])/g, '')
    .trim();
}

/** Whether a voice would say anything: dots, dashes and brackets alone are silence. */
export function isSpoken(plain: string): boolean {
  return /[a-z0-9]/i.test(plain);
}

/** Cuts text into pieces of at most `maxChars`, at the end of a sentence, else at a comma, else at a space, else anywhere. */
export function cutPieces(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > maxChars) {
    const window = rest.slice(0, maxChars + 1);
    const sentence = lastMatch(window, /[.!?]["')]* /g);
    const comma = lastMatch(window, /[,;:] /g);
    const space = window.lastIndexOf(' ') + 1;
    const cut = [sentence, comma, space].find(position => position >= maxChars / 3) ?? maxChars;
    pieces.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  pieces.push(rest);
  return pieces.filter(piece => piece !== '');
}

/** Position behind the last match, 0 for none. */
function lastMatch(text: string, pattern: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}
