// Shapes that generateContent was recorded to send, with made-up content: how they are read, and what of them goes back.
import { type AssistantPart, assistant, type ChatRequest, user } from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { callsOf, contextOf, type Run, run } from './support/run.js';

const BASE = { model: 'gemini-3-flash-preview', baseURL: 'http://model.test' };
const ABOUT = { modelVersion: 'gemini-3-flash-preview', responseId: 'r-9' };
const chunk = (parts: object[], usageMetadata: object = {}, more: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  usageMetadata,
  ...ABOUT,
});
const last = (parts: object[], usageMetadata: object = {}, more: object = {}) =>
  chunk(parts, usageMetadata, { finishReason: 'STOP', ...more });

const read = (...chunks: unknown[]) => {
  const body = chunks.map(value => `data: ${JSON.stringify(value)}\n\n`).join('');
  return run(gemini({ ...BASE, fetch: async () => new Response(body) }));
};

/** The message that an answer becomes. */
function partsOf({ events }: Run): AssistantPart[] {
  return events.flatMap((event): AssistantPart[] => {
    if (event.type === 'text_end' || event.type === 'reasoning_end') {
      const { text, providerState } = event;
      return [{ type: event.type === 'text_end' ? 'text' : 'reasoning', text, ...(providerState && { providerState }) }];
    }
    if (event.type === 'tool_call') return [{ type: 'tool_call', ...event.call }];
    return event.type === 'file' ? [event.file] : [];
  });
}

async function bodyOf(request: Partial<ChatRequest>, model = BASE.model) {
  const { body, warnings } = await gemini({ ...BASE, model }).prepare!({ messages: [user('Hi')], ...request }, contextOf());
  return { json: JSON.parse(body), warnings };
}

async function replayed(answer: Run) {
  const { json } = await bodyOf({ messages: [user('Hi'), assistant(partsOf(answer)), user('Go on')] });
  return json.contents[1].parts;
}

describe('usage', () => {
  it('counts thoughts of a model that sends no candidates at first', async () => {
    const result = await read(
      chunk([{ text: '* one', thought: true }], { promptTokenCount: 5, totalTokenCount: 12, thoughtsTokenCount: 7 }),
      chunk([{ text: 'ok' }], { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 26, thoughtsTokenCount: 20 }),
      last([{ text: '' }], { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 26, thoughtsTokenCount: 20 }),
    );
    expect(result).toMatchObject({ reasoning: '* one', text: 'ok', finish: 'stop', warnings: [] });
    expect(result.usage).toEqual({ inputTokens: 5, outputTokens: 21, totalTokens: 26, reasoningTokens: 20 });
  });

  it('takes the last report where it grows, and where it shrinks', async () => {
    const at = (prompt: number, thoughts: number) => ({
      promptTokenCount: prompt,
      candidatesTokenCount: 9,
      toolUsePromptTokenCount: 40,
      cachedContentTokenCount: 4,
      thoughtsTokenCount: thoughts,
      totalTokenCount: prompt + 49 + thoughts,
      serviceTier: 'standard',
    });
    const result = await read(chunk([{ text: 'a' }], at(10, 30)), last([{ text: '' }], at(25, 12)));
    expect(result.usage).toEqual({ inputTokens: 65, cachedInputTokens: 4, outputTokens: 21, reasoningTokens: 12, totalTokens: 86 });
  });
});

