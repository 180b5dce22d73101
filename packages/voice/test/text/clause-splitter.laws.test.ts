import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ClauseSplitter, type ClauseSplitterOptions } from '../../src/text/index.js';
import { clauseCases } from './clause-cases.js';
import { split } from './helpers.js';

/** What makes splitting hard, to be thrown together in any order. */
const FRAGMENTS = [
  ...['Dr. ', 'U.S. ', '3.14', '1980. ', 'No. ', 'I. ', 'e.g. ', 'a.m. ', '100,000.00', '. ', '.', '...', ' . . . ', '? ', '! ', '?!', '…'],
  ...['"', '“', '”', "'", '(', ')', '[', '](', ']', '`', '``', '```', '```js\n', '~~~\n', '<b>', '</b>', '<', '>', '**', '_', '#', '|'],
  ...[
    '\n',
    '\n\n',
    '\r\n',
    ' ',
    '   ',
    '\t',
    '\u00a0',
    '\u200b',
    '1. ',
    '2. ',
    'a. ',
    'b. ',
    '2) ',
    '- ',
    '• ',
    ', ',
    '; ',
    ': ',
    '—',
    ' – ',
  ],
  ...['the ', 'and ', 'He ', 'it ', 'Hello', 'World ', 'x', 'A', 'https://x.example/y?z=1. ', 'a@b.example', 'main.ts'],
  ...[
    '。',
    '！',
    '，',
    '．',
    '「',
    '」',
    'と',
    '你好',
    '《',
    '》',
    '３',
    'مرحبا',
    '؟',
    'हाँ',
    '।',
    '۔',
    '։',
    '።',
    '។',
    '။',
    '안녕',
    'สวัสดีครับวันนี้อากาศดีมากครับผมชอบ ',
  ],
  ...['👨‍👩‍👧', '🎉', '👍🏽', '🇩🇪', '\ud83d', '\ude00', '\u0301', '\u200d', '\u202a', '\ufe0f', '1️⃣'],
];

const soup = fc.oneof(
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 80 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
);

const options: fc.Arbitrary<ClauseSplitterOptions> = fc
  .record({
    minChars: fc.integer({ min: 0, max: 30 }),
    maxChars: fc.oneof(fc.integer({ min: 30, max: 90 }), fc.constant(400)),
    firstClause: fc.constantFrom('fast' as const, 'sentence' as const),
    locale: fc.constantFrom('en', 'de', 'ru', 'el', 'th', 'ja', 'ar', 'hy', 'sk', 'xx'),
  })
  .filter(({ minChars, maxChars }) => minChars <= maxChars);

function splitAt(text: string, sizes: readonly number[], given: ClauseSplitterOptions) {
  const splitter = new ClauseSplitter(given);
  const clauses = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    clauses.push(...splitter.push(text.slice(at, at + size)));
    at += size;
  }
  return [...clauses, ...splitter.flush()];
}

function expectLossless(text: string, clauses: ReturnType<typeof split>) {
  let end = 0;
  for (const clause of clauses) {
    expect(clause.start).toBe(end);
    expect(clause.text).toBe(text.slice(clause.start, clause.end));
    expect(clause.text).not.toBe('');
    end = clause.end;
  }
  expect(end).toBe(text.length);
}

const runs = { numRuns: 3000 };
const chunkSizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 });

