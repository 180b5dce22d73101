// The engine's conformance kit on llamaCpp. The library is a stand-in that writes what a scenario says; there is no server, so what only one can
// do (refuse, lose the connection, count no tokens) cannot happen.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapterConformance, type ChatScenario, type ChatUnderTest } from '@antiphon/engine/testing';
import { llamaCpp } from '@antiphon/providers';
import { afterAll, describe, expect, test } from 'vitest';
import { type Hooks, llamaLibrary } from './support/llama-library.js';

const folder = mkdtempSync(join(tmpdir(), 'antiphon-llama-kit-'));
const modelPath = join(folder, 'model.gguf');
writeFileSync(modelPath, 'GGUF');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STOP_REASONS = { stop: 'eogToken', tool_calls: 'functionCalls', length: 'maxTokens' } as const;

async function answer(
  { reasoning = [], text = [], toolCalls = [], finish, ends }: ChatScenario,
  hooks: Hooks,
  tokens: AsyncIterable<number>,
) {
  for (const thought of reasoning) hooks.onResponseChunk({ type: 'segment', segmentType: 'thought', text: thought });
  for (const piece of text) hooks.onResponseChunk({ text: piece });
  if (ends === 'endless') {
    for await (const _ of tokens) {
      hooks.signal.throwIfAborted();
      hooks.onResponseChunk({ text: text.at(-1) });
    }
  }
  if (ends === 'open') await new Promise((_, reject) => hooks.signal.addEventListener('abort', () => reject(hooks.signal.reason)));
  for (const [callIndex, { name, rawArguments }] of toolCalls.entries()) {
    const half = Math.ceil(rawArguments.length / 2);
    for (const paramsChunk of [rawArguments.slice(0, half), rawArguments.slice(half)])
      if (paramsChunk !== '') hooks.onFunctionCallParamsChunk({ callIndex, functionName: name, paramsChunk });
  }
  const functionCalls = finish === 'length' ? undefined : toolCalls.map(({ name }) => ({ functionName: name, params: {} }));
  return { functionCalls, metadata: { stopReason: STOP_REASONS[finish] } };
}

/** Every answer is counted, and none breaks off but by an abort or a fault of the library. */
function isPossible({ failure, ends, usage, text = [], toolCalls = [] }: ChatScenario): boolean {
  const saysUncounted = usage === undefined && toolCalls.length === 0 && text.join('') !== '';
  return failure === undefined && ends !== 'cut' && ends !== 'lost' && !saysUncounted;
}

let ran = 0;
function underTest(scenario: ChatScenario): ChatUnderTest | undefined {
  if (!isPossible(scenario)) return undefined;
  ran++;
  const { seen, load } = llamaLibrary({ ...scenario.usage, answer: (hooks, tokens) => answer(scenario, hooks, tokens) });
  const adapter = llamaCpp({ modelPath, load });
  return { adapter, requests: () => seen.histories.length, open: () => seen.open, sent: () => seen.tokens };
}

describe('llamaCpp holds the contract of a chat adapter', () => {
  const cases = adapterConformance(underTest);
  for (const { name, run } of cases) test(name, run);
  test('in nearly every case of the kit', () => expect([cases.length >= 35, cases.length - ran < 12]).toEqual([true, true]));
});
