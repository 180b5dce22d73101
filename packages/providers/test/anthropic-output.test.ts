// Prompt cache and structured output on the wire.
import { assistant, system, user } from '@antiphon/engine';
import { anthropic } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { nativeSchema } from '../src/anthropic/schema.js';
import { type Body, build, TOOL } from './support/anthropic-build.js';
import { refusal } from './support/anthropic-rules.js';
import type { WireBlock } from './support/anthropic-wire.js';

const EPHEMERAL = { type: 'ephemeral' };

describe('prompt cache', () => {
  const messages = [system('Be brief.'), user('a'), assistant('b'), user('c'), assistant('d'), user('e')];
  const marked = (body: Body) =>
    [body.tools, body.system, ...body.messages.map(({ content }) => content)].map(list => (list as WireBlock[]).at(-1)?.cache_control);

  test.each([
    [undefined, undefined],
    ['short' as const, EPHEMERAL],
    ['long' as const, { ...EPHEMERAL, ttl: '1h' }],
  ])('retention %s', (retention, mark) => {
    const { body, warnings } = build({
      messages,
      tools: [TOOL, TOOL],
      promptCache: { key: 'k', ...(retention === undefined ? {} : { retention }) },
    });
    const want = mark ?? EPHEMERAL;
    expect(marked(body)).toEqual([want, want, undefined, undefined, want, undefined, want]);
    expect([(body.tools as WireBlock[])[0]?.cache_control, warnings, refusal(body)]).toEqual([undefined, [], undefined]);
  });

  test('off unless asked; marks of the caller count; tools that are loaded later carry none', () => {
    expect(JSON.stringify(build({ messages, tools: [TOOL] }).body)).not.toContain('cache_control');
    const search = { type: 'tool_search_tool_regex_20251119', name: 'search', defer_loading: true };
    const own = [{ type: 'x', name: 'x', cache_control: EPHEMERAL }, { type: 'y', name: 'y', cache_control: EPHEMERAL }, search];
    const { body } = build({ messages, promptCache: {}, providerOptions: { anthropic: { tools: own as never } } });
    expect(marked(body)).toEqual([undefined, EPHEMERAL, undefined, undefined, undefined, undefined, EPHEMERAL]);
    expect(refusal(body)).toBeUndefined();
  });

  test('each request begins with what the one before it has said', () => {
    const plain = (count: number) =>
      JSON.stringify(build({ messages: messages.slice(0, count), promptCache: {} }).body.messages).replaceAll(
        /,"cache_control":\{[^}]*\}/g,
        '',
      );
    expect(plain(6).startsWith(plain(4).slice(0, -1))).toBe(true);
  });
});

describe('structured output', () => {
  const output = (schema: object) => ({ output: { name: 'answer', schema: schema as never } });

  test('a model that holds schemas is sent one, any other is asked in words', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const { body, warnings } = build({ ...output(schema), reasoning: 'low' }, 'claude-opus-5-5');
    expect(body.output_config).toEqual({
      effort: 'low',
      format: { type: 'json_schema', schema: { ...schema, additionalProperties: false } },
    });
    expect(warnings).toEqual([]);
    for (const [model, asked] of [
      ['claude-3-5-haiku-latest', schema],
      ['claude-opus-5-5', { type: 'object', additionalProperties: true }],
    ] as const) {
      const other = build(output(asked), model);
      expect([other.body.output_config, other.warnings.map(({ setting }) => setting)]).toEqual([undefined, ['output']]);
      expect(JSON.stringify(other.body.system)).toContain('JSON Schema');
    }
    expect([anthropic({ model: 'claude-opus-5' }).structuredOutput, anthropic({ model: 'claude-opus-4-1' }).structuredOutput]).toEqual([
      true,
      false,
    ]);
  });

  test.each<[object, object | undefined]>([
    [
      { type: 'string', minLength: 1, description: 'Name' },
      { type: 'string', description: 'Name\n{"minLength":1}' },
    ],
    [
      { type: 'string', format: 'email' },
      { type: 'string', format: 'email' },
    ],
    [
      { type: 'string', format: 'color' },
      { type: 'string', description: '{"format":"color"}' },
    ],
    [
      { type: 'array', minItems: 1, items: { type: 'object', properties: {} } },
      { type: 'array', minItems: 1, items: { type: 'object', properties: {}, additionalProperties: false } },
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [{ $schema: 'x', enum: ['a'] }, { enum: ['a'] }],
    [
      { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { oneOf: { type: 'string' } } } } },
      { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { oneOf: { type: 'string' } }, additionalProperties: false } } },
    ],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { next: { $ref: '#/$defs/a' } } } } }, undefined],
    [{ type: 'array', items: { $ref: '#' } }, undefined],
    [{ type: 'object', additionalProperties: { type: 'number' } }, undefined],
    [{ anyOf: [{ not: {} }] }, undefined],
    // What all parts say is said at once: each by itself would shut the others' members out, and a reference among them is refused.
    [
      {
        allOf: [
          { type: 'object', properties: { a: {} } },
          { type: 'object', properties: { b: {} }, required: ['b'] },
        ],
      },
      { type: 'object', properties: { a: {}, b: {} }, required: ['b'], additionalProperties: false },
    ],
    [
      { description: 'D', allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { type: 'string' } } },
      { description: 'D', $ref: '#/$defs/a', $defs: { a: { type: 'string' } } },
    ],
    [{ properties: { a: {} }, allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { type: 'object', properties: {} } } }, undefined],
    [{ allOf: [{ type: 'string' }, { type: 'number' }] }, undefined],
    // An object with any members, a tuple, a constant with members, members of its own beside those of a choice.
    [{ properties: { any: { type: 'object' } } }, undefined],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, undefined],
    [{ type: 'array', items: [{ type: 'string' }] }, undefined],
    [{ enum: [{ a: 1 }] }, undefined],
    [{ const: [1] }, undefined],
    [{ type: 'object', properties: { a: {} }, anyOf: [{ properties: { b: {} } }] }, undefined],
    [
      { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }] },
      { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }], additionalProperties: false },
    ],
  ])('%j becomes %j', (schema, native) => {
    expect(nativeSchema(schema as never)).toEqual(native);
  });
});
