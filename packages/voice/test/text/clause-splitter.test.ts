import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ClauseSplitter } from '../../src/text/index.js';
import { clauseCases } from './clause-cases.js';
import { neededForFirst, split, spokenPieces } from './helpers.js';

describe('the table of cases', () => {
  for (const { kind, pieces, glue = ' ', locale } of clauseCases) {
    const text = pieces.join(glue);
    const options = locale === undefined ? {} : { locale };
    test(`${kind}: ${text}`, () => {
      expect(spokenPieces(split(text, options))).toEqual(pieces);
      expect(spokenPieces(split(text, options, 1))).toEqual(pieces);
    });
  }
});

describe('cases kept outside the repository', () => {
  const file = fileURLToPath(new URL('../../../../../shared/cases/clauses.json', import.meta.url));
  const present = existsSync(file);
  if (!present) console.log('The shared clause cases are not at hand; the table above stands for them.');
  test.skipIf(!present)('are all cut right, whole and in single characters, in both modes', () => {
    const cases: Array<{ id: string; in: string; out: string[] }> = JSON.parse(readFileSync(file, 'utf8'));
    for (const firstClause of ['sentence', 'fast'] as const) {
      for (const size of [1, Number.POSITIVE_INFINITY]) {
        const wrong = cases.filter(({ in: text, out }) => {
          const pieces = spokenPieces(split(text, { firstClause }, size));
          return JSON.stringify(pieces) !== JSON.stringify(out);
        });
        expect(wrong.map(({ id }) => id)).toEqual([]);
      }
    }
  });
});

describe('a piece leaves as early as is safe (rule 11)', () => {
  const table: Array<[why: string, needed: string, rest: string]> = [
    ['a full-width stop: the next character', '很好。明', '天见'],
    ['its closers come along', '他说：“好。”我', '们走'],
    ['a danda: the next character', 'यह है। ', 'वह'],
    // An emoji behind the space would belong to the sentence (rule 5), so the space alone does not tell.
    ['? and !: the first character behind the space', 'Is it? W', 'e know'],
    ['? and an emoji', 'Is it? 🙂 W', 'e know'],
    ['؟: the first character behind the space', 'كيف؟ أ', 'نا'],
    ['a dot behind a plain word: the first letter', 'It is. W', 'e know'],
    ['a dot before a bracket: the first letter in it', 'It is. (W', 'e know)'],
    ['a dot before code: the back-tick', 'It is. `', 'x` too'],
    ['an abbreviation: the whole next word', 'In the U.S. It ', 'rains'],
    ['a single letter: the whole next word', 'Take plan B. It ', 'works'],
    ['a number: the whole next word', 'It was 1999. Snow ', 'fell'],
    ['an ellipsis: the first letter', 'Wait... W', 'hat'],
    ['a line: its end', 'First line\n', 'second'],
    ['a fence: its last back-tick', '```\nx. Y\n```', '\nnext'],
    ['glued sentences: the whole next word', 'All done.Next ', 'one'],
    ['an unclosed back-tick holds nothing back that came before', 'It is. `', 'never closed'],
  ];
  for (const [why, needed, rest] of table) test(why, () => expect(neededForFirst(needed + rest)).toBe(needed));

  test('an abbreviation that goes on with a name is no end', () => expect(neededForFirst('We saw Dr. Smith. ')).toBeUndefined());

  test('a back-tick, bracket or tag that never closes counts as text after 200 characters', () => {
    const filler = 'word '.repeat(60);
    for (const opener of ['`', '[see ', '<a ']) {
      const needed = neededForFirst(`Mind the ${opener}sign. Then walk on. ${filler}`);
      expect(needed?.length).toBeGreaterThan(200);
      expect(needed?.length).toBeLessThan(215);
    }
  });
});

describe('the first clause', () => {
  const text = 'Well, I think the old boat is the better one, because it floats. Then we go, all of us, home.';
  test('fast: ends at a weak mark behind 12 characters and 3 words', () => {
    expect(split(text, { firstClause: 'fast' }, 1).map(clause => [clause.text, clause.kind])).toEqual([
      ['Well, I think the old boat is the better one,', 'weak'],
      [' because it floats.', 'sentence'],
      [' Then we go, all of us, home.', 'sentence'],
    ]);
    expect(neededForFirst(text, { firstClause: 'fast' })).toBe('Well, I think the old boat is the better one, ');
  });
  test('sentence: does not', () => expect(split(text)[0]?.text).toBe('Well, I think the old boat is the better one, because it floats.'));
  test('never in brackets, short quotes, or behind "and"', () => {
    for (const held of ['We took (a boat, a car) and “one, two” home.', 'I would like to, and, well.']) {
      const [first] = split(held, { firstClause: 'fast' });
      expect(first?.text).not.toMatch(/(?:boat|“one|and),$/);
    }
  });
  test('a full-width comma needs no space', () =>
    expect(split('今天天气很好，我们出去', { firstClause: 'fast' })[0]?.text).toBe('今天天气很好，'));
});

