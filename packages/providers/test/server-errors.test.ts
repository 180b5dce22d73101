// What vendors say when something is wrong, in their own words, and what kind of failure that is.
import { assistant, createEngine, user } from '@antiphon/engine';
import { gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { run } from './support/run.js';

describe('a wait that only the message tells', () => {
  it.each<[string, number | undefined]>([
    ['Rate limit reached for one. Please try again in 1.898s. Visit …', 1898],
    ['Please try again in 20 seconds.', 20_000],
    ['Please try again in 28ms.', 28],
    ['Please try again in 7m12s.', 432_000],
    ['Please try again in 1h2m3.5s.', 3_723_500],
    ['Please try again in a moment.', undefined],
  ])('%s', async (message, wait) => {
    const body = { type: 'response.failed', response: { status: 'failed', error: { code: 'rate_limit_exceeded', message } } };
    const fetch = async () => new Response(`data: ${JSON.stringify(body)}\n\n`);
    const { error } = await run(openaiResponses({ model: 'one', baseURL: 'http://127.0.0.1:9', fetch }));
    expect([error?.reason, error?.retryable, error?.retryAfterMs]).toEqual(['rate_limited', true, wait]);
  });
});

describe('the words of a vendor', () => {
  it.each<[string, number, object | string, string, boolean?]>([
    ['OpenRouter: wrong model', 400, { message: 'acme/one is not a valid model ID', code: 400 }, 'model_not_found'],
    ['OpenRouter: nobody serves the model', 404, { message: 'No endpoints found for acme/one.', code: 404 }, 'model_not_found'],
    [
      'Moonshot: wrong model',
      404,
      { message: 'Not found the model one or Permission denied', type: 'resource_not_found_error' },
      'model_not_found',
    ],
    ['GitHub Copilot: wrong model', 400, { message: 'The requested model is not supported.' }, 'model_not_found'],
    ['GitHub Copilot: wrong model, by code', 400, { message: 'no', code: 'model_not_supported' }, 'model_not_found'],
    ['a field that a model does not know', 400, { message: "'seed' is not supported with this model." }, 'invalid_request'],
    ['Moonshot: too long', 400, { message: 'Invalid request: Your request exceeded model token limit: 8192' }, 'context_length_exceeded'],
    ['Alibaba: too long', 400, { message: 'Range of input length should be [1, 98304]' }, 'context_length_exceeded'],
    [
      'GitHub Copilot: too long',
      400,
      { message: 'prompt token count of 90000 exceeds the limit of 64000', code: 'model_max_prompt_tokens_exceeded' },
      'context_length_exceeded',
    ],
    ['GitHub: too long', 413, { message: 'Request body too large for acme model. Max size: 8000 tokens.' }, 'context_length_exceeded'],
    [
      'Together: too long',
      400,
      { message: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.' },
      'context_length_exceeded',
    ],
    ['Z.ai: too long', 400, { message: 'Prompt exceeds max length', code: '1261' }, 'context_length_exceeded'],
    ['Bedrock behind a gateway: too long', 400, { message: 'Input is too long for requested model.' }, 'context_length_exceeded'],
    [
      'vLLM: too long',
      400,
      { message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.' },
      'context_length_exceeded',
    ],
    ['an answer that is asked for too long', 400, { message: "'max_tokens' is too large: 100000." }, 'invalid_request'],
    [
      'xAI: no credits',
      429,
      'Your team has either used all available credits or reached its monthly spending limit.',
      'insufficient_quota',
    ],
    ['xAI: never had any', 403, "Your newly created team doesn't have any credits or licenses yet.", 'insufficient_quota'],
    ['OpenRouter: the key is used up', 403, { message: 'Key limit exceeded (total limit).', code: 403 }, 'insufficient_quota'],
    [
      'Cerebras: a quota of the minute',
      429,
      { message: 'Tokens per minute limit exceeded', code: 'token_quota_exceeded' },
      'rate_limited',
      true,
    ],
    ['a gateway: a key without the right', 401, { message: 'no', code: 'missing_permissions' }, 'permission_denied'],
    ['ElevenLabs: too long', 400, { message: 'no', code: 'max_character_limit_exceeded' }, 'context_length_exceeded'],
    ['Azure: a picture that is not allowed', 400, { message: 'no', code: 'contentFilter' }, 'content_filter'],
    ['Groq: no capacity now', 498, { message: 'flex tier', type: 'capacity_exceeded' }, 'provider_unavailable', true],
  ])('%s', async (_, status, error, reason, retryable = false) => {
    const fetch = async () => new Response(JSON.stringify({ error }), { status });
    const result = await run(openaiChat({ model: 'one', baseURL: 'http://127.0.0.1:9', fetch }));
    expect(result.error).toMatchObject({ name: 'AdapterError', reason, retryable, status });
  });
});

describe('a wait in the details of Google', () => {
  it.each<[unknown, number | undefined]>([
    ['34.074824224s', 34_075],
    ['2s', 2000],
    [{ seconds: 3, nanos: 500_000_000 }, 3500],
    [{ seconds: '7' }, 7000],
    [{}, undefined],
    ['soon', undefined],
  ])('%j', async (retryDelay, wait) => {
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'no', details: [{ retryDelay }] };
    const fetch = async () => new Response(JSON.stringify({ error }), { status: 429 });
    const result = await run(gemini({ model: 'one', apiKey: 'k', fetch }));
    expect(result.error?.retryAfterMs).toBe(wait);
  });
});

it.each([
  ['openaiChat', openaiChat],
  ['openaiResponses', openaiResponses],
])('%s: a user message without any part is left out, with a warning', async (_, make) => {
  const engine = createEngine({ chat: make({ model: 'one', baseURL: 'http://127.0.0.1:9' }) });
  const { body, warnings = [] } = await engine.prepareRequest([user('Hi'), assistant('Yes?'), user([]), user('Go on.')]);
  expect(JSON.stringify(body)).not.toContain('[]');
  expect(warnings.map(({ message }) => message).join()).toContain('without content');
});