describe('a part that has to go back', () => {
  it('is the empty one with the signature behind words and behind a picture', async () => {
    const picture = { inlineData: { mimeType: 'image/jpeg', data: 'AA==' }, thoughtSignature: 'sig-p' };
    const sign = { text: '', thoughtSignature: 'sig-t' };
    const result = await read(chunk([{ text: 'Four' }]), chunk([picture]), last([sign]));
    expect(result).toMatchObject({ text: 'Four', warnings: [], finish: 'stop' });
    expect(await replayed(result)).toEqual([{ text: 'Four' }, picture, sign]);
  });

  it('is code, each of its outputs, and the words behind them', async () => {
    const parts = [
      { executableCode: { language: 'PYTHON', code: 'print(1); 1/0' }, thoughtSignature: 'sig-c' },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
      { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'ZeroDivisionError\n' } },
      { text: 'It broke.', thoughtSignature: 'sig-w' },
    ];
    const result = await read(last(parts));
    expect(await replayed(result)).toEqual(parts);
    expect(result).toMatchObject({ text: 'It broke.', finish: 'stop' });
  });

  it('is a search that Google made beside a call of ours', async () => {
    const parts = [
      { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['tide'] }, id: 't1' }, thoughtSignature: 'sig-s' },
      { toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', response: { found: 2 }, id: 't1' } },
      { functionCall: { name: 'note', args: { level: 3 }, id: 'f1' }, thoughtSignature: 'sig-f' },
    ];
    const result = await read(chunk(parts), last([{ text: '' }], {}, { finishMessage: 'Model generated function call(s).' }));
    expect(result).toMatchObject({ text: '', reasoning: '', warnings: [], finish: 'tool_calls', raw: 'STOP' });
    expect(callsOf(result)).toEqual([['note', { level: 3 }]]);
    const { json } = await bodyOf({
      messages: [user('Hi'), assistant(partsOf(result)), { role: 'tool', callId: 'f1', content: 'done' }],
    });
    expect(json.contents[1].parts).toEqual(parts);
  });

  it('is one of an unknown kind, when it is signed', async () => {
    const odd = { hologram: { depth: 2 }, thoughtSignature: 'sig-h' };
    const result = await read(chunk([odd, { thoughtSignature: 'alone' }]), last([{ text: 'ok' }]));
    expect(result.warnings.map(({ message }) => message)).toEqual([
      'The answer has a part of the unknown kind "hologram", which is kept for the next request and not shown.',
    ]);
    expect(await replayed(result)).toEqual([odd, { text: '', thoughtSignature: 'alone' }, { text: 'ok' }]);
  });
});

describe('arguments that come leaf by leaf', () => {
  const piece = (functionCall: object) => chunk([{ functionCall }], { trafficType: 'ON_DEMAND' });
  const leaf = (jsonPath: string, stringValue: string, willContinue?: true) => ({ jsonPath, stringValue, willContinue });

  it('of two calls without ids end with an empty piece each', async () => {
    const city = (name: string) => [
      piece({ partialArgs: [leaf('$.city', name, true)], willContinue: true }),
      piece({ partialArgs: [leaf('$.city', '')], willContinue: true }),
    ];
    const result = await read(
      chunk([{ functionCall: { name: 'tide', willContinue: true }, thoughtSignature: 'sig' }]),
      ...city('Brest'),
      piece({}),
      piece({ name: 'tide', willContinue: true }),
      ...city('Cork'),
      last([{ functionCall: {} }]),
    );
    expect(callsOf(result)).toEqual([
      ['tide', { city: 'Brest' }],
      ['tide', { city: 'Cork' }],
    ]);
    expect(result.calls.map(({ providerState }) => providerState)).toEqual([{ gemini: { thoughtSignature: 'sig' } }, undefined]);
    expect(result).toMatchObject({ finish: 'tool_calls', warnings: [] });
  });

  it('end without an empty piece, in a list', async () => {
    const result = await read(
      piece({ name: 'stock', willContinue: true }),
      piece({ partialArgs: [leaf('$.rows[0].id', 'a', true)], willContinue: true }),
      piece({ partialArgs: [leaf('$.rows[0].id', '')], willContinue: true }),
      piece({ partialArgs: [{ jsonPath: '$.rows[1].price', numberValue: 0.3 }] }),
      last([{ text: '' }]),
    );
    expect(callsOf(result)).toEqual([['stock', { rows: [{ id: 'a' }, { price: 0.3 }] }]]);
  });

  it('go on while a leaf does, although the call does not say so', async () => {
    const result = await read(
      piece({ name: 'tide', partialArgs: [leaf('$.city', 'Br', true)] }),
      piece({ partialArgs: [leaf('$.city', 'est', true)] }),
      piece({ partialArgs: [leaf('$.city', '!')] }),
      last([{ text: '' }]),
    );
    expect(callsOf(result)).toEqual([['tide', { city: 'Brest!' }]]);
  });
});

