import { createEngine, foldEvents, type Json, type OutputMode, type Schema, unwrap, user } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { city, MODES, says, setUp } from './output-support.js';
import { collect, comparable, plainTool, typesOf } from './support.js';

interface Shape {
  readonly schema: Schema;
  readonly good: Json;
  readonly bad: Json;
  /** Where the schema finds the fault. */
  readonly path: string;
  readonly wrapped: boolean;
}

const SHAPES: { readonly [name: string]: Shape } = {
  'a zod object': { schema: city, good: { city: 'Oslo', degrees: 12 }, bad: { city: 'Oslo' }, path: 'degrees', wrapped: false },
  'a zod list': { schema: z.array(z.number()), good: [1, 2, 3], bad: [1, 'x'], path: '1', wrapped: true },
  'a zod enum': { schema: z.enum(['yes', 'no']), good: 'yes', bad: 'maybe', path: '$', wrapped: true },
  'a zod string': { schema: z.string().min(2), good: 'fine', bad: '', path: '$', wrapped: true },
  'a zod union': { schema: z.union([city, z.null()]), good: null, bad: 5, path: '$', wrapped: true },
  'a valibot object': {
    schema: toStandardJsonSchema(v.object({ a: v.array(v.string()) })),
    good: { a: ['x'] },
    bad: { a: [1] },
    path: 'a.0',
    wrapped: false,
  },
  'an arktype object': { schema: type({ n: 'number' }) as Schema, good: { n: 1 }, bad: { n: 'x' }, path: 'n', wrapped: false },
  'a JSON Schema object': {
    schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    good: { n: 1 },
    bad: { n: 1.5 },
    path: 'n',
    wrapped: false,
  },
  'a JSON Schema enum': { schema: { enum: ['a', 'b'] }, good: 'b', bad: 'c', path: '$', wrapped: true },
};

const usage = { inputTokens: 10, outputTokens: 5 };

describe.each(MODES)('%s', mode => {
  describe.each(Object.entries(SHAPES))('%s', (_, { schema, good, bad, path, wrapped }) => {
    const textOf = (value: Json) => JSON.stringify(wrapped ? { value } : value);

    test.each<readonly [string, readonly string[], 'completed' | 'failed']>([
      ['fits', [textOf(good)], 'completed'],
      ['fits the second time', [textOf(bad), textOf(good)], 'completed'],
      ['fits neither time', [textOf(bad), textOf(bad)], 'failed'],
      ['is no JSON, then fits', ['I would say so.', textOf(good)], 'completed'],
    ])('%s', async (_, answers, status) => {
      const turns = () => answers.map(text => says(mode, text, { usage }));
      const plain = setUp(mode, turns());
      const outcome = await plain.engine.chat('Well?', { output: schema, ...plain.options });
      expect(outcome.status).toBe(status);
      expect(outcome.text).toBe(answers.at(-1));
      expect(outcome.steps).toHaveLength(answers.length);
      expect(outcome.usage).toMatchObject({ inputTokens: 10 * answers.length, outputTokens: 5 * answers.length });
      expect(outcome.toolCalls).toEqual([]);
      expect(outcome.messages.map(({ role }) => role)).toEqual([
        'user',
        ...answers.flatMap((_, i) => (i === 0 ? ['assistant'] : ['user', 'assistant'])),
      ]);
      expect(plain.chat.requests).toHaveLength(answers.length);
      if (outcome.status === 'completed') expect(outcome.output).toEqual(good);
      if (outcome.status === 'failed')
        expect(outcome.error).toMatchObject({ name: 'ValidationError', reason: 'invalid_output', issues: [{ path }] });
      expect(outcome.warnings.filter(({ code }) => code === 'repaired_output')).toHaveLength(answers.length - 1);

      const streamed = setUp(mode, turns());
      const events = await collect(streamed.engine.stream('Well?', { output: schema, ...streamed.options }));
      const told = foldEvents(events, { messages: [user('Well?')] });
      expect(comparable(told)).toEqual(comparable(outcome));
      expect(streamed.chat.requests).toEqual(plain.chat.requests);
      expect(typesOf(events)).not.toContain('tool_call');
    });

    test('shows its growth', async () => {
      const { engine, options } = setUp(mode, [says(mode, textOf(good))]);
      const events = await collect(engine.streamGenerate('Well?', { output: schema, ...options }));
      const deltas = events.flatMap(event => (event.type === 'output_delta' ? [event] : []));
      expect(deltas.map(({ delta }) => delta).join('')).toBe(textOf(good));
      expect(deltas.at(-1)?.value).toEqual(good);
      expect(events.flatMap(event => (event.type === 'text_delta' ? [event.delta] : [])).join('')).toBe(textOf(good));
    });

    test.each(['generate', 'step'] as const)('%s repairs too', async kind => {
      const { engine, options } = setUp(mode, [says(mode, textOf(bad)), says(mode, textOf(good))]);
      expect(unwrap(await engine[kind]('Well?', { output: schema, ...options }))).toEqual(good);
    });
  });
});

