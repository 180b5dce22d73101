// Arguments of calls that come leaf by leaf, each with its JSONPath.
import { gemini } from '@antiphon/providers';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { callsOf, type Run, run } from './support/run.js';

const END = { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }] };
const CUT = { candidates: [{ finishReason: 'MAX_TOKENS' }] };

const call = (functionCall: object) => ({ candidates: [{ content: { role: 'model', parts: [{ functionCall }] } }] });
const leaf = (jsonPath: string, stringValue: string, willContinue?: boolean) => ({ jsonPath, stringValue, willContinue });

function read(...chunks: unknown[]): Promise<Run> {
  const body = chunks.map(value => `data: ${JSON.stringify(value)}\n\n`).join('');
  return run(gemini({ model: 'm', baseURL: 'http://model.test', fetch: async () => new Response(body) }));
}

describe('streamed arguments', () => {
  const begin = call({ name: 'f', willContinue: true });
  const more = (...partialArgs: object[]) => call({ partialArgs, willContinue: true });
  const rawOf = async (...chunks: unknown[]) => {
    const result = await read(begin, ...chunks, END);
    expect(result.warnings).toEqual([]);
    const [only] = result.calls;
    expect(only?.invalid).toBeUndefined();
    const deltas = result.events.map(event => (event.type === 'tool_call_delta' ? event.delta : '')).join('');
    expect(deltas).toBe(only?.rawArguments);
    return only!;
  };

  it.each<[string, object[], unknown]>([
    ['strings in pieces', [more(leaf('$.a', 'x', true)), more(leaf('$.a', 'y', true)), more(leaf('$.a', '')), call({})], { a: 'xy' }],
    ['a last piece that ends the call', [more(leaf('$.a', 'x', true)), call({ partialArgs: [leaf('$.a', 'y')] })], { a: 'xy' }],
    ['no end at all', [more(leaf('$.a', 'x', true))], { a: 'x' }],
    ['no arguments', [call({})], {}],
    [
      'numbers, truths and nothing',
      [
        more(
          { jsonPath: '$.n', numberValue: 1.5 },
          { jsonPath: '$.t', boolValue: false },
          { jsonPath: '$.z', nullValue: 'NULL_VALUE' },
          { jsonPath: '$.zero', numberValue: 0 },
        ),
      ],
      { n: 1.5, t: false, z: null, zero: 0 },
    ],
    [
      'lists and objects',
      [more(leaf('$.a.b[0].c', '1'), leaf('$.a.b[0].d', '2'), leaf('$.a.b[1].c', '3'), leaf('$.a.e', '4'), leaf('$.f[0]', '5'))],
      { a: { b: [{ c: '1', d: '2' }, { c: '3' }], e: '4' }, f: ['5'] },
    ],
    ['lists in lists', [more(leaf('$.a[0][0]', '1'), leaf('$.a[0][1]', '2'), leaf('$.a[1][0]', '3'))], { a: [['1', '2'], ['3']] }],
    ['quoted names', [more(leaf("$['a b']['c.d']", '1'), leaf('$["e\\"f"]', '2'))], { 'a b': { 'c.d': '1' }, 'e"f': '2' }],
    ['a hostile name', [more(leaf('$.__proto__.x', '1'))], JSON.parse('{"__proto__":{"x":"1"}}')],
    ['places out of order', [more(leaf('$.a.b', '1'), leaf('$.c', '2'), leaf('$.a.d', '3'))], { a: { b: '1', d: '3' }, c: '2' }],
    ['a list out of order', [more(leaf('$.a[1].b', '2'), leaf('$.a[0].b', '1'))], { a: [{ b: '1' }, { b: '2' }] }],
    ['a list with a hole', [more(leaf('$.a[0]', '1'), leaf('$.a[2]', '3'))], { a: ['1', null, '3'] }],
    ['a place that is written anew', [more(leaf('$.a', '1'), leaf('$.b', '2'), leaf('$.a', '3'))], { a: '3', b: '2' }],
    [
      'a text that goes on out of order',
      [more(leaf('$.a', '1'), leaf('$.b', '2')), more(leaf('$.a', '3', true)), more(leaf('$.a', '4'))],
      { a: '34', b: '2' },
    ],
    ['a value that becomes an object', [more(leaf('$.a', '1'), leaf('$.a.b', '2'))], { a: { b: '2' } }],
    ['whole arguments at the end', [more(leaf('$.a', '1', true)), call({ args: { a: '12', b: 3 } })], { a: '12', b: 3 }],
    [
      'a whole object as a leaf',
      [more({ jsonPath: '$.a', structValue: { b: [1] } }, { jsonPath: '$.c', listValue: [2] })],
      { a: { b: [1] }, c: [2] },
    ],
    [
      'characters that JSON escapes, cut in the middle',
      [more(leaf('$.a', '"\\\n\ud83d', true)), more(leaf('$.a', '\ude00é'))],
      { a: '"\\\n😀é' },
    ],
    ['an empty piece between', [more(leaf('$.a', 'x', true)), call({ willContinue: true }), more(leaf('$.a', 'y'))], { a: 'xy' }],
  ])('%s', async (_, chunks, expected) => {
    const found = await rawOf(...chunks);
    expect(found.arguments).toEqual(expected);
    // toEqual does not look at own members of this name.
    expect(JSON.stringify(found.arguments)).toBe(JSON.stringify(JSON.parse(found.rawArguments || '{}')));
  });

  it('come as deltas while they arrive', async () => {
    const result = await read(begin, more(leaf('$.a', 'x', true)), more(leaf('$.a', 'y')), more(leaf('$.b[0]', 'z')), call({}), END);
    const deltas = result.events.flatMap(event => (event.type === 'tool_call_delta' ? [event.delta] : []));
    expect(deltas).toEqual(['{"a":"x', 'y"', ',"b":["z"', ']}']);
  });

  it('of two calls stay apart, with and without an end between', async () => {
    for (const between of [[call({})], []]) {
      const result = await read(begin, more(leaf('$.a', '1', true)), ...between, begin, more(leaf('$.a', '2')), call({}), call({}), END);
      expect(callsOf(result)).toEqual([
        ['f', { a: '1' }],
        ['f', { a: '2' }],
      ]);
    }
  });

  it('of calls with ids may come side by side, and each piece may say whose it is', async () => {
    const of = (id: string, more: object) => call({ id, ...more });
    const goesOn = { willContinue: true };
    const result = await read(
      of('1', { name: 'f', ...goesOn }),
      of('2', { name: 'g', ...goesOn }),
      of('1', { partialArgs: [leaf('$.a', 'x', true)], ...goesOn }),
      of('2', { name: 'g', partialArgs: [leaf('$.b', 'y')], ...goesOn }),
      // It spoke last.
      call({ partialArgs: [leaf('$.c', 'z')] }),
      of('1', { partialArgs: [leaf('$.a', '!')], ...goesOn }),
      END,
    );
    expect(result.calls.map(({ id, name, arguments: args }) => [id, name, args])).toEqual([
      ['2', 'g', { b: 'y', c: 'z' }],
      ['1', 'f', { a: 'x!' }],
    ]);
    expect([result.finish, result.warnings]).toEqual(['tool_calls', []]);
  });

  it('that were cut off make a truncated call', async () => {
    const result = await read(begin, more(leaf('$.a', 'x', true)), CUT);
    expect([result.finish, result.calls[0]?.invalid?.reason]).toEqual(['length', 'truncated']);
  });

  it('without a place or value are left out and told', async () => {
    const bad = [
      leaf('a', '1'),
      leaf('$[0]', '1'),
      leaf('$.a[99999]', '1'),
      leaf('$..a', '1'),
      { jsonPath: '$.b' },
      null,
      { stringValue: 'x' },
    ];
    const result = await read(begin, call({ partialArgs: [...bad, leaf('$.ok', '1')] }), END);
    expect(callsOf(result)).toEqual([['f', { ok: '1' }]]);
    expect(result.warnings.map(({ code }) => code)).toEqual(bad.map(() => 'malformed_event'));
  });

  test('law: any value, told leaf by leaf in any order and in pieces of any size, arrives as it was', async () => {
    const value = fc.dictionary(
      fc.string({ minLength: 1 }),
      fc.letrec(tie => ({
        any: fc.oneof(
          { maxDepth: 3 },
          fc.string(),
          fc.boolean(),
          fc.constant(null),
          fc.integer(),
          fc.array(tie('any'), { minLength: 1, maxLength: 3 }),
          fc.dictionary(fc.string({ minLength: 1 }), tie('any'), { minKeys: 1, maxKeys: 3 }),
        ),
      })).any,
      { minKeys: 1, maxKeys: 4 },
    );
    await fc.assert(
      fc.asyncProperty(
        value,
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        fc.boolean(),
        async (meant, random, shuffled) => {
          const at = (n: number) => Math.floor(random.next().value! * n) % Math.max(n, 1);
          const leaves = leavesOf(meant, '$');
          if (shuffled) for (let i = leaves.length - 1; i > 0; i--) [leaves[i], leaves[at(i + 1)]] = [leaves[at(i + 1)]!, leaves[i]!];
          const list = shuffled ? [...new Map(leaves.map(one => [one[0], one])).values()] : leaves;
          const pieces = list.flatMap(([jsonPath, item]): object[] => {
            if (item === null) return [{ jsonPath, nullValue: 'NULL_VALUE' }];
            if (typeof item === 'number') return [{ jsonPath, numberValue: item }];
            if (typeof item === 'boolean') return [{ jsonPath, boolValue: item }];
            const cut = at(item.length + 1);
            return [leaf(jsonPath, item.slice(0, cut), true), leaf(jsonPath, item.slice(cut))];
          });
          const result = await read(begin, ...pieces.map(piece => more(piece)), call({}), END);
          if (!shuffled) expect(result.calls[0]?.arguments).toEqual(meant);
          else for (const [path, item] of list) expect([path, leafIn(result.calls[0]!.arguments, path)]).toEqual([path, item]);
          expect(result.calls[0]?.invalid).toBeUndefined();
        },
      ),
      { numRuns: 150 },
    );
  });
});

type Leaf = [path: string, value: string | number | boolean | null];

function leavesOf(value: unknown, path: string): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leavesOf(item, `${path}[${i}]`));
  if (typeof value !== 'object' || value === null) return [[path, value as Leaf[1]]];
  return Object.entries(value).flatMap(([key, item]) => leavesOf(item, `${path}['${key.replace(/[\\']/g, '\\$&')}']`));
}

function leafIn(value: unknown, path: string): unknown {
  return leavesOf(value, '$').find(([own]) => own === path)?.[1];
}
