import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Json, PartialJson } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { growth } from './growth.js';

function parsed(...pieces: readonly string[]): PartialJson {
  const parser = new PartialJson();
  for (const piece of pieces) parser.push(piece);
  return parser;
}

/** Cuts a text at places given as parts of its length. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map(place => Math.floor(place * text.length)), text.length].sort((a, b) => a - b);
  return at.slice(1).map((end, i) => text.slice(at[i], end));
}

/** What can be seen after each character. */
function states(text: string): string[] {
  const parser = new PartialJson();
  return Array.from(text.split(''), sign => {
    parser.push(sign);
    return seen(parser);
  });
}

const seen = ({ value, state, fault }: PartialJson) => JSON.stringify({ value, state, fault });
const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
const spacing = fc.constantFrom(undefined, 1, '\t', '\r\n ');

describe('what is certain shows, what is not does not', () => {
  test.each<readonly [text: string, value: Json | undefined]>([
    ['', undefined],
    ['  ', undefined],
    ['{', {}],
    ['{"a', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":"', { a: '' }],
    ['{"a":"x', { a: 'x' }],
    ['{"a":"x\\', { a: 'x' }],
    ['{"a":"x\\u00', { a: 'x' }],
    ['{"a":"x\\u0041', { a: 'xA' }],
    ['{"a":"\\ud83d', { a: '' }],
    ['{"a":"\\ud83d\\ude00', { a: '😀' }],
    ['{"a":"\ud83d', { a: '' }],
    ['{"a":"\ud83dx', { a: '\ud83dx' }],
    ['{"a":"\ud83d"', { a: '\ud83d' }],
    ['{"a":12', {}],
    ['{"a":12,', { a: 12 }],
    ['{"a":12}', { a: 12 }],
    ['[1,-2.5e3,0', [1, -2500]],
    ['[tru', []],
    ['[true', [true]],
    ['[null,fals', [null]],
    ['[[{"b":[', [[{ b: [] }]]],
    ['"open', 'open'],
    ['12', undefined],
    ['12 ', 12],
    ['true', true],
    ['{"a":1,"a":2}', { a: 2 }],
    ['{"":{"":"x', { '': { '': 'x' } }],
  ])('%j', (text, value) => {
    const parser = parsed(text);
    expect(parser.value).toEqual(value);
    expect(parser.state).not.toBe('invalid');
  });

  test('`push` tells whether the value changed', () => {
    const parser = new PartialJson();
    expect(['{', ' "ke', 'y"', ':', '1', '2', ',', ' "s":"', 'x', '', '"', ' ', '}'].map(piece => parser.push(piece))).toEqual([
      ...[true, false, false, false, false, false, true],
      ...[true, true, false, false, false, false],
    ]);
    expect(parser.state).toBe('complete');
  });

  test('`end` completes a number at the root, and nothing else', () => {
    const number = parsed('-1.5');
    expect([number.end(), number.value, number.state]).toEqual([true, -1.5, 'complete']);
    const open = parsed('{"a":1');
    expect([open.end(), open.value, open.state]).toEqual([false, {}, 'invalid']);
    expect(open.fault).toEqual({ reason: 'the text ends before the value does', position: 6 });
    const nothing = parsed(' ');
    nothing.end();
    expect(nothing.state).toBe('invalid');
  });
});

describe('what JSON.parse refuses is invalid, at a place', () => {
  test.each([
    ['{a:1}', 1, 'expected a key in double quotes, not "a"'],
    ['{"a" 1}', 5, 'expected a colon after the key, not "1"'],
    ['[1 2]', 3, 'expected a comma or the end of the list, not "2"'],
    ['{"a":1 "b"', 7, 'expected a comma or the end of the object, not "\\""'],
    ['[1,]', 3, 'expected a value, not "]"'],
    ['{"a":1,}', 7, 'expected a key in double quotes, not "}"'],
    ['{"a":1]', 6, 'expected a comma or the end of the object, not "]"'],
    ['[01]', 3, '01 is no number'],
    ['[1.]', 3, '1. is no number'],
    ['[-]', 2, '- is no number'],
    ['[trux]', 4, 'expected true, not "x"'],
    ['[nan', 2, 'expected null, not "a"'],
    ['["a\nb"]', 3, 'a string must write "\\n" as an escape'],
    ['["\\x"]', 3, '\\x is no escape'],
    ['["\\u00g0"]', 6, 'four hexadecimal digits must follow \\u'],
    ['{} x', 3, 'expected nothing after the value, not "x"'],
    ["'a'", 0, 'expected a value, not "\'"'],
    ['\ufeff{}', 0, 'expected a value, not "\ufeff"'],
  ])('%j', (text, position, reason) => {
    expect(parsed(text).fault).toEqual({ position, reason });
    expect(states(text)).toContain(seen(parsed(text)));
    expect(() => JSON.parse(text)).toThrow();
  });

  test('nothing behind such a place is read', () => {
    const parser = parsed('{"a":"x"]', '"b":2}');
    expect([parser.state, parser.value, parser.push('{}')]).toEqual(['invalid', { a: 'x' }, false]);
  });

  test('1000 levels are read, one more is refused, and a million end no stack', () => {
    expect(parsed('['.repeat(1000) + ']'.repeat(1000)).state).toBe('complete');
    expect(parsed('['.repeat(1001)).fault).toEqual({ reason: 'nested deeper than 1000 levels', position: 1000 });
    expect(parsed('{"a":'.repeat(1_000_000)).state).toBe('invalid');
  });

  test('__proto__ is a member like any other', () => {
    const text = '{"__proto__":{"polluted":"yes"},"a":{"__proto__":[1';
    const parser = parsed(`${text}]}}`);
    expect(JSON.stringify(parser.value)).toBe(`${text}]}}`);
    expect(JSON.stringify(parsed(text).snapshot())).toBe('{"__proto__":{"polluted":"yes"},"a":{"__proto__":[]}}');
    expect(Object.getPrototypeOf(parser.value)).toBe(Object.prototype);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });
});

describe('laws', () => {
  test('the whole value is that of JSON.parse, however the text is cut', () => {
    fc.assert(
      fc.property(fc.json(), spacing, places, (json, space, at) => {
        const text = JSON.stringify(JSON.parse(json), null, space);
        const parser = parsed(...cut(text, at));
        parser.end();
        expect(parser.state).toBe('complete');
        expect(JSON.stringify(parser.value)).toBe(JSON.stringify(JSON.parse(text)));
        expect(parser.value).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test('the same text shows the same at the same places, however it is cut', () => {
    const nearly = fc.array(fc.constantFrom(...'{}[],:"\\u0a1e-. tn\n', 'true', '"a"', '\ud83d', '\ude00'), { maxLength: 40 });
    const texts = fc.oneof(
      fc.json(),
      nearly.map(signs => signs.join('')),
      fc.json().map(text => text.replaceAll(/[a-z]/g, sign => `\\u00${sign.charCodeAt(0).toString(16)}`)),
    );
    fc.assert(
      fc.property(texts, places, (text, at) => {
        const each = states(text);
        const parser = new PartialJson();
        let offset = 0;
        for (const piece of cut(text, at)) {
          parser.push(piece);
          offset += piece.length;
          if (offset > 0) expect(seen(parser)).toBe(each[offset - 1]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('it agrees with JSON.parse about what is JSON', () => {
    const nearly = fc.array(fc.constantFrom(...'{}[],:"\\01e-. tn', 'true', 'null', '"a"', '"a":'), { maxLength: 12 });
    fc.assert(
      fc.property(
        nearly.map(signs => signs.join('')),
        text => {
          const parser = parsed(text);
          parser.end();
          let value: unknown;
          try {
            value = JSON.parse(text);
          } catch {
            expect(parser.state).toBe('invalid');
            return;
          }
          expect([parser.state, parser.value]).toEqual(['complete', value]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('each value is a beginning of the next one, and a snapshot stays what it was', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), json => {
        const text = JSON.stringify(JSON.parse(json));
        const parser = new PartialJson();
        const taken: { snapshot: Json | undefined; wrote: string | undefined }[] = [];
        for (const sign of text.split('')) {
          parser.push(sign);
          expect(parser.snapshot()).toEqual(parser.value);
          taken.push({ snapshot: parser.snapshot(), wrote: JSON.stringify(parser.value) });
        }
        for (const [i, { snapshot, wrote }] of taken.entries()) {
          expect(JSON.stringify(snapshot)).toBe(wrote);
          const next = taken[i + 1]?.snapshot;
          if (snapshot !== undefined && next !== undefined) expect(isBeginning(snapshot, next)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

function isBeginning(a: Json, b: Json): boolean {
  if (typeof a === 'string') return typeof b === 'string' && b.startsWith(a);
  if (typeof a !== 'object' || a === null) return a === b;
  const [before, after] = [Object.entries(a as object), Object.entries(b as object)];
  return before.every(([key, value], i) => after[i]?.[0] === key && isBeginning(value as Json, after[i][1] as Json));
}

describe('size', () => {
  const texts: { readonly [shape: string]: (deltas: number) => string } = {
    'one long string': n => `{"text":"${'word '.repeat(n)}"}`,
    'a list of numbers': n => `[${Array.from({ length: n }, (_, i) => 1000 + (i % 1000)).join(',')}]`,
    'a list of objects': n => `{"items":[${Array.from({ length: n / 8 }, (_, i) => `{"id":${i},"name":"some name ${i}"}`).join(',')}]}`,
    'escapes only': n => `["${'\\u0041'.repeat(n)}"]`,
  };

  test.each(Object.entries(texts))('the time for %s grows with its length, with every value read', (_, make) => {
    const inputs = new Map([2000, 20_000].map(deltas => [deltas, make(deltas)]));
    const work = (deltas: number) => {
      const text = inputs.get(deltas) as string;
      const step = text.length / deltas;
      const parser = new PartialJson();
      let read: Json | undefined;
      for (let at = 0; at < text.length; at += step) {
        parser.push(text.slice(at, at + step));
        read = parser.value;
      }
      expect(parser.state).toBe('complete');
      expect(read).toBe(parser.value);
    };
    expect(growth(work, 2000, 20_000, 12)).toBeLessThanOrEqual(12);
  });

  test.each([
    ['20,000 deltas', 'word ', 20_000, 150],
    ['50 MB in one string', 'x'.repeat(5), 10_000_000, 300],
  ])('%s take bounded memory', (_, piece, count, megabytes) => {
    const engine = fileURLToPath(import.meta.resolve('@antiphon/engine'));
    const code = `
      import { PartialJson } from ${JSON.stringify(engine)};
      const peak = () => process.resourceUsage().maxRSS / 1024;
      const before = peak();
      const parser = new PartialJson();
      let read;
      parser.push('{"items":[{"text":"');
      for (let i = 0; i < ${count}; i++) { parser.push(${JSON.stringify(piece)}); read = parser.value; }
      parser.push('"}]}');
      console.log(JSON.stringify({ grew: peak() - before, length: read.items[0].text.length, state: parser.state }));
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const told = JSON.parse(stdout) as { grew: number; length: number; state: string };
    expect(told).toMatchObject({ length: piece.length * count, state: 'complete' });
    expect(told.grew).toBeLessThan(megabytes);
  });
});