describe('an end', () => {
  it.each(['', 'BLOCK_REASON_UNSPECIFIED', 'BLOCKED_REASON_UNSPECIFIED'])('is not a block for the reason %j', async blockReason => {
    const result = await read({ promptFeedback: { blockReason, safetyRatings: [] } }, last([{ text: 'Fine' }]), {
      usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 },
    });
    expect(result).toMatchObject({ text: 'Fine', finish: 'stop', raw: 'STOP', warnings: [] });
    expect(result.usage).toEqual({ inputTokens: 2, outputTokens: 3, totalTokens: 5 });
  });

  it('that is a block stays one, whatever follows', async () => {
    const result = await read({ promptFeedback: { blockReason: 'SAFETY' } }, last([{ text: 'No' }]), {
      promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' },
      usageMetadata: { promptTokenCount: 2, totalTokenCount: 2 },
    });
    expect(result).toMatchObject({ text: '', finish: 'content_filter', raw: 'SAFETY', error: undefined });
    expect(result.usage).toEqual({ inputTokens: 2, outputTokens: 0, totalTokens: 2 });
  });

  it('is a cut when the server paused a long answer and does not say how to go on', async () => {
    const result = await read(last([{ text: 'Chapter 1' }], {}, { finishReason: 'CONTINUATION' }));
    expect(result).toMatchObject({ text: 'Chapter 1', finish: 'length', raw: 'CONTINUATION' });
    expect(result.warnings.map(({ message }) => message)).toEqual(['Gemini paused this long answer; the rest of it was not asked for.']);
  });

  it('without a picture or a word is an empty answer', async () => {
    const none = {
      candidates: [{ content: {}, finishReason: 'NO_IMAGE', index: 0 }],
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    };
    expect(await read(none)).toMatchObject({ text: '', finish: 'other', raw: 'NO_IMAGE', error: undefined });
  });
});

describe('a request', () => {
  const tools = [{ name: 'note', description: '', inputSchema: { type: 'object' as const } }];
  const output = { name: 'answer', schema: { type: 'object' as const } };

  it.each<[NonNullable<ChatRequest['toolChoice']>, boolean]>([
    ['required', false],
    [{ tool: 'note' }, false],
    ['auto', true],
  ])('with tools, tool choice %j and a schema', async (toolChoice, hasSchema) => {
    for (const api of ['generate-content', 'interactions'] as const) {
      const prepared = await gemini({ ...BASE, api }).prepare!({ messages: [user('Hi')], tools, output, toolChoice }, contextOf());
      expect(/responseJsonSchema|response_format/.test(prepared.body)).toBe(hasSchema);
      expect(prepared.warnings.map(({ setting }) => setting)).toEqual(hasSchema ? [] : ['output']);
    }
  });

  it.each<[string, object, unknown]>([
    ['a tool of Google beside ours', { tools: [{ googleSearch: {} }] }, { includeServerSideToolInvocations: true }],
    ['functions only', { tools: [{ functionDeclarations: [{ name: 'f' }] }] }, undefined],
    [
      'a decision of the caller',
      { tools: { googleSearch: {} }, toolConfig: { includeServerSideToolInvocations: false } },
      { includeServerSideToolInvocations: false },
    ],
  ])('%s', async (_, gemini, toolConfig) => {
    const { json, warnings } = await bodyOf({ tools, providerOptions: { gemini: gemini as never } });
    expect(json.toolConfig).toEqual(toolConfig);
    expect(warnings).toEqual([]);
    expect(
      (await bodyOf({ tools, providerOptions: { gemini: { tools: [{ googleSearch: {} }] } } }, 'gemini-2.5-flash')).json.toolConfig,
    ).toBe(undefined);
  });
});
