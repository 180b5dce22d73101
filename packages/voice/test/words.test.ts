import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { looksFinished } from '../src/turns/policy.js';
import { beyondBackchannel, repeats, sameWords, wordsOf } from '../src/turns/words.js';

describe('wordsOf', () => {
  test.each([
    ['Okay, Stop!', ['okay', 'stop']],
    ['  mm-hmm… ', ['mm', 'hmm']],
    ["DON'T", ["don't"]],
    ['don’t', ["don't"]],
    ['ＯＫ', ['ok']],
    ['Straße, ÜBER', ['straße', 'über']],
    ['停一下。', ['停', '一下']],
    ['はい、そうですね。', ['はい', 'そうですね']],
    ['نَعَمْ، طيب؟', ['نعم', 'طيب']],
    ['3.14 and 20', ['3.14', 'and', '20']],
    ['🎉 … — !', []],
    ['', []],
  ])('%j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });
});

describe('sameWords', () => {
  test.each([
    ['Stop.', 'stop', true],
    ['Well, I don’t know', "well i don't know?", true],
    ['Café', 'Cafe\u0301', true],
    ['はい、そうです', 'はいそうです', true],
    ['停，一下', '停一下！', true],
    ['stop', 'stop it', false],
    ['a b', 'b a', false],
    ['', '', false],
    ['…', '!', false],
  ])('%j and %j: %s', (a, b, same) => {
    expect(sameWords(a, b)).toBe(same);
    expect(sameWords(b, a)).toBe(same);
  });
});

describe('beyondBackchannel', () => {
  test.each([
    ...['mm-hmm', 'Mm-hmm.', 'Uh-huh!', 'yeah', 'Yeah, yeah, right.', 'I see.', 'okay okay', 'Oh, I see, got it', 'Oh really?'],
    ...['Ja, genau.', 'ach so', 'Stimmt, ja', 'hm'],
    ...['d’accord', "D'accord, oui", 'pois é', 'sí, claro'],
    ...['はい', 'はいはい', 'うんうん', 'そうそう', 'はい、そうですね。', 'なるほど、なるほど'],
    ...['嗯', '嗯嗯', '对对对', '好的好的', '是的是的。', '對'],
    ...['نعم', 'نَعَم، طيب', 'آه'],
    ...['네', '네네', '응, 그래', 'да, да', 'ठीक है', 'हाँ हाँ'],
    ...['', '  ', '…', '🎉'],
  ])('%j is no more than one', text => {
    expect(beyondBackchannel(text)).toEqual([]);
  });

  test.each([
    ['yeah, stop', ['yeah', 'stop']],
    ['stop', ['stop']],
    ['no', ['no']],
    ['Oh no', ['oh', 'no']],
    ['I', ['i']],
    ['I see what you mean', ['i', 'see', 'what', 'you', 'mean']],
    ['okay, go on', ['okay', 'go', 'on']],
    ['Ja, aber', ['ja', 'aber']],
    ['ach', ['ach']],
    ['そうじゃない', expect.arrayContaining(['そう'])],
    ['はい、待って', expect.arrayContaining(['はい'])],
    ['不对', expect.anything()],
    ['停', ['停']],
    ['نعم لكن', ['نعم', 'لكن']],
    ['그래서', ['그래서']],
  ])('%j is more', (text, words) => {
    const beyond = beyondBackchannel(text);
    expect(beyond).toEqual(words);
    expect(beyond.length).toBeGreaterThan(0);
  });

  test('knows the policy’s own, of any length and however they are written', () => {
    expect(beyondBackchannel('Aye!')).toEqual(['aye']);
    expect(beyondBackchannel('Aye!', ['AYE'])).toEqual([]);
    expect(beyondBackchannel('you go on and on then', ['you go on and on', 'then'])).toEqual([]);
    expect(beyondBackchannel('you go on and', ['you go on and on'])).not.toEqual([]);
    expect(beyondBackchannel('ไม่เป็นไร', ['ไม่เป็นไร'])).toEqual([]);
    expect(beyondBackchannel('stop', [''])).toEqual(['stop']);
  });

  test('law: whatever is put together of backchannels is one, and a word more makes it more', () => {
    const own = ['aye', 'go', 'go on', 'on my word', 'ほう', '行', 'c’est ça oui vraiment'];
    const sayings = fc.array(fc.constantFrom(...own, 'yeah', 'I see', 'uh-huh', 'はい', '好的'), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(sayings, fc.constantFrom(' ', ', ', '. '), (list, between) => {
        const text = list.join(between);
        expect(beyondBackchannel(text, own)).toEqual([]);
        expect(beyondBackchannel(`${text}${between}elephant`, own)).toContain('elephant');
        expect(beyondBackchannel(`elephant${between}${text}`, own)).toContain('elephant');
      }),
    );
  });
});

describe('repeats', () => {
  const story = 'Once upon a time, there was a fox; it wasn’t happy. Really extraordinary!';
  test.each([
    ['there was a fox', story, true],
    ['A TIME THERE was', story, true],
    ["it wasn't happy", story, true],
    ['extraordinary', story, true],
    ['fox', story, false],
    ['time', story, false],
    ['a fox there was', story, false],
    ['upon a time', 'pon a timer', false],
    ['stop that fox', story, false],
    ['いい天気', '今日はいい天気ですね。', true],
    ['天気がいい', '今日はいい天気ですね。', false],
    ['Guten Morgen', 'Ich wünsche einen guten Morgen.', true],
    ['يا صديقي', 'أهلا يا صديقي، كيف الحال؟', true],
    ['', story, false],
    ['…', story, false],
    ['there was', '', false],
  ])('%j in %j: %s', (heard, spoken, is) => {
    expect(repeats(heard, spoken)).toBe(is);
  });
});

describe('any string', () => {
  const strings = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.array(fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code))).map(codes => codes.join('')),
  );

  test('law: nothing throws', () => {
    fc.assert(
      fc.property(strings, strings, (a, b) => {
        wordsOf(a);
        sameWords(a, b);
        repeats(a, b);
        looksFinished(a);
        beyondBackchannel(a, [b]);
      }),
      { numRuns: 500 },
    );
  });

  test('law: a text with words says the same as itself, also with other case and marks around it', () => {
    fc.assert(
      fc.property(strings, text => {
        const has = wordsOf(text).length > 0;
        expect(sameWords(text, text)).toBe(has);
        expect(beyondBackchannel(text, [text])).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('a megabyte takes no more than its length', () => {
    const long = 'and the '.repeat(125_000);
    expect(looksFinished(long)).toBe(false);
    expect(looksFinished(`${long}…`)).toBe(false);
    expect(wordsOf(long)).toHaveLength(250_000);
    expect(wordsOf("don't, ".repeat(100_000))).toHaveLength(100_000);
  });
});

describe('looksFinished', () => {
  test.each([
    ['Tell me a story.', true],
    ['Stop!', true],
    ['What time is it?', true],
    ['I want to', false],
    ['I want to.', false],
    ['My name is,', false],
    ['Well…', false],
    ['so...', false],
    ['the land', true],
    ['', false],
    [' . ', false],
  ])('%j: %s', (text, finished) => {
    expect(looksFinished(text)).toBe(finished);
  });
});
