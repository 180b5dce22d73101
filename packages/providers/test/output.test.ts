import { createEngine, type StreamEvent, tool } from '@antiphon/engine';
import { gemini, openaiChat } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { strictSchema } from '../src/openai-chat/strict-schema.js';

/** A server that answers with these chunks, and keeps what it was sent. */
function server(...deltas: object[]) {
  const bodies: Record<string, unknown>[] = [];
  const fetch = (async (_: unknown, init: RequestInit) => {
    bodies.push(JSON.parse(String(init.body)) as Record<string, unknown>);
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const calls = deltas.some(delta => 'tool_calls' in delta);
    const body = `${deltas.map(delta => chunk(delta)).join('')}${chunk({}, calls ? 'tool_calls' : 'stop')}data: [DONE]\n\n`;
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }) as typeof globalThis.fetch;
  return { bodies, fetch };
}

interface Wire {
  readonly tools: { readonly functionDeclarations: { readonly name: string }[] }[];
  readonly generationConfig?: { readonly responseJsonSchema?: object };
}

const person = z.object({ name: z.string(), age: z.number() });

describe('structured output', () => {
  test('a server that knows schemas is sent the schema, and the value comes back checked', async () => {
    const { bodies, fetch } = server({ content: '{"name":"Ada",' }, { content: '"age":36}' });
    const engine = createEngine({ chat: openaiChat({ model: 'm', baseURL: 'http://127.0.0.1:11434/v1', fetch }) });
    const outcome = await engine.chat('Who?', { output: person });
    expect(outcome).toMatchObject({ status: 'completed', output: { name: 'Ada', age: 36 } });
    expect(bodies[0]?.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { strict: true, schema: { required: ['name', 'age'] } },
    });
  });

  test('a server that does not is asked by a tool', async () => {
    const { bodies, fetch } = server();
    const engine = createEngine({
      chat: openaiChat({ model: 'm', baseURL: 'https://api.deepseek.com', apiKey: 'k', fetch }),
      retry: false,
    });
    await engine.chat('Who?', { output: person });
    expect(bodies[0]).not.toHaveProperty('response_format');
    expect(JSON.stringify(bodies[0]?.tools)).toContain('"age"');
  });

  test.each([
    ['gemini-2.5-flash', ['look', 'answer']],
    ['gemini-3-flash-preview', ['look']],
  ])('beside tools, %s is asked as it can be', async (model, names) => {
    const look = tool({ name: 'look', description: 'Looks.', input: { type: 'object', properties: {} }, run: () => 'a mountain' });
    let body = '';
    const fetch = async (_: unknown, init?: RequestInit) => {
      body = String(init?.body);
      return new Response('{}', { status: 400 });
    };
    await createEngine({ chat: gemini({ model, apiKey: 'k', fetch }) }).generate('Where?', { output: person, tools: [look] });
    const { tools, generationConfig } = JSON.parse(body) as Wire;
    const declared = tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name));
    expect([declared, generationConfig?.responseJsonSchema !== undefined]).toEqual([names, names.length === 1]);
  });

  const closed = (properties: object, more = {}) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  });
  test.each<[object, object | undefined]>([
    [{ type: 'string' }, { type: 'string' }],
    [closed({ a: { type: 'string' } }), closed({ a: { type: 'string' } })],
    [{ type: 'object', properties: { a: {} }, required: ['a'] }, closed({ a: {} })],
    [{ type: 'object', properties: {} }, closed({}, { required: undefined })],
    [{ type: 'object', properties: { a: {} } }, undefined],
    [{ type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: true }, undefined],
    [{ type: 'array', items: { type: 'object', properties: { a: {} } } }, undefined],
    [
      { type: 'array', items: { type: 'object', properties: { a: {} }, required: ['a'] } },
      { type: 'array', items: closed({ a: {} }) },
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [{ anyOf: [{ type: 'object', properties: { a: {} } }] }, undefined],
    [{ oneOf: [{ type: 'string' }] }, undefined],
    [closed({ oneOf: { type: 'string' } }), closed({ oneOf: { type: 'string' } })],
    [{ $ref: '#/$defs/x', $defs: { x: { type: 'object', properties: { a: {} } } } }, undefined],
  ])('strict mode takes %j as %j', (schema, strict) => {
    expect(strictSchema(schema as never)).toEqual(strict);
  });
});

describe('prompt cache', () => {
  test.each([
    ['https://api.openai.com/v1', { prompt_cache_key: 'chat-1', prompt_cache_retention: '24h' }, 0],
    ['http://127.0.0.1:11434/v1', {}, 1],
  ])('%s', async (baseURL, fields, warnings) => {
    const { bodies, fetch } = server({ content: 'Hi' });
    const engine = createEngine({ chat: openaiChat({ model: 'm', baseURL, apiKey: 'k', fetch }) });
    const outcome = await engine.chat('Hi', { promptCache: { key: 'chat-1', retention: 'long' } });
    expect(bodies[0]).toMatchObject(fields);
    expect(outcome.warnings.filter(warning => warning.setting === 'promptCache').length).toBe(warnings);
  });
});

describe('raw events', () => {
  test('come when asked for, without the key, and change nothing else', async () => {
    const { fetch } = server({ content: 'The key is sk-secret-0123456789abcdef.' });
    const engine = createEngine({
      chat: openaiChat({ model: 'm', baseURL: 'http://127.0.0.1:11434/v1', apiKey: 'sk-secret-0123456789abcdef', fetch }),
    });
    const events: StreamEvent[] = [];
    for await (const event of engine.stream('Hi', { raw: true })) events.push(event);
    const raw = events.filter(event => event.type === 'raw');
    expect(raw.length).toBe(2);
    expect(JSON.stringify(raw)).toContain('choices');
    expect(JSON.stringify(raw)).not.toContain('sk-secret');
    expect((await engine.chat('Hi')).text).toBe((await engine.chat('Hi', { raw: true })).text);
  });
});
