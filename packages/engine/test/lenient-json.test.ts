import { BlockWriter, type Json, type LenientResult, parseLenient, parseToolCall } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { growth } from './growth.js';

const repairsOf = (result: LenientResult) => ('repairs' in result ? result.repairs : undefined);

describe('what models write instead of JSON', () => {
  test.each<readonly [what: string, text: string, value: Json, repairs: readonly string[]]>([
    ['plain JSON', ' {"a": [1, "x"]} ', { a: [1, 'x'] }, []],
    ['a code fence', '```json\n{"a":1}\n```', { a: 1 }, ['a code fence around the JSON was left out']],
    [
      'a code fence in prose, with braces around it',
      'Use {x} and [1]:\n```\n["b"]\n``` as {y}.',
      ['b'],
      ['text around the JSON was left out', 'a code fence around the JSON was left out'],
    ],
    ['a fence inside a string', '```json\n{"a":"```"}\n```', { a: '```' }, ['a code fence around the JSON was left out']],
    ['prose before', 'Here you are: {"a":1}', { a: 1 }, ['text around the JSON was left out']],
    ['prose behind', '{"a":1}\nI hope that helps [1].', { a: 1 }, ['text around the JSON was left out']],
    ['prose with a brace before', 'In {x: the answer is {"a":1}', { a: 1 }, ['text around the JSON was left out']],
    ['trailing commas', '{"a":[1,2,],}', { a: [1, 2] }, ['trailing commas were left out (2 times, first at 9)']],
    ['single quotes', "{'a':'it\\'s'}", { a: "it's" }, ['single quotes were taken as double quotes (2 times, first at 1)', ESCAPES_AT(8)]],
    ['keys without quotes', '{a:1, $b_2:2}', { a: 1, $b_2: 2 }, ['keys without quotes were taken as text (2 times, first at 1)']],
    ['Python words', '[True,False,None]', [true, false, null], ['Python words became true, false or null (3 times, first at 1)']],
    ['a word alone', 'None', null, ['Python words became true, false or null (at 0)']],
    ['no number', '[NaN,-Infinity]', [null, null], ['NaN, Infinity and undefined became null (2 times, first at 1)']],
    ['comments', '{"a":1, // one\n/* two */ "b":"// no"} # end', { a: 1, b: '// no' }, ['comments were left out (3 times, first at 8)']],
    ['raw line breaks', '{"a":"x\n\ty"}', { a: 'x\n\ty' }, ['control characters in strings were kept (2 times, first at 7)']],
    ['unknown escapes', '["\\d\\("]', ['\\d\\('], ['escapes that JSON does not know were kept as text (2 times, first at 3)']],
    ['__proto__', '{__proto__:1}', JSON.parse('{"__proto__":1}'), ['keys without quotes were taken as text (at 1)']],
  ])('%s', (_, text, value, repairs) => {
    const result = parseLenient(text);
    expect(result).toEqual({ value, repairs });
    expect(JSON.stringify('value' in result && result.value)).toBe(JSON.stringify(value));
  });

  test.each([
    ['nothing', '', 'at 0: there is no value'],
    ['prose only', 'I cannot do that.', 'at 0: expected a value, not "I"'],
    ['a string and prose', '"a" is it', 'there is text behind the value'],
    ['two objects', '{"a":1}{"a":2}', 'the text holds 2 JSON values, and which one is meant is not certain'],
    ['a missing comma', '{"a":1 "b":2}', 'at 7: expected a comma or }, not "\\""'],
    ['a word that is no value', '{"a":yes}', 'at 5: expected a value, not "yes"'],
    ['a bad number', '[012]', 'at 1: expected a value, not "012"'],
    ['too deep', '['.repeat(2000), 'at 1000: the value is nested deeper than 1000 levels'],
    ['too deep, but JSON', '['.repeat(1001) + ']'.repeat(1001), expect.stringContaining('deeper than 1000')],
  ])('no value: %s', (_, text, error) => {
    expect(parseLenient(text)).toEqual({ error });
  });
});

function ESCAPES_AT(at: number): string {
  return `escapes that JSON does not know were kept as text (at ${at + 1})`;
}

