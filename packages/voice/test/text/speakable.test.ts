import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SpeakableOptions, speakable } from '../../src/text/index.js';
import { split } from './helpers.js';

const table: ReadonlyArray<[what: string, text: string, spoken: string, options?: SpeakableOptions]> = [
  ['emphasis', '**very** _nice_', 'very nice'],
  ['half a pair, as clauses have it', '**First. ', 'First.'],
  ['the other half', 'Second.**', 'Second.'],
  ['nested emphasis', '***so*** ~~old~~ new', 'so old new'],
  ['arithmetic', '2 * 3 = 6', '2 * 3 = 6'],
  ['tight arithmetic', '2*3=6, 2**3', '2*3=6, 2**3'],
  ['snake case', 'call my_own_tool', 'call my_own_tool'],
  ['comparison', '5 < 6 and 7 > 3', '5 < 6 and 7 > 3'],
  ['link', '[guide](https://x.y)', 'guide'],
  ['image', '![a cat](cat.png) sits', 'a cat sits'],
  ['bare URL, skipped', 'See https://x.y/a?b=c.', 'See.'],
  ['bare URL, spelled', 'See https://x.y/a?b=c.', 'See x dot y slash a.', { urls: 'spell' }],
  ['e-mail, spelled', 'Write to jo@x.org.', 'Write to jo at x dot org.', { urls: 'spell' }],
  ['autolink in brackets', 'Here (<https://x.y>) it is', 'Here it is'],
  ['heading', '## Set up ', 'Set up'],
  ['bullet', '- [x] bread', 'bread'],
  ['number', '2. Boil water.', 'Boil water.'],
  ['quotation', '> so it goes', 'so it goes'],
  ['tags', '<b>Hi</b><br>there <break time="1s"/>', 'Hi there'],
  ['entities', 'salt &amp; pepper', 'salt & pepper'],
  ['footnotes and citations', 'It is so[^1] and so [2].', 'It is so and so.'],
  ['reasoning and tool calls', '<think>Hm. He asks.</think>It is <tool_call>{"a": 1}</tool_call>noon.', 'It is noon.'],
  ['a tag that is only mentioned', 'The <think> tag', 'The tag'],
  ['arrows', 'Settings → Privacy -> Delete', 'Settings, Privacy, Delete'],
  ['boxes', '┌───┐\n│ a │\n└───┘', 'a'],
  ['inline code', 'Run `npm_test *.ts` now', 'Run npm_test *.ts now'],
  ['fence, skipped', 'So:\n```js\nlet a\n```\nDone', 'So:\nDone'],
  ['fence, announced', 'So:\n```js\nlet a\n```', 'So:\ncode on screen', { code: 'announce' }],
  ['unclosed fence', 'So:\n```js\nlet a', 'So:'],
  ['table', '| a | b |\n|---|---|\n| 1 | 2 |\nDone', 'Done'],
  ['table without its frame', 'a | b\n--- | ---\n1 | 2\n\nDone', 'Done'],
  ['table, announced', '| a |\n|---|\n| 1 |', 'code on screen', { code: 'announce' }],
  ['emoji', '🎉 Great 👨‍👩‍👧 job 👍🏽!', 'Great job!'],
  ['all at once', '✅ **Done** — see [guide](https://x.y) `cfg.ts`', 'Done — see guide cfg.ts'],
  ['title', 'Dr. Smith', 'Doctor Smith'],
  ['titles', 'Mr. and Mrs. Lee', 'Mister and Missus Lee'],
  ['a word of that name', 'the dr. said', 'the dr. said'],
  ['money', '$42.50', 'forty-two dollars and fifty cents'],
  ['one dollar, some cents', '$1 and $0.05', 'one dollar and five cents'],
  ['much money', '€1,250.00 or $3.5 million', 'one thousand two hundred fifty euros or three point five million dollars'],
  ['plain numbers', '1 in 5 people', '1 in 5 people'],
  ['units', '5km', 'five kilometers'],
  ['one unit', '1 kg at 2.5%', 'one kilogram at two point five percent'],
  ['date', '2023-05-10', 'May 10th, 2023'],
  ['dates', '2024-02-01, 2024-12-23', 'February 1st, 2024, December 23rd, 2024'],
  ['no date', '2023-13-40', '2023-13-40'],
  ['telephone', '123-456-7890', '1 2 3, 4 5 6, 7 8 9 0'],
  ['versions', 'version 1.2.3 and 3.14', 'version 1.2.3 and 3.14'],
  ['shorthand', 'fruit, e.g. plums', 'fruit, for example plums'],
  ['French keeps its spaces', 'Vraiment ?', 'Vraiment ?', { locale: 'fr' }],
  ['other languages keep their figures', '**Es** kostet $42.50, 5km', 'Es kostet $42.50, 5km', { locale: 'de' }],
  ['Persian keeps its joiners', 'می‌خواهم', 'می‌خواهم', { locale: 'fa' }],
  ['only punctuation', ' ... — !! ', ''],
  ['only markup', '***', ''],
  ['only emoji', '🎉', ''],
  ['a rule', '---', ''],
  ['nothing', '', ''],
];