describe('length', () => {
  const pieces = (text: string, maxChars: number) => split(text, { maxChars }, 1).map(clause => clause.text);
  test('the last weak mark, else the last space, else the last grapheme', () => {
    expect(pieces('We went out, bought apples', 20)).toEqual(['We went out,', ' bought apples']);
    expect(pieces('We went home and slept there', 20)).toEqual(['We went home', ' and slept there']);
    expect(pieces('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)]);
    expect(pieces('👍🏽👍🏽👍🏽', 6)).toEqual(['👍🏽', '👍🏽', '👍🏽']);
    expect(pieces('e\u0301'.repeat(4), 5)).toEqual(['e\u0301e\u0301', 'e\u0301e\u0301']);
  });
  test('a URL, a link, a code span or an emoji sequence longer than that stays whole', () => {
    for (const atom of ['https://example.com/a/long/path', '[the long guide](https://x.example)', '`one two three. Four`', '👨‍👩‍👧‍👦']) {
      expect(pieces(`go ${atom} on`, 8).map(piece => piece.trim())).toContain(atom);
    }
  });
  test('a sentence that just fits is not cut short by the look-ahead', () =>
    expect(pieces('It fits in here. Then more.', 16)).toEqual(['It fits in here.', ' Then more.']));
  test('minChars joins short sentences, but never lines', () => {
    expect(split('Hi. I am Ann, hello. Bye then.', { minChars: 10 }, 1).map(clause => clause.text)).toEqual([
      'Hi. I am Ann, hello.',
      ' Bye then.',
    ]);
    expect(split('Hi\nyou\n', { minChars: 10 }, 1).map(clause => clause.text)).toEqual(['Hi\n', 'you\n']);
  });
});

describe('idle, hurry and flush', () => {
  const idleAfter = (text: string) => {
    const splitter = new ClauseSplitter();
    return [...splitter.push(text), ...splitter.idle()].map(clause => clause.text);
  };
  test('idle lets a finished sentence go', () => {
    expect(idleAfter('It is done.')).toEqual(['It is done.']);
    expect(idleAfter('Is it “done?” ')).toEqual(['Is it “done?”']);
    expect(idleAfter('很好。')).toEqual(['很好。']);
    expect(idleAfter('Let me see...')).toEqual(['Let me see...']);
  });
  test('idle keeps what is not finished', () => {
    for (const text of [
      'It is',
      'We met Dr.',
      'Pi is 3.',
      'in the U.S. ',
      '1. ',
      'Run `npm. ',
      '```\nIt is done.',
      'Hi 👨‍👩‍',
      'a \ud83d',
      '',
    ]) {
      expect(idleAfter(text)).toEqual([]);
    }
  });
  test('what follows an idle piece still joins the reply without a gap', () => {
    const splitter = new ClauseSplitter();
    const clauses = [...splitter.push('It is done.'), ...splitter.idle(), ...splitter.push('" And so on.'), ...splitter.flush()];
    expect(clauses.map(clause => clause.text).join('')).toBe('It is done." And so on.');
    expect(clauses.map(({ start, end }) => [start, end])).toEqual([
      [0, 11],
      [11, 23],
    ]);
  });
  test('hurry cuts at the last weak mark and leaves the rest intact', () => {
    const splitter = new ClauseSplitter();
    splitter.push('We sail at dawn, if the wind');
    expect(splitter.hurry()).toEqual([{ text: 'We sail at dawn,', start: 0, end: 16, kind: 'weak' }]);
    expect(splitter.hurry()).toEqual([]);
    expect([...splitter.push(' is right. Then we'), ...splitter.flush()].map(clause => clause.text)).toEqual([
      ' if the wind is right.',
      ' Then we',
    ]);
  });
  test('after flush a new reply begins at 0', () => {
    const splitter = new ClauseSplitter({ firstClause: 'fast' });
    for (let reply = 0; reply < 2; reply++) {
      expect(splitter.push('I see it now, I think. ')).toHaveLength(1);
      expect(splitter.flush()).toEqual([{ text: ' I think. ', start: 13, end: 23, kind: 'sentence' }]);
    }
    expect(splitter.flush()).toEqual([]);
  });
});

describe('kinds', () => {
  test('say why a piece ends', () => {
    const kinds = (text: string, maxChars = 400) => split(text, { maxChars }).map(clause => clause.kind);
    expect(kinds('A title\nA sentence.\n```\ncode\n```')).toEqual(['line', 'sentence', 'code']);
    expect(kinds('some words in a row', 12)).toEqual(['length', 'line']);
  });
});

describe('locales', () => {
  test('a region falls back to its language, an unknown language to the default', () => {
    const text = 'Am 3. Klasse. Das war es.';
    expect(split(text, { locale: 'de-AT' })).toEqual(split(text, { locale: 'de' }));
    expect(split(text, { locale: 'DE_at' })).toEqual(split(text, { locale: 'de' }));
    expect(split(text, { locale: 'tlh' })).toEqual(split(text));
    expect(split(text, { locale: 'constructor' })).toEqual(split(text));
  });
});

describe('mistakes are told', () => {
  const make = (options: unknown) => () => new ClauseSplitter(options as never);
  test.each([{ minChars: -1 }, { minChars: Number.NaN }, { minChars: 1.5 }, { maxChars: 0 }, { maxChars: Number.POSITIVE_INFINITY }])(
    '%o: RangeError',
    options => expect(make(options)).toThrow(RangeError),
  );
  test('maxChars below minChars, an unknown firstClause', () => {
    expect(make({ minChars: 50, maxChars: 20 })).toThrow(/raise maxChars/);
    expect(make({ firstClause: 'quick' })).toThrow(RangeError);
  });
  test('wrong types: TypeError', () => {
    expect(make({ minChars: '5' })).toThrow(TypeError);
    expect(make({ locale: 5 })).toThrow(TypeError);
    for (const text of [undefined, null, 5, {}]) expect(() => new ClauseSplitter().push(text as never)).toThrow(TypeError);
  });
});
