// The account of an answer in our terms.
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { run } from './support/run.js';

function read(told: object) {
  const body = [told, { candidates: [{ finishReason: 'STOP' }] }].map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  return run(gemini({ model: 'm', baseURL: 'http://model.test', fetch: async () => new Response(body) }));
}

describe('usage', () => {
  it.each([
    [
      { promptTokenCount: 10, toolUsePromptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 18 },
      { inputTokens: 15, outputTokens: 3, totalTokens: 18 },
    ],
    [
      { promptTokenCount: 10, thoughtsTokenCount: 7, totalTokenCount: 17 },
      { inputTokens: 10, outputTokens: 7, totalTokens: 17, reasoningTokens: 7 },
    ],
    [
      { promptTokenCount: 10, cachedContentTokenCount: 8, responseTokenCount: 2 },
      { inputTokens: 10, outputTokens: 2, cachedInputTokens: 8 },
    ],
    [{ promptTokenCount: -1, candidatesTokenCount: 'x' }, {}],
    [{ trafficType: 'ON_DEMAND' }, {}],
  ])('%j', async (usageMetadata, expected) => {
    expect((await read({ usageMetadata })).usage).toEqual(expected);
  });
});