describe('text that was cut off', () => {
  test.each<readonly [text: string, closed: Json]>([
    ['{', {}],
    ['{"a', {}],
    ['{"a":', {}],
    ['{"a":1,', { a: 1 }],
    ['{"a":"x', { a: 'x' }],
    ['{"a":"x\\', { a: 'x' }],
    ['{"a":"x\\u00', { a: 'x' }],
    ['{"a":[1,{"b":tru', { a: [1, {}] }],
    ['{"a":[1,-', { a: [1] }],
    ['{"a":12', { a: 12 }],
    ['Sure: [{"a":1},{"a"', [{ a: 1 }, {}]],
    ['```json\n["x', ['x']],
  ])('%j is closed only when told', (text, closed) => {
    expect(parseLenient(text)).toMatchObject({ error: expect.any(String) });
    const result = parseLenient(text, { close: true });
    expect(result).toMatchObject({ value: closed });
    expect(repairsOf(result)?.join()).toContain('what was open at the end was closed');
  });

  test('a call that was cut off is never mended, one that was not is, and says so', () => {
    const raw = "{city: 'Oslo',}";
    expect(parseToolCall({ id: 'c', name: 't', raw })).toMatchObject({ arguments: { city: 'Oslo' }, rawArguments: raw });
    expect(parseToolCall({ id: 'c', name: 't', raw }).invalid).toBeUndefined();
    for (const reason of ['length', 'content_filter'] as const)
      expect(parseToolCall({ id: 'c', name: 't', raw }, reason).invalid?.reason).toBe('truncated');
    for (const cut of ['{"city":"Os', '{"city":"Oslo"', "{city: 'Oslo',"])
      expect(parseToolCall({ id: 'c', name: 't', raw: cut }).invalid?.reason).toBe('invalid_json');
    const blocks = new BlockWriter();
    blocks.toolCall(0, { id: 'c', name: 't', args: raw });
    blocks.end({ finishReason: 'tool_calls', usage: {} });
    const [warning, call] = blocks.take().slice(-3);
    expect(warning).toMatchObject({
      type: 'warning',
      warning: { code: 'repaired_arguments', message: expect.stringContaining('trailing commas') },
    });
    expect(call).toMatchObject({ type: 'tool_call', call: { arguments: { city: 'Oslo' } } });
  });
});

describe('laws', () => {
  test('JSON needs no mending, in whatever it is wrapped', () => {
    fc.assert(
      fc.property(fc.json(), json => {
        const value = JSON.parse(json) as Json;
        expect(parseLenient(json)).toEqual({ value, repairs: [] });
        expect(parseLenient(`\`\`\`json\n${JSON.stringify([value], null, 2)}\n\`\`\``)).toEqual({
          value: [value],
          repairs: ['a code fence around the JSON was left out'],
        });
        expect(parseLenient(`Well. ${JSON.stringify({ value })} So!`)).toEqual({
          value: { value },
          repairs: ['text around the JSON was left out'],
        });
      }),
    );
  });

  test('no beginning of an object passes for a whole one', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.double({ min: 0, max: 0.999, noNaN: true }), (object, part) => {
        const text = JSON.stringify(object);
        const beginning = text.slice(0, Math.floor(part * text.length));
        expect(parseLenient(beginning)).toMatchObject({ error: expect.any(String) });
        if (beginning.startsWith('{')) expect(parseLenient(beginning, { close: true })).toMatchObject({ value: expect.any(Object) });
      }),
    );
  });

  test('any text gives a value or an error, and nothing is ever thrown', () => {
    const signs = fc.constantFrom(
      ...'{}[],:"\'\\/*#`.-+ \n\t_aeuN01',
      'True',
      '```',
      '//',
      '/*',
      '*/',
      '\\u',
      '\ud83d',
      '"a":',
      '__proto__:',
    );
    const texts = fc.oneof(
      fc.array(signs, { maxLength: 60 }).map(list => list.join('')),
      fc.string({ unit: 'binary', maxLength: 60 }),
    );
    fc.assert(
      fc.property(texts, fc.boolean(), (text, close) => {
        const result = parseLenient(text, { close });
        if ('error' in result) expect(typeof result.error).toBe('string');
        else {
          const text = JSON.stringify(result.value);
          expect(JSON.stringify(JSON.parse(text))).toBe(text);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ...[
      '{',
      '[',
      '{"a":',
      "{'",
      '{/',
      '/*',
      '//',
      '`',
      '```{',
      '``` {"a":1} ',
      '["\\',
      '{a',
      '[1]',
      '{"a":1}{',
      '\\u',
      '#',
      '{\n#',
      "'",
      ',',
      '{a:',
    ],
  ])('%j, again and again, takes time in proportion', unit => {
    const texts = new Map([2000, 20_000].map(count => [count, unit.repeat(count)]));
    const work = (count: number) => {
      const text = texts.get(count) as string;
      parseLenient(text);
      parseLenient(text, { close: true });
      parseLenient(`[${text}`);
    };
    expect(growth(work, 2000, 20_000, 16)).toBeLessThanOrEqual(16);
  });
});
