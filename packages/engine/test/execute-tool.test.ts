import { askUser, executeTool, fail, halt, jsonFault, ok, ToolError, type ToolOutcome, tool } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextOf, plainTool } from './support.js';

const run = (returned: unknown): Promise<ToolOutcome> =>
  executeTool(
    plainTool('probe', () => returned),
    {},
    contextOf(),
  );

function cyclic(): unknown {
  const self: Record<string, unknown> = {};
  self.inner = [self];
  return self;
}

describe('what a handler returns', () => {
  test.each([
    ['ok', ok({ celsius: 12 })],
    ['ok of an empty text', ok('')],
    ['ok of null', ok(null)],
    ['fail with text', fail('No such city.')],
    ['fail with data', fail({ code: 404 })],
    ['fail with an Error', fail(new Error('No such city.'))],
    ['askUser', askUser('Which day?')],
    ['askUser with options', askUser('Which day?', { choices: ['today', 'tomorrow'] })],
    ['halt', halt('handed_over')],
    ['halt with a value', halt('handed_over', { to: 'billing' })],
  ])('%s passes untouched', async (_, result) => {
    expect(await run(result)).toBe(result);
  });

  test.each([
    ['text', 'sunny'],
    ['empty text', ''],
    ['number', 0],
    ['false', false],
    ['null', null],
    ['list', [1, [2, { a: null }]]],
    ['object', { a: { b: [] } }],
    ['object with an undefined member', { a: undefined }],
    ['date, which has a JSON form', { at: new Date(0) }],
    ['the same object twice, which is no cycle', (shared => [shared, shared])({ a: 1 })],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 })],
    ['data that looks like a tagged result', { type: 'halt', reason: 'completed' }],
    ['data that looks like an error', { type: 'error', message: 'x' }],
  ])('a plain %s means ok', async (_, value) => {
    const result = await run(value);
    expect(result.type).toBe('ok');
    expect(result.type === 'ok' && result.value).toBe(value);
  });

  test.each<readonly [string, unknown, RegExp]>([
    ['undefined', undefined, /undefined/],
    ['a function', () => 1, /function/],
    ['a symbol', Symbol('s'), /symbol/],
    ['a bigint', 1n, /bigint/],
    ['NaN', Number.NaN, /NaN/],
    ['Infinity', Number.POSITIVE_INFINITY, /Infinity/],
    ['a bigint deep inside', { rows: [{ id: 1n }] }, /\$\.rows\[0\]\.id/],
    ['undefined in a list', [undefined], /\$\[0\]/],
    ['a cycle', cyclic(), /\$\.inner\[0\]/],
    ['a Map', new Map([['a', 1]]), /Map/],
    ['a Set', { tags: new Set(['a']) }, /\$\.tags/],
    ['an Error', new Error('lost'), /Error/],
    ['bytes', new Uint8Array(2), /Uint8Array/],
    ['ok of undefined', ok(undefined), /undefined/],
    ['ok of a cycle', ok(cyclic()), /back to itself/],
    ['fail of a function', fail(() => 1), /function/],
    ['fail of nothing', fail(undefined), /undefined/],
    ['halt with a bigint', halt('done', 1n as never), /bigint/],
    ['halt without a reason', halt(''), /reason/],
    ['askUser without text', askUser(42 as never), /question/],
    ['askUser with options that are no JSON', askUser('Q', { f: (() => 1) as never }), /function/],
    [
      'a value whose getter throws',
      Object.defineProperty({}, 'a', {
        enumerable: true,
        get() {
          throw new Error('no');
        },
      }),
      /cannot be read/,
    ],
  ])('%s is an invalid return', async (_, value, message) => {
    const result = await run(value);
    expect(result).toBeInstanceOf(ToolError);
    expect(result).toMatchObject({ type: 'error', reason: 'invalid_return', message: expect.stringMatching(message) });
  });

  test.each([
    ...['ask_user', 'approval', 'manual_tools', 'max_turns', 'stop_when', 'budget', 'aborted'],
    ...['tool_error', 'halt_when', 'manual_tool_calls', 'cancelled', 'completed', 'error', 'failed', 'interrupted'],
  ])('the halt reason %s is the loop’s own', async reason => {
    expect(await run(halt(reason))).toMatchObject({ reason: 'invalid_return', message: expect.stringContaining(reason) });
  });

  test.each<readonly [string, unknown, string]>([
    ['an Error', new Error('socket closed'), 'socket closed'],
    ['a text', 'plain text', 'plain text'],
    ['an object', { code: 7 }, '{"code":7}'],
    ['undefined', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a bigint', 3n, '3'],
    [
      'a cycle without prototype',
      Object.assign(Object.create(null), {
        get self() {
          return this;
        },
      }),
      'cannot be shown',
    ],
  ])('throwing or rejecting with %s is a crash with its cause', async (_, thrown, text) => {
    const handlers = [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ];
    for (const handler of handlers) {
      const result = await executeTool(plainTool('probe', handler), {}, contextOf());
      expect(result).toMatchObject({ type: 'error', reason: 'handler_raised', message: expect.stringContaining(text) });
      expect((result as ToolError).cause).toBe(thrown);
    }
  });

  test('a failure that the tool reports is no crash', async () => {
    expect((await run(fail('No such city.'))).type).toBe('fail');
    expect((await run(Promise.reject(new Error('No such city.')))).type).toBe('error');
  });

  test('a tool without a handler is not found', async () => {
    expect(await executeTool(plainTool('probe'), {}, contextOf())).toMatchObject({ type: 'error', reason: 'not_found' });
  });

  test('law: a JSON value comes back as ok with that very value, and nothing that jsonFault refuses does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true }),
        async value => {
          const result = await run(value);
          expect(result.type).toBe(jsonFault(value) === undefined ? 'ok' : 'error');
          if (result.type === 'ok') expect(() => JSON.stringify(result.value)).not.toThrow();
        },
      ),
    );
  });
});

describe('what a handler is given', () => {
  test('arguments and the context, as they are', async () => {
    const context = contextOf({ context: { user: 'ada' }, sessionId: 's' });
    const seen: unknown[] = [];
    await executeTool(
      tool({ name: 'probe', description: '', input: { type: 'object' }, run: (...given) => seen.push(...given) }),
      { a: 1 },
      context,
    );
    expect(seen[0]).toEqual({ a: 1 });
    expect(seen[1]).toBe(context);
  });
});