describe('laws', () => {
  test('1 lossless: the pieces joined are the text, with matching offsets', () => {
    fc.assert(
      fc.property(soup, options, (text, given) => expectLossless(text, split(text, given, 1))),
      runs,
    );
  });

  test('2 chunk-independent: single characters, any chunks and the whole text give the same pieces', () => {
    fc.assert(
      fc.property(soup, options, chunkSizes, (text, given, sizes) => {
        const whole = split(text, given);
        expect(split(text, given, 1)).toEqual(whole);
        expect(splitAt(text, sizes, given)).toEqual(whole);
      }),
      runs,
    );
  });

  test('idle and hurry at any moment lose nothing', () => {
    fc.assert(
      fc.property(soup, options, chunkSizes, (text, given, sizes) => {
        const splitter = new ClauseSplitter(given);
        const clauses = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          clauses.push(...splitter.push(text.slice(at, at + size)), ...(size % 3 === 0 ? splitter.hurry() : splitter.idle()));
          at += size;
        }
        expectLossless(text, [...clauses, ...splitter.flush()]);
        expect(splitter.push('')).toEqual([]);
      }),
      runs,
    );
  });

  test('a flushed splitter is as good as new', () => {
    fc.assert(
      fc.property(soup, soup, options, (before, text, given) => {
        const splitter = new ClauseSplitter(given);
        splitter.push(before);
        splitter.flush();
        expect([...splitter.push(text), ...splitter.flush()]).toEqual(split(text, given));
      }),
      { numRuns: 1000 },
    );
  });

  test('no piece of plain words is longer than maxChars, and none tears a character', () => {
    const letters = fc.constantFrom('a', 'B', ' ', ', ', '. ', 'é', 'e\u0301', '你', '，', '。', '👍🏽', '🎉', 'ไ', '\n');
    const text = fc.array(letters, { maxLength: 400 }).map(parts => parts.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 60 }), (words, maxChars) => {
        for (const clause of split(words, { maxChars }, 1)) {
          expect(clause.text.length).toBeLessThanOrEqual(maxChars);
          expect(clause.text).not.toMatch(/^(?:[\udc00-\udfff]|\u0301|\u{1f3fd})|[\ud800-\udbff]$/u);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('streaming twists', () => {
  const atoms = [
    '3.14',
    'U.S.',
    '👨‍👩‍👧',
    '**bold.**',
    'https://x.example/a.b',
    '<break time="1s"/>',
    '`a. b`',
    '``a`b``',
    '[x](https://y.example)',
    '🇫🇷',
    'a@b.example',
  ];
  const texts = [
    ...atoms.map(atom => `Before ${atom} after. And ${atom}. Then it ends. `),
    'See:\n```js\na. B\n```\nDone.',
    ...clauseCases.map(({ pieces, glue = ' ' }) => pieces.join(glue)),
  ];

  test('a cut in two tokens at every place', () => {
    for (const text of texts) {
      const whole = split(text);
      for (let at = 0; at <= text.length; at++) {
        const splitter = new ClauseSplitter();
        expect([...splitter.push(text.slice(0, at)), ...splitter.push(text.slice(at)), ...splitter.flush()]).toEqual(whole);
      }
    }
  });

  test('no atom is torn', () => {
    for (const atom of atoms) {
      const text = `Before ${atom} after. And ${atom}. Then it ends. `;
      expect(split(text, {}, 1).filter(clause => clause.text.includes(atom))).toHaveLength(2);
    }
  });

  test('the end of the stream in the middle of each: the rest comes out', () => {
    for (const text of texts) {
      for (let end = 0; end <= text.length; end++) expectLossless(text.slice(0, end), split(text.slice(0, end), {}, 1));
    }
  });

  test('1,000 random choppings of all cases in one text', () => {
    const everything = texts.join('\n');
    const whole = split(everything);
    fc.assert(
      fc.property(chunkSizes, sizes => {
        expect(splitAt(everything, sizes, {})).toEqual(whole);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('work and memory grow with the text, no faster', () => {
  const hard: ReadonlyArray<[string, string, string]> = [
    ['prose', '', 'Dr. Lee met Mrs. Okafor at noon, and they spoke. It was fun! Then (at 9:30 a.m.) they left the U.S. '],
    ['no space', '', 'x'],
    ['domains without end', '', 'a.b'],
    ['open brackets', '', '('],
    ['open links', '', '[a'],
    ['open tags', '', '<a '],
    ['dots', '', '.'],
    ['spaced dots', 'a', ' .'],
    ['white space', 'So. ', ' '],
    ['an unclosed back-tick', '`', 'word word. '],
    ['back-ticks', '', '`'],
    ['an unclosed fence', '```\n', 'let a = 1;\n'],
    ['combining marks', 'a', '\u0301'],
    ['joined emoji', '', '👨\u200d'],
    ['a URL', 'https://', 'abc'],
    ['capitals behind a title', 'Dr. ', 'A'],
    ['lone surrogates', '', '\ud83d'],
    ['Thai', '', 'สวัสดี'],
  ];
  const make = (start: string, unit: string, length: number) => start + unit.repeat(Math.ceil(length / unit.length));
  const run = (text: string) => {
    const splitter = new ClauseSplitter();
    let longest = 0;
    const begin = process.hrtime.bigint();
    for (let at = 0; at < text.length; at++) for (const clause of splitter.push(text[at]!)) longest = Math.max(longest, clause.text.length);
    for (const clause of splitter.flush()) longest = Math.max(longest, clause.text.length);
    return { longest, time: Number(process.hrtime.bigint() - begin) };
  };

  test.each(hard)('%s', (_, start, unit) => {
    run(make(start, unit, 20_000));
    const least = (length: number) => Math.min(...[1, 2, 3].map(() => run(make(start, unit, length)).time));
    // Ten times the text in at most 25 times the time: quadratic work would take 100 times.
    expect(least(200_000) / least(20_000)).toBeLessThan(25);
    expect(run(make(start, unit, 200_000)).longest).toBeLessThanOrEqual(65_536);
  });
});
