import { ConfigurationError, executeTool, type JsonObject, type Schema, type Tool, type ToolError, tool, toolSpec } from '@antiphon/engine';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contextOf, plainTool } from './support.js';

describe('making a tool', () => {
  const base = { name: 'probe', description: 'd' };
  test.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['no name', { description: 'd' }],
    ['an empty name', { ...base, name: '' }],
    ['a name with a space', { ...base, name: 'a b' }],
    ['a name with a dot', { ...base, name: 'a.b' }],
    ['a name of 65 letters', { ...base, name: 'a'.repeat(65) }],
    ['a name that toolChoice uses', { ...base, name: 'auto' }],
    ['no description', { name: 'probe' }],
    ['an unknown key', { ...base, execute: () => 1 }],
    ['a handler that is no function', { ...base, run: 'x' }],
    ['a handler that is null', { ...base, run: null }],
    ['a handler of three parameters', { ...base, run: (_a: unknown, _b: unknown, _c: unknown) => 1 }],
    ['a time of zero', { ...base, timeoutMs: 0 }],
    ['a time that is text', { ...base, timeoutMs: '5' }],
    ['half a call at a time', { ...base, maxConcurrency: 0.5 }],
    ['manual that is no boolean', { ...base, manual: 'yes' }],
    ['approve that is text', { ...base, approve: 'yes' }],
    ['a schema that is text', { ...base, input: 'object' }],
    ['a schema that is a list', { ...base, input: [] }],
    ['a schema that is no JSON', { ...base, input: { type: 'object', check: () => true } }],
    ['a schema of a text', { ...base, input: { type: 'string' } }],
    ['a zod schema of a text', { ...base, input: z.string() }],
    ['schemas of single properties', { ...base, input: { city: z.string() } }],
  ])('refuses %s', (_, definition) => {
    expect(() => tool(definition as never)).toThrow(TypeError);
  });

  test.each<readonly [string, Schema]>([
    ['a zod schema without JSON Schema', z.object({ at: z.date() })],
    ['a bare valibot schema', v.object({ city: v.string() })],
  ])('refuses %s with what to do', (_, input) => {
    expect(() => tool({ ...base, input })).toThrow(ConfigurationError);
  });

  test.each(['a', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'A-b_9', 'a'.repeat(64)])('takes the name %s', name => {
    expect(tool({ ...base, name }).name).toBe(name);
  });

  test.each([
    ['none', () => 1],
    ['one', (_a: unknown) => 1],
    ['two', (_a: unknown, _b: unknown) => 1],
    ['a rest', (..._all: unknown[]) => 1],
  ])('takes a handler that declares %s', (_, handler) => {
    expect(tool({ ...base, run: handler }).run).toBe(handler);
  });

  test('a made tool can be made again with some keys replaced', () => {
    const made = tool({ ...base, input: z.object({ a: z.number() }) });
    expect(tool({ ...made, name: 'other' } as never)).toMatchObject({ name: 'other', inputSchema: made.inputSchema });
  });

  test('executing a tool that tool() would refuse rejects with TypeError', async () => {
    const broken = { ...plainTool('probe'), run: (_a: unknown, _b: unknown, _c: unknown) => 1 } as unknown as Tool;
    await expect(executeTool(broken, {}, contextOf())).rejects.toThrow(TypeError);
    await expect(executeTool({ ...broken, run: 5 } as unknown as Tool, {}, contextOf())).rejects.toThrow(TypeError);
  });
});