describe('what is asked for', () => {
  const ask = async (mode: OutputMode, schema: Schema, options = {}) => {
    const { engine, chat, options: own } = setUp(mode, [says(mode, '{}'), says(mode, '{}')]);
    await engine.chat('Well?', { output: schema, ...own, ...options });
    return chat.requests;
  };
  const object = { type: 'object', properties: {}, required: ['a'] };

  test('native: the schema, and nothing else', async () => {
    expect((await ask('native', object))[0]).toEqual({ messages: [user('Well?')], output: { name: 'answer', schema: object } });
  });

  test('tool: a tool that must be called, beside the tools of the user that may be', async () => {
    const [request] = await ask('tool', object);
    expect(request).toMatchObject({ tools: [{ name: 'answer', inputSchema: object }], toolChoice: 'required' });
    expect(request).not.toHaveProperty('output');
    const [first, second] = await ask('tool', object, { tools: [plainTool('answer'), plainTool('answer_2')] });
    expect(first?.tools?.map(({ name }) => name)).toEqual(['answer', 'answer_2', 'answer_3']);
    expect(first?.toolChoice).toBe('auto');
    expect(second).toBeUndefined();
    const [none] = await ask('tool', object, { tools: [plainTool('other')], toolChoice: 'none' });
    expect(none?.toolChoice).toEqual({ tool: 'answer' });
  });

  test('instructions: a system message behind the others', async () => {
    const chat = scripted(['{"a":1}']);
    const messages = [{ role: 'system', content: 'Be brief.' } as const, user('Well?')];
    await createEngine({ chat }).chat(messages, { output: object, outputMode: 'instructions' });
    expect(chat.requests[0]?.messages.map(({ role }) => role)).toEqual(['system', 'system', 'user']);
    expect(chat.requests[0]?.messages[1]?.content).toContain(JSON.stringify(object));
    expect(chat.requests[0]).not.toHaveProperty('tools');
  });

  test('what is no object is wrapped, and references still point to their schemas', async () => {
    const schema = {
      type: 'array',
      items: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/leaf' }, { $ref: '#/items' }, { const: { $ref: '#' } }] },
      $defs: { leaf: { type: 'string' } },
    };
    expect((await ask('native', schema))[0]?.output?.schema).toEqual({
      type: 'object',
      properties: {
        value: {
          type: 'array',
          items: {
            anyOf: [
              { $ref: '#/properties/value' },
              { $ref: '#/$defs/leaf' },
              { $ref: '#/properties/value/items' },
              { const: { $ref: '#' } },
            ],
          },
        },
      },
      required: ['value'],
      additionalProperties: false,
      $defs: { leaf: { type: 'string' } },
    });
  });

  test('the second request tells every fault, in the words of the schema', async () => {
    const { engine, chat } = setUp('tool', [says('tool', '{"city":5}'), says('tool', '{"city":"Oslo","degrees":1}')]);
    await engine.chat('Well?', { output: city });
    const said = chat.requests[1]?.messages.at(-1)?.content;
    for (const part of ['- city: ', '- degrees: ', 'calling the tool "answer"']) expect(said).toContain(part);
    expect(chat.requests[1]?.toolChoice).toBe('required');
  });

  test('a provider that holds answers, but not beside tools, is asked by a tool beside them', async () => {
    const chat = Object.assign(scripted(['{"n":1}', '{"n":1}'], { structuredOutput: true }), { structuredOutputWithTools: false });
    const schema = { type: 'object', properties: { n: { type: 'number' } } };
    const engine = createEngine({ chat, middleware: [{ request: request => request }] });
    await engine.chat('?', { output: schema });
    await engine.chat('?', { output: schema, tools: [plainTool('look')] });
    const asked = chat.requests.map(({ output, tools = [] }) => [output?.name, tools.map(({ name }) => name)]);
    expect(asked).toEqual([
      ['answer', []],
      [undefined, ['look', 'answer']],
    ]);
  });

  test('a request as data may ask for a shape too', async () => {
    const chat = scripted(['{"n":1}'], { structuredOutput: true });
    const schema = { type: 'object', properties: { n: { type: 'number' } } };
    const outcome = await createEngine({ chat }).chat({ messages: [user('?')], output: { name: 'number', schema } });
    expect(chat.requests[0]?.output).toEqual({ name: 'number', schema });
    expect(unwrap(outcome)).toEqual({ n: 1 });
    const again = scripted(['Fine.']);
    expect(unwrap(await createEngine({ chat: again }).chat({ messages: [user('?')], output: { n: 1 } } as never))).toBe('Fine.');
    const nameless = { messages: [user('?')], output: { name: 'a name', schema } };
    await expect(createEngine({ chat }).chat(nameless)).rejects.toThrow('output.name');
  });

  test.each([
    ['a schema that is none', { output: 5 }, 'output must be a schema'],
    ['a mode that is none', { output: {}, outputMode: 'xml' }, 'outputMode must be native, tool or instructions'],
    ['a mode without a schema', { outputMode: 'tool' }, 'there is no output schema'],
    ['native where the provider cannot', { output: {}, outputMode: 'native' }, 'scripted cannot hold'],
    ['a schema without JSON Schema', { output: v.string() }, 'cannot tell its JSON Schema'],
  ])('%s is refused before anything is sent', async (_, options, message) => {
    const chat = scripted([]);
    await expect(createEngine({ chat }).chat('?', options as never)).rejects.toThrow(message);
    expect(chat.requests).toEqual([]);
  });
});
