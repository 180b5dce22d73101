import {
  audioPart,
  type CallOptions,
  createEngine,
  createSession,
  filePart,
  foldEvents,
  imagePart,
  toJsonSchema,
  user,
  validateMessages,
} from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { plainTool, setUp } from './support.js';

describe('messages that are none', () => {
  test.each<readonly [string, unknown]>([
    ['messages', undefined],
    ['messages', 'Hi'],
    ['messages[0]', [null]],
    ['messages[0]', ['Hi']],
    ['messages[0].role', [{}]],
    ['messages[0].role', [{ role: '__proto__', content: 'x' }]],
    ['messages[0].content', [{ role: 'user' }]],
    ['messages[0].content', [{ role: 'user', content: null }]],
    ['messages[0].content[0]', [{ role: 'user', content: [null] }]],
    ['messages[0].content[0].type', [{ role: 'user', content: [{ type: 'tool_call' }] }]],
    ['messages[0].content[0].type', [{ role: 'user', content: [{ type: 'constructor' }] }]],
    ['messages[0].content[0].text', [{ role: 'user', content: [{ type: 'text', text: 5 }] }]],
    ['messages[0].content[0].data', [{ role: 'user', content: [{ type: 'image', mediaType: 'image/png' }] }]],
    ['messages[0].content[0].data', [{ role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: new Uint8Array(1) }] }]],
    ['messages[0].content[0].mediaType', [{ role: 'user', content: [{ type: 'audio', data: 'AA==' }] }]],
    ['messages[0].content', [{ role: 'system', content: [{ type: 'text', text: 'x' }] }]],
    ['messages[0].callId', [{ role: 'tool', content: 'x' }]],
    ['messages[0].content[0].value', [{ role: 'tool', callId: 'c', content: [{ type: 'json', value: 1n }] }]],
    ['messages[0].content[0].id', [{ role: 'assistant', content: [{ type: 'tool_call', id: '', name: 'f', arguments: {} }] }]],
    ['messages[0].content[0].arguments', [{ role: 'assistant', content: [{ type: 'tool_call', id: 'c', name: 'f', arguments: '{}' }] }]],
    [
      'messages[0].content[0].arguments',
      [{ role: 'assistant', content: [{ type: 'tool_call', id: 'c', name: 'f', arguments: { a: 1n } }] }],
    ],
  ])('the fault is at %s', async (path, messages) => {
    expect(validateMessages(messages).map(issue => issue.path)).toContain(path);
    const { chat, engine } = setUp(['Hi']);
    await expect(engine.chat({ messages } as never)).rejects.toMatchObject({ name: 'ValidationError', issues: [{ path }] });
    expect(chat.requests).toHaveLength(0);
  });

  test('ten thousand faults give a message that can be read, and all the issues', async () => {
    const { engine } = setUp([]);
    const error = await engine.chat(Array.from({ length: 10_000 }, () => null as never)).catch(thrown => thrown);
    expect(error.issues).toHaveLength(10_000);
    expect(error.message.length).toBeLessThan(1000);
    expect(error.message).toContain('and 9990 more');
  });
});