describe('the table of cases', () => {
  test.each(table)('%s: %j', (_, text, spoken, options) => expect(speakable(text, options)).toBe(spoken));
});

describe('laws', () => {
  const parts = [
    '*',
    '**',
    '_',
    '`',
    '```\n',
    '[',
    '](',
    ')',
    '<',
    '>',
    '<b>',
    '|',
    '|-',
    '\n',
    '# ',
    '- ',
    '1. ',
    'https://x.y',
    '$1',
    '.50',
    '5km',
    '🎉',
    '→',
    'a',
    ' ',
    '&amp;',
    '[^1]',
    '2023-01-01',
    '\ue000',
    '\ue0021\ue001',
  ];
  const soup = fc.oneof(
    fc.array(fc.constantFrom(...parts), { maxLength: 60 }).map(list => list.join('')),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );
  const options = fc.record({
    urls: fc.constantFrom('skip' as const, 'spell' as const),
    code: fc.constantFrom('skip' as const, 'announce' as const),
    locale: fc.constantFrom('en', 'en-GB', 'de'),
  });

  test('takes any string, gives words or nothing', () => {
    fc.assert(
      fc.property(soup, options, (text, given) => {
        const spoken = speakable(text, given);
        expect(spoken).toBe(spoken.trim());
        expect(spoken === '' || /[\p{L}\p{N}]/u.test(spoken)).toBe(true);
        expect(spoken).not.toMatch(/[\ue000-\ue003]|\p{Emoji_Presentation}/u);
      }),
      { numRuns: 3000 },
    );
  });

  test('plain sentences come through untouched', () => {
    const word = fc.constantFrom('the', 'boat', 'snake_case', 'Zürich', '7', '2026', '你好', "don't");
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), list => {
        const text = `${list.join(' ')}.`;
        expect(speakable(text)).toBe(text);
      }),
    );
  });

  test('clause by clause or whole: the same words', () => {
    const text =
      '# Plan\nGo to **[the shop](https://x.y)** 🎉. It costs $3.50, or 5km on foot! Then:\n```js\nx. Y\n```\n- _one_\n- two\n| a | b |\n|---|---|\nEnd.';
    const clauses = split(text, {}, 1).map(clause => speakable(clause.text));
    expect(clauses.filter(clause => clause !== '').join(' ')).toBe(speakable(text).replace(/\s+/g, ' '));
  });

  test.each([
    '*',
    '_',
    '[',
    '[a](',
    '(',
    '<',
    '<a ',
    '`',
    '` ',
    '|',
    ' ',
    '\n ',
    '1',
    '1,',
    '1-',
    '$1',
    'a.',
    'a@',
    'www.',
    '🎉',
    '→',
    '#',
    '>',
    '&',
    '【',
    '- ',
  ])('work grows with the text, no faster: %j', unit => {
    const time = (length: number) => {
      const text = unit.repeat(length / unit.length);
      const begin = process.hrtime.bigint();
      speakable(text);
      speakable(text, { urls: 'spell', code: 'announce' });
      return Number(process.hrtime.bigint() - begin);
    };
    const least = (length: number) => Math.min(...[1, 2, 3, 4].map(() => time(length)));
    time(5_000);
    expect(least(200_000) / least(20_000)).toBeLessThan(25);
  });

  test('a text that is no string is told', () => {
    for (const text of [undefined, null, 5]) expect(() => speakable(text as never)).toThrow(TypeError);
  });
});
