import { jsonFault, toJson } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonCopy } from './support.js';

const nested = (depth: number): unknown => {
  let value: unknown = 'core';
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
};

describe('jsonFault', () => {
  test.each<readonly [string, unknown, string | undefined]>([
    ['null', null, undefined],
    ['an object without prototype', Object.create(null), undefined],
    [
      'a class instance with fields',
      new (class Point {
        x = 1;
      })(),
      undefined,
    ],
    ['a date', new Date(0), undefined],
    ['an invalid date, which is written as null', new Date(Number.NaN), undefined],
    ['the same object twice', (one => ({ a: one, b: [one, one] }))({}), undefined],
    ['an undefined member', { a: undefined }, undefined],
    ['1000 levels', nested(1000), undefined],
    ['undefined', undefined, '$ is undefined'],
    ['a hole in a list', new Array(2).fill(1, 0, 1), '$[1] is undefined'],
    ['minus infinity', { a: { b: Number.NEGATIVE_INFINITY } }, '$.a.b is -Infinity'],
    ['a function', [() => 1], '$[0] is a function'],
    ['a symbol', { a: Symbol.iterator }, '$.a is a symbol'],
    ['a promise', Promise.resolve(1), '$ is a Promise, which JSON cannot hold'],
    ['an error of another class', { e: new TypeError('x') }, '$.e is a Error, which JSON cannot hold'],
    ['a toJSON that gives none', { toJSON: () => undefined }, '$ is undefined'],
  ])('%s', (_, value, fault) => {
    expect(jsonFault(value)).toBe(fault);
    if (fault === undefined) expect(() => JSON.stringify(value)).not.toThrow();
  });

  test('cycles are found where they close', () => {
    const root: Record<string, unknown> = { list: [{}] };
    (root.list as unknown[])[0] = { up: root };
    expect(jsonFault(root)).toBe('$.list[0].up refers back to itself');
    const self: unknown[] = [];
    self.push(self);
    expect(jsonFault(self)).toBe('$[0] refers back to itself');
  });

  test('100,000 levels are refused in a short sentence, not by a crash', () => {
    const fault = jsonFault(nested(100_000));
    expect(fault).toMatch(/nested deeper than 1000 levels/);
    expect(fault?.length).toBeLessThan(200);
  });

  test('law: what has no fault round-trips as JSON does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(jsonFault(value)).toBeUndefined();
        expect(toJson(value, 'It')).toEqual(jsonCopy(value));
      }),
    );
  });

  test('toJson says whose value it is', () => {
    expect(() => toJson({ a: 1n }, 'The answer')).toThrow('The answer must be a JSON value, but $.a is a bigint.');
  });
});