describe('mistakes of the programmer throw before anything is sent', () => {
  test.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['a function', () => 1],
    ['an empty list', []],
    ['an empty thread', { messages: [] }],
    ['a setting that cannot be', { messages: [user('Hi')], temperature: 'hot' }],
    ['a tool that is none', { messages: [user('Hi')], tools: [{ name: 'x' }] }],
  ])('input: %s', async (_, input) => {
    const { chat, engine } = setUp(['Hi']);
    for (const method of ['generate', 'step', 'chat'] as const) await expect(engine[method](input as never)).rejects.toThrow(Error);
    for (const method of ['streamGenerate', 'streamStep', 'stream'] as const) expect(() => engine[method](input as never)).toThrow(Error);
    expect(chat.requests).toHaveLength(0);
  });

  const bad: readonly (readonly [string, unknown])[] = [
    ...[-0.1, 2.1, Number.NaN, '1', null].map(value => ['temperature', value] as const),
    ...[-1, 1.1, '1'].map(value => ['topP', value] as const),
    ...[0, -1, 1.5, '5', Number.NaN, Number.POSITIVE_INFINITY].flatMap(value => [
      ['maxTokens', value] as const,
      ['maxTurns', value] as const,
    ]),
    ...['x', [''], [1]].map(value => ['stop', value] as const),
    ...[0.5, 'x'].map(value => ['seed', value] as const),
    ...['ultra', true, '__proto__'].map(value => ['reasoning', value] as const),
    ...['x', { openai: 1 }, { openai: { f: () => 1 } }].map(value => ['providerOptions', value] as const),
    ...['', 5].map(value => ['model', value] as const),
  ];
  test.each(bad)('%s is refused in options and defaults: case %#', async (key, value) => {
    const { engine } = setUp(['Hi']);
    const refusal = { name: 'ConfigurationError', reason: 'invalid_option', message: expect.stringContaining(key) };
    await expect(engine.chat('Hi', { [key]: value } as never)).rejects.toMatchObject(refusal);
    expect(() => createEngine({ defaults: { [key]: value } as never })).toThrow(expect.objectContaining(refusal));
  });

  test.each<readonly [string, unknown]>([
    ...['x', [5], [{ name: 'x' }], [plainTool('a'), plainTool('a')]].map(value => ['tools', value] as const),
    ...['any', {}, { tool: 'nope' }, 'required', 5].map(value => ['toolChoice', value] as const),
    ...['maunal', true].map(value => ['mode', value] as const),
    ['stopWhen', true],
    ...[
      ...['x', null, { type: 'nope' }, { type: 'approved', arguments: 'x' }],
      ...[undefined, 5, { day: 'Monday' }, [{ type: 'audio' }]].map(content => ({ type: 'result', content })),
    ].map(decision => ['resume', { c1: decision }] as const),
    ...[{}, 'x', null].map(value => ['signal', value] as const),
    ...[0, -1, '5', Number.NaN].map(value => ['timeoutMs', value] as const),
    ...['', 5].flatMap(value => [['sessionId', value] as const, ['requestId', value] as const]),
    ...[true, 3, { maxRetries: -1 }, { maxRetries: 'x' }, { max: 3 }, { baseMs: Number.NaN }].map(value => ['retry', value] as const),
  ])('option %s: case %#', async (key, value) => {
    const { chat, engine } = setUp(['Hi']);
    await expect(engine.chat('Hi', { [key]: value } as CallOptions)).rejects.toThrow(Error);
    expect(() => engine.stream('Hi', { [key]: value } as CallOptions)).toThrow(Error);
    expect(chat.requests).toHaveLength(0);
  });

  test.each<readonly [string, unknown]>([
    ['null', null],
    ['text', 'x'],
    ['a key it does not know', { model: 'x' }],
    ['an adapter that is none', { chat: { provider: 'x' } }],
    ['an adapter that is null', { chat: null }],
    ['tools that are none', { tools: ['x'] }],
    ['two tools with one name', { tools: [plainTool('a'), plainTool('a')] }],
    ['an executor that is none', { executor: {} }],
    ['an encoder that is none', { encodeResult: 'json' }],
    ['a clock that is none', { clock: {} }],
    ['a retry that is none', { retry: 3 }],
    ['defaults that are none', { defaults: 5 }],
  ])('createEngine: %s', (_, config) => {
    expect(() => createEngine(config as never)).toThrow(Error);
    if (typeof config === 'object' && config !== null) expect(() => createEngine().with(config as never)).toThrow(Error);
  });

  test('an engine without a model says what is missing', async () => {
    await expect(createEngine().chat('Hi')).rejects.toMatchObject({ reason: 'missing_adapter' });
  });

  test.each<readonly [string, () => unknown]>([
    ['createSession', () => createSession(undefined as never)],
    ['createSession without an engine', () => createSession({} as never)],
    ['createSession with an id that is none', () => createSession({ engine: createEngine(), id: 5 as never })],
    ['session.stream', () => createSession({ engine: createEngine({ chat: scripted([]) }) }).stream(5 as never)],
    ['imagePart', () => imagePart('https://example.com/a.png')],
    ['audioPart', () => audioPart('not base64!')],
    ['filePart', () => filePart('a b', 'text/plain')],
    ['a part of a buffer that is no bytes', () => imagePart(new ArrayBuffer(2) as never)],
    ['a part of a Blob', () => audioPart(new Blob(['x']) as never)],
    ['a part of numbers', () => filePart([1, 2] as never, 'text/plain')],
    ['a part of 16-bit samples', () => audioPart(new Int16Array([300]) as never)],
    ['toJsonSchema', () => toJsonSchema(5 as never, 'It')],
    ['foldEvents without an end', () => foldEvents([])],
  ])('%s', (_, act) => {
    expect(act).toThrow(Error);
  });

  test('an engine is a value: with() makes another one', async () => {
    const { engine } = setUp(['a'], { defaults: { maxTokens: 5 } });
    const other = engine.with({ defaults: { maxTokens: 9 } });
    expect([engine.config.defaults, other.config.defaults]).toEqual([{ maxTokens: 5 }, { maxTokens: 9 }]);
    expect(Object.isFrozen(engine) && Object.isFrozen(engine.config)).toBe(true);
  });
});
