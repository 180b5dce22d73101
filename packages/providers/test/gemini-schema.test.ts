// What the API understands of schemas, beside the words in gemini-request.test.ts.
import { assistant, type ChatRequest, toolResult, user } from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { contextOf } from './support/run.js';

async function built(request: Partial<ChatRequest>) {
  const adapter = gemini({ model: 'gemini-3-flash-preview' });
  const { body, warnings } = await adapter.prepare!({ messages: [user('Hi')], ...request }, contextOf());
  return { json: JSON.parse(body), warnings };
}

describe('schemas', () => {
  it('of parts become one, and tuples of older drafts are understood', async () => {
    const part = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
    const inputSchema = {
      ...part('a'),
      properties: { a: { allOf: [{ type: 'string' }, { description: 'An a.' }] }, at: { items: [{ type: 'number', const: 1 }] } },
      allOf: [part('a'), { allOf: [part('b')] }],
    };
    const { json, warnings } = await built({ tools: [{ name: 'f', description: '', inputSchema }] });
    expect(json.tools[0].functionDeclarations[0].parametersJsonSchema).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', description: 'An a.' },
        at: { prefixItems: [{ type: 'number', enum: [1] }] },
        b: { type: 'string' },
      },
      required: ['a', 'b'],
    });
    expect(warnings).toEqual([]);
  });

  it('whose parts contradict each other are left out, and that is told', async () => {
    const inputSchema = { type: 'object', allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { type: 'null' } } }] };
    const { json, warnings } = await built({ tools: [{ name: 'f', description: '', inputSchema }] });
    expect(json.tools[0].functionDeclarations[0].parametersJsonSchema).toEqual({ type: 'object' });
    expect(warnings[0]?.message).toContain('allOf');
  });
});

it.each(['generate-content', 'interactions'] as const)(
  'a schema that a tool returns goes as text to %s: its references are none of the API',
  async api => {
    const value = { tools: [{ a: { $ref: '#/$defs/a' } }] };
    const call = { type: 'tool_call', id: 'x', name: 'f', arguments: {}, rawArguments: '{}' } as const;
    const messages = [user('Hi'), assistant([call]), toolResult('x', [{ type: 'json', value }])];
    const { body } = await gemini({ model: 'gemini-3-flash-preview', api }).prepare!({ messages }, contextOf());
    const { contents, input } = JSON.parse(body);
    const sent = api === 'interactions' ? input[2].result : contents[2].parts[0].functionResponse.response.output;
    expect(sent).toBe(JSON.stringify(value));
  },
);
