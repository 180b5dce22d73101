// What a random model does not do by itself: thoughts, a call of its own will, words before it. The library is a stand-in here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assistant, reasoningPart, textPart, toolResult, user } from '@antiphon/engine';
import { llamaCpp } from '@antiphon/providers';
import { afterAll, expect, test } from 'vitest';
import { llamaLibrary } from './support/llama-library.js';
import { contextOf, run } from './support/run.js';

const folder = mkdtempSync(join(tmpdir(), 'antiphon-llama-fake-'));
const modelPath = join(folder, 'model.gguf');
writeFileSync(modelPath, 'GGUF');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tools = [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: { a: { type: 'integer' } } } }];

test('thoughts, words and two calls keep their order', async () => {
  const { load } = llamaLibrary({
    answer: hooks => {
      hooks.onResponseChunk({ type: 'segment', segmentType: 'thought', text: 'Hm.' });
      hooks.onResponseChunk({ text: 'So: ' });
      hooks.onFunctionCallParamsChunk({ callIndex: 0, functionName: 'add', paramsChunk: '{"a":' });
      hooks.onFunctionCallParamsChunk({ callIndex: 0, functionName: 'add', paramsChunk: '1}' });
      const functionCalls = [
        { functionName: 'add', params: { a: 1 } },
        { functionName: 'add', params: { a: 2 } },
      ];
      return { functionCalls, metadata: { stopReason: 'functionCalls' } };
    },
  });
  const result = await run(llamaCpp({ modelPath, load }), { messages: [user('Add.')], tools });
  expect(result).toMatchObject({ reasoning: 'Hm.', text: 'So: ', finish: 'tool_calls', model: undefined });
  expect(result.calls.map(call => call.arguments)).toEqual([{ a: 1 }, { a: 2 }]);
  expect(result.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: 1 });
});

test('calls and their results stand in one answer of the history', async () => {
  const { load, seen } = llamaLibrary({ answer: () => ({ metadata: { stopReason: 'eogToken' } }) });
  const call = { id: 'c1', name: 'add', arguments: { a: 1 }, rawArguments: '{"a":1}' };
  const { finish } = await run(llamaCpp({ modelPath, load }), {
    messages: [
      { role: 'system', content: 'Be brief.' },
      user('Add.'),
      assistant([reasoningPart('Hm.'), textPart('So:'), { type: 'tool_call', ...call }]),
      toolResult('c1', [{ type: 'json', value: { sum: 2 } }]),
      assistant('It is 2.'),
      user('Again.'),
      assistant([{ type: 'tool_call', ...call, id: 'c2' }]),
      toolResult('c2', 'too tired', { isError: true }),
    ],
    tools,
  });
  const called = { type: 'functionCall', name: 'add', params: { a: 1 }, startsNewChunk: true };
  expect(finish).toBe('stop');
  expect(seen.histories).toEqual([
    [
      { type: 'system', text: 'Be brief.' },
      { type: 'user', text: 'Add.' },
      {
        type: 'model',
        response: [
          { type: 'segment', segmentType: 'thought', text: 'Hm.', ended: true },
          'So:',
          { ...called, result: { sum: 2 } },
          'It is 2.',
        ],
      },
      { type: 'user', text: 'Again.' },
      { type: 'model', response: [{ ...called, result: { error: 'too tired' } }] },
    ],
  ]);
});

test('a library that fails is an error of the world', async () => {
  const { load } = llamaLibrary({
    answer: () => {
      throw new Error('out of memory');
    },
  });
  const { error } = await run(llamaCpp({ modelPath, load }), { messages: [user('Hi')] });
  expect(error).toMatchObject({ name: 'AdapterError', reason: 'unknown', message: expect.stringContaining('out of memory') });
});

test('the model waits for a reader that stops, and goes on with it', async () => {
  const { load, seen } = llamaLibrary({
    answer: async (hooks, tokens) => {
      let written = 0;
      for await (const _ of tokens) {
        hooks.onResponseChunk({ text: 'x' });
        if (++written === 2000) break;
      }
      return { metadata: { stopReason: 'eogToken' } };
    },
  });
  const events = llamaCpp({ modelPath, load })
    .stream({ messages: [user('Hi')] }, contextOf())
    [Symbol.asyncIterator]();
  await events.next();
  for (let still = 0, before = -1; still < 20; before = seen.tokens) {
    await new Promise(resolve => setImmediate(resolve));
    still = seen.tokens === before ? still + 1 : 0;
  }
  expect([seen.tokens > 100, seen.tokens < 600]).toEqual([true, true]);
  let text = '';
  for (let next = await events.next(); !next.done; next = await events.next())
    if (next.value.type === 'text_delta') text += next.value.delta;
  expect(text.length).toBe(2000);
});

test('who waits for the model does not wait for a reader that stopped, whose answer stays whole', async () => {
  const { load } = llamaLibrary({
    answer: async (hooks, tokens) => {
      let written = 0;
      for await (const _ of tokens) {
        hooks.onResponseChunk({ text: 'x' });
        if (++written === 2000) break;
      }
      return { metadata: { stopReason: 'eogToken' } };
    },
  });
  const chat = llamaCpp({ modelPath, load });
  const stopped = chat.stream({ messages: [user('Hi')] }, contextOf())[Symbol.asyncIterator]();
  await stopped.next();
  const others = await Promise.all([run(chat), run(chat)]);
  expect(others.map(({ text }) => text.length)).toEqual([2000, 2000]);
  let text = '';
  for (let next = await stopped.next(); !next.done; next = await stopped.next())
    if (next.value.type === 'text_delta') text += next.value.delta;
  expect(text.length).toBe(2000);
});

test('a template that refuses the conversation is an error of the library', async () => {
  const { load } = llamaLibrary({ answer: () => ({}), refuses: 'roles must alternate' });
  const { error } = await run(llamaCpp({ modelPath, load }), { messages: [user('Hi')] });
  expect(error).toMatchObject({ name: 'AdapterError', provider: 'llama-cpp', message: expect.stringContaining('roles must alternate') });
});
