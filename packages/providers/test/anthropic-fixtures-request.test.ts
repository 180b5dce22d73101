// Requests that the API was seen to refuse, by its own error messages.
import { assistant, type JsonObject, toolResult, user } from '@antiphon/engine';
import { anthropic } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { build, call, opaque, own, TOOL } from './support/anthropic-build.js';
import { contextOf, run } from './support/run.js';

const use = (id: string, name = 'code_execution') => opaque({ type: 'server_tool_use', id, name, input: {} });
const by = (tool_id: string) => own({ caller: { type: 'code_execution_20260120', tool_id } });
const textPart = (text: string) => ({ type: 'text' as const, text });
const repaired = (warnings: readonly { code: string }[]) => warnings.filter(({ code }) => code === 'repaired_history').length;

describe('calls from code on the server', () => {
  test('stay bound to it while it waits, over many rounds', () => {
    const messages = [
      user('Hi'),
      assistant([use('s1'), call('t1', by('s1'))]),
      toolResult('t1', 'a'),
      assistant([call('t2', by('s1'))]),
      toolResult('t2', 'b'),
    ];
    const { body, warnings } = build({ messages, tools: [TOOL] });
    expect(body.messages[1]?.content[0]).toMatchObject({ type: 'server_tool_use', id: 's1' });
    expect(body.messages[3]?.content[0]).toMatchObject({ id: 't2', caller: { tool_id: 's1' } });
    expect(warnings).toEqual([]);
  });

  test('become calls of the model once the code is given up', () => {
    const messages = [
      user('Hi'),
      assistant([use('s1'), call('t1', by('s1'))]),
      toolResult('t1', 'a'),
      assistant([call('t2', by('s1'))]),
      toolResult('t2', 'b'),
      user('Never mind.'),
    ];
    const { body, warnings } = build({ messages, tools: [TOOL] });
    expect(body.messages[1]?.content).toEqual([{ type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } }]);
    expect(body.messages[3]?.content[0]).not.toHaveProperty('caller');
    expect(repaired(warnings)).toBe(2);
  });

  test('that of an older message which was trimmed, and one that the model made itself', () => {
    const direct = own({ caller: { type: 'direct' } });
    const messages = [user('Hi'), assistant([call('t1', by('gone')), call('t2', direct)]), toolResult('t1', 'a'), toolResult('t2', 'b')];
    const { body, warnings } = build({ messages: [...messages, user('More.')], tools: [TOOL] });
    expect(body.messages[1]?.content.map(({ caller }) => caller)).toEqual([undefined, { type: 'direct' }]);
    expect(repaired(warnings)).toBe(1);
  });
});

describe('tools that a search found', () => {
  const found = (...names: string[]) => ({
    type: 'tool_search_tool_result',
    tool_use_id: 's1',
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: names.map(tool_name => ({ type: 'tool_reference', tool_name })),
    },
  });
  const messages = [
    user('Hi'),
    assistant([use('s1', 'tool_search_tool_bm25'), opaque(found('look', 'gone')), textPart('Hm.')]),
    user('Go on.'),
  ];

  test.each<[string, object, string[], number]>([
    ['are all there', { tools: [TOOL, { ...TOOL, name: 'gone' }] }, ['look', 'gone'], 0],
    ['are partly gone', { tools: [TOOL] }, ['look'], 1],
    ['are all gone', {}, [], 1],
    ['may be those of a server', { providerOptions: { anthropic: { tools: [{ type: 'mcp_toolset' }] } } }, ['look', 'gone'], 0],
    ['are there though none may be called', { tools: [TOOL, { ...TOOL, name: 'gone' }], toolChoice: 'none' }, ['look', 'gone'], 0],
  ])('%s', (_, settings, names, warned) => {
    const { body, warnings } = build({ messages, ...settings });
    expect(body.messages[1]?.content[1]).toEqual(found(...names));
    expect(repaired(warnings)).toBe(warned);
  });
});

describe('features that a history needs', () => {
  const mark = { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } };
  const messages = [user('Hi'), assistant([opaque(mark), textPart('Yes.'), opaque({ type: 'compaction', content: 'x' })]), user('Go on.')];
  const beta = async (options: object, providerOptions?: Record<string, JsonObject>) => {
    const request = { messages, ...(providerOptions === undefined ? {} : { providerOptions }) };
    const { headers } = await anthropic({ model: 'm', apiKey: 'k', ...options }).prepare!(request, contextOf());
    return headers['anthropic-beta'];
  };

  test('are asked for, unless they are already, in whichever version', async () => {
    expect(await beta({})).toBe('server-side-fallback-2026-07-01,compact-2026-01-12');
    expect(await beta({ betas: ['server-side-fallback-2026-06-01'] })).toBe('server-side-fallback-2026-06-01,compact-2026-01-12');
    expect(await beta({}, { anthropic: { betas: ['compact-2027-02-03'] } })).toBe('compact-2027-02-03,server-side-fallback-2026-07-01');
    const { headers } = await anthropic({ model: 'm', apiKey: 'k' }).prepare!({ messages: [user('Hi')] }, contextOf());
    expect(headers['anthropic-beta']).toBeUndefined();
  });
});