describe('checking arguments', () => {
  const json: JsonObject = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
    required: ['city'],
    additionalProperties: false,
  };
  const schemas: readonly (readonly [string, Schema])[] = [
    ['zod', z.strictObject({ city: z.string(), days: z.int().min(1).optional() })],
    [
      'valibot',
      toStandardJsonSchema(v.strictObject({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))) })),
    ],
    ['arktype', type({ '+': 'reject', city: 'string', 'days?': 'number.integer >= 1' })],
    ['JSON Schema', json],
    ['frozen JSON Schema', Object.freeze({ ...json, properties: Object.freeze({ ...(json.properties as JsonObject) }) })],
  ];

  describe.each(schemas)('%s', (_, input) => {
    const probe = (ran: unknown[]) => tool({ name: 'probe', description: 'd', input, run: args => ran.push(args) });

    test('tells the model its JSON Schema', () => {
      const { inputSchema } = toolSpec(probe([]));
      expect(inputSchema).toMatchObject({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
      expect(inputSchema).not.toHaveProperty('$schema');
    });

    test('lets good arguments through', async () => {
      const ran: unknown[] = [];
      expect((await executeTool(probe(ran), { city: 'Oslo', days: 2 }, contextOf())).type).toBe('ok');
      expect(ran).toEqual([{ city: 'Oslo', days: 2 }]);
    });

    test.each<readonly [string, unknown, RegExp]>([
      ['a wrong type', { city: 5 }, /city: /],
      ['a missing key', {}, /city/],
      ['a number out of range', { city: 'Oslo', days: 0 }, /days: /],
      ['an unknown key', { city: 'Oslo', zip: 1 }, /zip|known|nrecognized/],
      ['a list', [], /\$: |city/],
      ['null', null, /object|null/i],
    ])('refuses %s with its place, and the handler does not run', async (_case, args, message) => {
      const ran: unknown[] = [];
      expect(await executeTool(probe(ran), args, contextOf())).toMatchObject({
        reason: 'invalid_arguments',
        message: expect.stringMatching(message),
      });
      expect(ran).toEqual([]);
    });

    test('lists every fault', async () => {
      const result = await executeTool(probe([]), { city: 5, days: 0 }, contextOf());
      expect(result).toMatchObject({ message: expect.stringMatching(/city.*days|days.*city/) });
    });

    test.each(['__proto__', 'constructor', 'toString'])('an argument named %s is only an argument', async key => {
      const args = JSON.parse(`{"city":"Oslo","${key}":{"polluted":true}}`) as unknown;
      const result = await executeTool(probe([]), args, contextOf());
      expect(['ok', 'error']).toContain(result.type);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      const missing = await executeTool(probe([]), JSON.parse(`{"${key}":"Oslo"}`), contextOf());
      expect(missing).toMatchObject({ reason: 'invalid_arguments' });
    });
  });

  test('a schema may transform, and the handler gets what it made', async () => {
    const seen: unknown[] = [];
    const input = z.object({ city: z.string().trim().default('Oslo'), days: z.coerce.number() });
    await executeTool(tool({ name: 'probe', description: 'd', input, run: args => seen.push(args) }), { days: '3' }, contextOf());
    expect(seen).toEqual([{ city: 'Oslo', days: 3 }]);
  });

  test('a schema may take its time', async () => {
    const input = z.object({ city: z.string().refine(async city => city !== 'Atlantis', 'There is no such city.') });
    const visit = tool({ name: 'visit', description: 'd', input, run: ({ city }) => city });
    expect(await executeTool(visit, { city: 'Oslo' }, contextOf())).toMatchObject({ type: 'ok', value: 'Oslo' });
    expect(await executeTool(visit, { city: 'Atlantis' }, contextOf())).toMatchObject({ message: expect.stringContaining('no such city') });
  });

  test('a schema that throws is a fault of the arguments with its cause, not a crash of the run', async () => {
    const cause = new Error('lookup failed');
    const input = z.object({
      city: z.string().refine(() => {
        throw cause;
      }),
    });
    const result = await executeTool(tool({ name: 'probe', description: 'd', input, run: () => 1 }), { city: 'Oslo' }, contextOf());
    expect(result).toMatchObject({ reason: 'invalid_arguments', cause });
  });

  test.each([[{ extra: 1 }], [[]], [null], ['text']])('a tool without a schema takes no arguments: %j is refused', async args => {
    expect(
      await executeTool(
        plainTool('probe', () => 1),
        args,
        contextOf(),
      ),
    ).toMatchObject({ reason: 'invalid_arguments' });
  });

  test('a hundred faults are told by the first ten', async () => {
    const input: JsonObject = { type: 'object', additionalProperties: { type: 'number' } };
    const args = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, 'x']));
    const result = await executeTool(tool({ name: 'probe', description: 'd', input, run: () => 1 }), args, contextOf());
    expect((result as ToolError).message.match(/k\d+: /g)).toHaveLength(10);
  });
});
