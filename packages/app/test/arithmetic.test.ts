import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluate, findExpression } from '../src/demo/arithmetic.js';

describe('evaluate', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2 * -(3)', -6],
    ['-2 ^ 2', -4],
    ['2 ^ -3', 0.125],
    ['2 ^ 3 ^ 2', 512],
    ['10 - 4 - 3', 3],
    ['100 / 10 / 5', 2],
    ['0.1 + 0.2', 0.3],
    ['10 ^ 30', 1e30],
    ['1e5 + 1', 100001],
    ['--4', 4],
    ['.5 * 4', 2],
  ])('%s = %d', (expression, value) => {
    expect(evaluate(expression)).toBe(value);
  });

  test.each(['', '1 +', '(1', '1)', '1 / 0', '2 ** 3', 'two', '1 2', '()'])('refuses %o with a reason', expression => {
    expect(() => evaluate(expression)).toThrow(/has no place|ends too early|no finite result/);
  });

  test('law: agrees with JavaScript on + - * and brackets', () => {
    const tree = fc.letrec<{ node: string }>(tie => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.nat(99).map(String),
        fc.tuple(tie('node'), fc.constantFrom('+', '-', '*'), tie('node')).map(([a, op, b]) => `(${a} ${op} ${b})`),
      ),
    })).node;
    fc.assert(
      fc.property(tree, expression => {
        const expected = Function(`return ${expression}`)() as number;
        expect(evaluate(expression)).toBe(Number(expected.toPrecision(12)) + 0);
      }),
    );
  });
});

describe('findExpression', () => {
  test.each([
    ['What is 2 plus 2?', '2 + 2'],
    ['what is 12 times 12', '12 * 12'],
    ['How much is twenty five divided by five?', '25 / 5'],
    ['15% of 80', '15 / 100 * 80'],
    ['What is (3 + 4) * 5?', '(3 + 4) * 5'],
    ['1,250 minus 250', '1250 - 250'],
    ['What time is it?', undefined],
    ['I was born in 1980.', undefined],
    ['Tell me about Node 20.', undefined],
  ])('%s → %s', (question, expression) => {
    expect(findExpression(question)).toBe(expression);
  });
});