describe('a choice at the top of a tool’s schema', () => {
  const schemaOf = (inputSchema: JsonObject) =>
    (build({ tools: [{ ...TOOL, inputSchema }] }).body.tools as { input_schema: JsonObject }[])[0]!.input_schema;
  const get = { type: 'object', properties: { do: { const: 'get' }, id: { type: 'string' } }, required: ['do', 'id'] };
  const put = { type: 'object', properties: { do: { const: 'put' }, id: { type: 'string' }, to: {} }, required: ['do', 'to'] };
  const both = { do: { anyOf: [{ const: 'get' }, { const: 'put' }] }, id: { type: 'string' }, to: {} };

  test.each<[string, JsonObject, JsonObject]>([
    ['anyOf', { anyOf: [get, put] }, { type: 'object', properties: both, required: ['do'] }],
    ['oneOf with words', { type: 'object', description: 'D', oneOf: [get, put] }, { type: 'object', properties: both, required: ['do'] }],
    ['allOf', { allOf: [get, put] }, { type: 'object', properties: both, required: ['do', 'id', 'to'] }],
    [
      'which members are there',
      { type: 'object', properties: { a: {}, b: {} }, additionalProperties: false, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: 'object', properties: { a: {}, b: {} }, additionalProperties: false },
    ],
    [
      'by reference, even to itself',
      {
        anyOf: [{ $ref: '#/$defs/get' }, { $ref: '#/$defs/loop' }, { $ref: '#/$defs/none' }],
        $defs: { get, loop: { anyOf: [{ $ref: '#/$defs/loop' }, put] } },
      },
      { type: 'object', properties: both, $defs: { get, loop: { anyOf: [{ $ref: '#/$defs/loop' }, put] } } },
    ],
  ])('%s', (_, schema, want) => {
    const { description, ...rest } = schemaOf(schema);
    expect(rest).toEqual(want);
    const said = typeof schema.description === 'string' ? `${schema.description}\n` : '';
    expect(description).toMatch(new RegExp(`^${said}\\{"(any|one|all)Of":`));
  });

  test('none: the schema as it is', () => {
    expect(schemaOf(get)).toEqual(get);
    expect(schemaOf({ properties: {} })).toEqual({ type: 'object', properties: {} });
  });

  test('arguments with names that are refused are told in words', () => {
    const properties = { id: { type: 'string' }, $top: { type: 'integer' }, ['a'.repeat(65)]: {}, 'a.b-c': {} };
    expect(schemaOf({ type: 'object', description: 'D', properties, required: ['id', '$top'], additionalProperties: false })).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, 'a.b-c': {} },
      required: ['id'],
      description: `D\n{"properties":{"$top":{"type":"integer"},"${'a'.repeat(65)}":{}},"required":["$top"]}`,
    });
  });

  test('words of older drafts, which are refused, become those of 2020-12', () => {
    const items = [{ type: 'number', minimum: 0, exclusiveMinimum: true }, { type: 'string' }];
    const { $defs, ...rest } = schemaOf({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { at: { type: 'array', items, additionalItems: false }, items: { enum: [['a']] } },
      $defs: { n: { anyOf: [{ maximum: 9, exclusiveMaximum: false }] } },
    });
    expect(rest).toEqual({
      type: 'object',
      properties: {
        at: { type: 'array', prefixItems: [{ type: 'number', exclusiveMinimum: 0 }, { type: 'string' }], items: false },
        items: { enum: [['a']] },
      },
    });
    expect($defs).toEqual({ n: { anyOf: [{ maximum: 9 }] } });
  });
});

test.each([
  'source tool `srvtoolu_1` not found for tool use block `toolu_1`',
  "Tool reference 'find' not found in available tools",
  "messages.1.content.0: Input tag 'fallback' found using 'type' does not match any of the expected tags: 'text', 'thinking'",
  'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: T1.',
  'tools.0.custom.input_schema.type: Field required',
  'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
])('a refused request is told as one: %s', async message => {
  const body = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' });
  const fetch = async () => new Response(body, { status: 400 });
  const { error } = await run(anthropic({ model: 'm', apiKey: 'k', fetch }));
  expect([error?.reason, error?.retryable]).toEqual(['invalid_request', false]);
  expect(error?.message).toContain(message);
});
