// What a random model does not do by itself: thoughts, a call of its own will, words before it. The library is a stand-in here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assistant, reasoningPart, textPart, toolResult, user } from '@antiphon/engine';
import { llamaCpp } from '@antiphon/providers';
import { afterAll, expect, test } from 'vitest';
import { run } from './support/run.js';

const folder = mkdtempSync(join(tmpdir(), 'antiphon-llama-fake-'));
const modelPath = join(folder, 'model.gguf');
writeFileSync(modelPath, 'GGUF');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Hooks {
  onResponseChunk(chunk: object): void;
  onFunctionCallParamsChunk(chunk: object): void;
}

/** A module whose chats answer by `answer`; it notes the history that they were given. */
function library(answer: (hooks: Hooks) => object) {
  const histories: unknown[] = [];
  const sequence = {
    contextSize: 100,
    tokenMeter: { getState: () => ({}), diff: () => ({ usedInputTokens: 3, usedOutputTokens: 2 }) },
    compareContextTokens: () => ({ firstDifferentIndex: 1 }),
    adaptStateToTokens: async () => {},
    evaluateWithoutGeneratingNewTokens: async () => {},
    clearHistory: async () => {},
  };
  class LlamaChat {
    readonly chatWrapper = { generateContextState: () => ({ contextText: { tokenize: () => [1, 2, 3] } }) };
    async generateResponse(history: unknown, hooks: Hooks) {
      histories.push(history);
      return answer(hooks);
    }
    dispose() {}
  }
  const free = async () => {};
  const model = { tokenizer: {}, dispose: free, createContext: async () => ({ getSequence: () => sequence, dispose: free }) };
  const getLlama = async () => ({ loadModel: async () => model, createGrammarForJsonSchema: async () => ({}), dispose: free });
  return { histories, load: async () => ({ getLlama, LlamaChat, LlamaText: (text: unknown) => text }) };
}

const tools = [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: { a: { type: 'integer' } } } }];

test('thoughts, words and two calls keep their order', async () => {
  const { load } = library(hooks => {
    hooks.onResponseChunk({ type: 'segment', segmentType: 'thought', text: 'Hm.' });
    hooks.onResponseChunk({ text: 'So: ' });
    hooks.onFunctionCallParamsChunk({ callIndex: 0, functionName: 'add', paramsChunk: '{"a":' });
    hooks.onFunctionCallParamsChunk({ callIndex: 0, functionName: 'add', paramsChunk: '1}' });
    const functionCalls = [
      { functionName: 'add', params: { a: 1 } },
      { functionName: 'add', params: { a: 2 } },
    ];
    return { functionCalls, metadata: { stopReason: 'functionCalls' } };
  });
  const result = await run(llamaCpp({ modelPath, load }), { messages: [user('Add.')], tools });
  expect(result).toMatchObject({ reasoning: 'Hm.', text: 'So: ', finish: 'tool_calls', model: undefined });
  expect(result.calls.map(call => call.arguments)).toEqual([{ a: 1 }, { a: 2 }]);
  expect(result.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: 1 });
});

test('calls and their results stand in one answer of the history', async () => {
  const { load, histories } = library(() => ({ metadata: { stopReason: 'eogToken' } }));
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
  expect(histories).toEqual([
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
  const { load } = library(() => {
    throw new Error('out of memory');
  });
  const { error } = await run(llamaCpp({ modelPath, load }), { messages: [user('Hi')] });
  expect(error).toMatchObject({ name: 'AdapterError', reason: 'unknown', message: expect.stringContaining('out of memory') });
});
