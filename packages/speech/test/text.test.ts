import { wordErrorRate, wordErrors } from '@antiphon/speech';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPieces, isSpoken, plainAscii } from '../dist/text/plain-ascii.js';
import { repetitionStart } from '../dist/text/repetition.js';

describe('wordErrorRate', () => {
  it.each([
    ['the cat sat', 'the cat sat', 0],
    ['The cat, sat.', 'the CAT sat!', 0],
    ['the cat sat', 'the bat sat', 1 / 3],
    ['the cat sat', 'the sat', 1 / 3],
    ['the cat sat', 'the big cat sat', 1 / 3],
    ['the cat sat', '', 1],
    ['', '', 0],
    ['', 'anything', 1],
    ['a', 'b c d', 3],
    ['twenty-five dollars', '25 dollars', 0],
    ['one thousand two hundred and thirty four', '1,234', 0],
    ['three point five percent', '3.5%', 0],
    ['one two three', '1 2 3', 0],
    ['two million and five', '2000005', 0],
    ['ham and eggs', 'ham & eggs', 0],
    ['café naïve', 'cafe naive', 0],
    ['don’t stop', "don't stop", 0],
  ])('%j heard as %j: %d', (reference, hypothesis, rate) => {
    expect(wordErrorRate(reference, hypothesis)).toBeCloseTo(rate, 10);
  });

  it('says which errors they are', () => {
    expect(wordErrors('a b c d', 'a x c d e')).toEqual({ substitutions: 1, deletions: 0, insertions: 1, words: 4 });
  });

  it('is 0 for a text and itself, and never negative', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(wordErrorRate(a, a)).toBe(0);
        expect(wordErrorRate(a, b)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('plainAscii', () => {
  it.each([
    ['Plain text.', 'Plain text.'],
    ['“Quoted” — it’s…', `"Quoted", it's...`],
    ['naïve café Łódź straße', 'naive cafe Lodz strasse'],
    ['a\0b\tc\nd', 'a b c d'],
    ['😀 hi 👩‍👩‍👧', 'hi'],
    ['日本語', ''],
    ['20 °C', '20 degrees C'],
    ['½ cup', '1/2 cup'],
    ['ﬁne', 'fine'],
    ['-v --help', '-v --help'],
    ['\ud800 lone', 'lone'],
  ])('%j → %j', (text, plain) => {
    expect(plainAscii(text)).toBe(plain);
  });

  it('is printable ASCII for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), text => /^[\x20-\x7e]*$/.test(plainAscii(text))));
  });

  it('knows what a voice would say nothing for', () => {
    expect(['', '.', '...', '?!', '- -', '"', '( )'].some(isSpoken)).toBe(false);
    expect(['a', '7', '-v'].every(isSpoken)).toBe(true);
  });
});

describe('cutPieces', () => {
  it('cuts at sentences, then commas, then spaces, then anywhere', () => {
    expect(cutPieces('One two. Three four five', 12)).toEqual(['One two.', 'Three four', 'five']);
    expect(cutPieces('one two, three four', 12)).toEqual(['one two,', 'three four']);
    expect(cutPieces('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)]);
  });

  it('loses nothing but spaces and keeps to the limit', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 500 }), fc.integer({ min: 3, max: 50 }), (text, limit) => {
        const pieces = cutPieces(text, limit);
        expect(pieces.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
        expect(pieces.every(piece => piece.length <= limit)).toBe(true);
      }),
    );
  });
});

describe('repetitionStart', () => {
  it('lets speech be, also when it repeats', () => {
    expect(repetitionStart([1, 2, 3, 4, 5])).toBeUndefined();
    expect(repetitionStart([7, 8, 7, 8, 7, 8, 7, 8])).toBeUndefined();
  });

  it('finds a decoder that goes round in circles and keeps the first round', () => {
    expect(repetitionStart(Array(16).fill(7))).toBe(1);
    const round = [1, 2, 3, 4, 5];
    expect(repetitionStart([9, 9, ...round, ...round, ...round, ...round])).toBe(7);
  });
});
