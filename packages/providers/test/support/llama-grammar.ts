// What a grammar holds, as cases for one file of tests: the native library is installed once, by the file that calls this.
import type { ChatRequest, JsonObject } from '@antiphon/engine';
import { expect, test } from 'vitest';
import type { Run } from './run.js';

/** Whatever a model of random weights writes has the shape that was asked for. */
export function grammarCases(ask: (more: Partial<ChatRequest>) => Promise<Run>): void {
  test.each([1, 2, 3])('structured output is JSON of its shape by construction (seed %i)', async seed => {
    const properties = {
      name: { type: 'string', maxLength: 8 },
      kind: { enum: ['a', 'b'] },
      many: { type: 'array', items: { type: 'boolean' }, maxItems: 3 },
    };
    const schema = { type: 'object', properties, required: ['name', 'kind', 'many'], additionalProperties: false };
    const { text, finish, error, warnings } = await ask({ seed, maxTokens: 600, output: { name: 'thing', schema } });
    expect([error, finish, warnings]).toEqual([undefined, 'stop', []]);
    const value = JSON.parse(text) as { name: string; kind: string; many: boolean[] };
    expect(Object.keys(value)).toEqual(['name', 'kind', 'many']);
    expect(['a', 'b']).toContain(value.kind);
    expect(value.many.length).toBeLessThanOrEqual(3);
  });

  test('what no grammar holds is told', async () => {
    const schema = {
      anyOf: [{ type: 'integer', minimum: 3 }, { $ref: '#/definitions/word' }],
      definitions: { word: { type: 'string', maxLength: 3, pattern: '^a' } },
    };
    const { warnings, text } = await ask({ maxTokens: 100, output: { name: 'x', schema } });
    expect(warnings[0]?.message).toContain('minimum, pattern');
    expect(['number', 'string']).toContain(typeof JSON.parse(text));
  });

  const bool = { type: 'boolean' };
  test.each<[string, JsonObject, RegExp]>([
    [
      'to the whole',
      { type: 'object', properties: { on: bool, more: { type: 'array', items: { $ref: '#' }, maxItems: 1 } } },
      /^\{"on":\w+,"more":\[(\{"on":.*\})?\]\}$/,
    ],
    [
      'to a neighbour',
      { type: 'object', properties: { on: bool, off: { $ref: '#/properties/on' } } },
      /^\{"on":(true|false),"off":(true|false)\}$/,
    ],
    [
      'with an escaped name',
      { type: 'object', properties: { on: { $ref: '#/$defs/a~1b%20c' } }, $defs: { 'a/b c': bool } },
      /^\{"on":(true|false)\}$/,
    ],
    [
      'beside another of its name',
      {
        type: 'object',
        properties: { on: { $ref: '#/$defs/x' }, n: { $ref: '#/definitions/x' } },
        $defs: { x: bool },
        definitions: { x: { enum: [1] } },
      },
      /^\{"on":(true|false),"n":1\}$/,
    ],
    ['in a closed tuple', { type: 'array', prefixItems: [bool, { enum: [1] }], items: false, minItems: 2 }, /^\[(true|false),1\]$/],
    [
      'in a closed tuple of old',
      { type: 'array', items: [bool, { enum: [1] }], additionalItems: false, minItems: 2 },
      /^\[(true|false),1\]$/,
    ],
  ])('what stands elsewhere, or closes a list, is held: %s', async (_, schema, form) => {
    const { warnings, text } = await ask({ maxTokens: 300, output: { name: 'x', schema } });
    expect(warnings).toEqual([]);
    expect(JSON.stringify(JSON.parse(text))).toMatch(form);
  });

  test('a reference to nothing is told', async () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/none' }, b: { $ref: 'https://x.test/schema' } } };
    const { warnings } = await ask({ maxTokens: 8, output: { name: 'x', schema } });
    expect(warnings[0]?.message).toContain('$ref');
  });
}
