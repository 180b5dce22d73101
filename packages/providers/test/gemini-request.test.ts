// What is sent: settings, tools, schemas, keys, errors of HTTP; and what is refused before anything is sent.
import {
  type AdapterContext,
  assistant,
  type ChatRequest,
  ConfigurationError,
  type ReasoningEffort,
  systemClock,
  user,
} from '@antiphon/engine';
import { type GeminiOptions, gemini, openaiChat } from '@antiphon/providers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { contextOf, HELLO, run } from './support/run.js';

const KEY = 'AIza-very-secret';
afterEach(() => vi.unstubAllEnvs());

async function built(request: Partial<ChatRequest>, model = 'gemini-3-flash-preview') {
  const adapter = gemini({ model, baseURL: 'http://model.test' });
  const prepared = await adapter.prepare!({ ...HELLO, ...request }, contextOf());
  return { ...prepared, json: JSON.parse(prepared.body) };
}

const settingsOf = (warnings: readonly { setting?: string }[]) => warnings.map(({ setting }) => setting);

describe('settings', () => {
  it('are said in the words of the API', async () => {
    const { json, warnings } = await built({ temperature: 0.5, topP: 0.9, maxTokens: 10, stop: ['END'], seed: 7 });
    expect(json.generationConfig).toEqual({ temperature: 0.5, topP: 0.9, maxOutputTokens: 10, stopSequences: ['END'], seed: 7 });
    expect(warnings).toEqual([]);
    expect((await built({})).json).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] });
  });

  it('that it does not have are told', async () => {
    const { json, warnings } = await built({ promptCache: { key: 'x' }, stop: ['1', '2', '3', '4', '5', '6'], toolChoice: 'required' });
    expect(settingsOf(warnings)).toEqual(['promptCache', 'stop', 'toolChoice']);
    expect(json.generationConfig.stopSequences).toHaveLength(5);
  });

  it.each<[string, ReasoningEffort, object | undefined, number]>([
    ['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'minimal', includeThoughts: true }, 0],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'low', includeThoughts: true }, 1],
    ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }, 0],
    ['gemini-3.8-flash', 'none', { thinkingLevel: 'low', includeThoughts: true }, 1],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, 0],
    ['gemini-2.5-flash-lite', 'high', { thinkingBudget: 24_576, includeThoughts: true }, 0],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128, includeThoughts: true }, 1],
    ['gemini-2.0-flash', 'high', undefined, 1],
    ['gemini-2.0-flash', 'none', undefined, 0],
    ['gemini-flash-latest', 'high', { thinkingLevel: 'high', includeThoughts: true }, 0],
  ])('%s with the effort %s', async (model, reasoning, expected, warned) => {
    const { json, warnings } = await built({ reasoning }, model);
    expect(json.generationConfig?.thinkingConfig).toEqual(expected);
    expect(settingsOf(warnings)).toEqual(Array(warned).fill('reasoning'));
  });

  it('of the caller are joined, and what they replace is told', async () => {
    const tools = [{ name: 'f', description: '', inputSchema: { type: 'object' } }];
    const { json, warnings } = await built({
      temperature: 0.5,
      tools,
      providerOptions: {
        gemini: { safetySettings: [], tools: [{ googleSearch: {} }], generationConfig: { temperature: 1, topK: 4 } },
        openai: { logprobs: true },
      },
    });
    expect(json).toMatchObject({ safetySettings: [], generationConfig: { temperature: 1, topK: 4 } });
    expect(json.tools).toEqual([{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] }, { googleSearch: {} }]);
    expect(settingsOf(warnings)).toEqual(['generationConfig.temperature']);
    expect(JSON.stringify(json)).not.toContain('logprobs');
  });
});

describe('provider state', () => {
  const content = (provider: string) => [{ type: 'text' as const, text: 'A', providerState: { [provider]: { thoughtSignature: 's1' } } }];

  it('goes to its own provider only', async () => {
    const messages = [...HELLO.messages, assistant(content('gemini')), user('Go on.')];
    expect((await built({ messages })).json.contents[1].parts).toEqual([{ text: 'A', thoughtSignature: 's1' }]);
    expect((await openaiChat({ model: 'm' }).prepare!({ messages }, contextOf())).body).not.toContain('s1');
    const foreign = [...HELLO.messages, assistant(content('anthropic')), user('Go on.')];
    expect((await built({ messages: foreign })).json.contents[1].parts).toEqual([{ text: 'A' }]);
  });
});

describe('tools', () => {
  const tools = [{ name: 'f', description: 'Does.', inputSchema: { type: 'object', properties: {} } }];

  it.each<[ChatRequest['toolChoice'], object]>([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [{ tool: 'f' }, { mode: 'ANY', allowedFunctionNames: ['f'] }],
  ])('choice %j', async (toolChoice, functionCallingConfig) => {
    expect((await built({ tools, toolChoice: toolChoice! })).json.toolConfig).toEqual({ functionCallingConfig });
  });

  it('schemas lose what the API does not know, and that is told once a tool', async () => {
    const inputSchema = {
      $schema: 'x',
      type: 'object',
      definitions: { d: { type: 'string', minLength: 1 } },
      properties: {
        pattern: { type: 'string', pattern: '^a' },
        ref: { $ref: '#/definitions/d', description: 'A d.' },
        only: { const: 5 },
        truth: { const: true },
        one: { allOf: [{ type: 'string', format: 'date' }] },
        list: { type: 'array', items: { type: 'integer', exclusiveMaximum: 3 }, uniqueItems: true },
        choice: { anyOf: [{ type: 'null' }, { type: 'number', default: 1 }] },
      },
      required: ['pattern'],
      additionalProperties: { type: 'string', not: {} },
    };
    const { json, warnings } = await built({ tools: [{ name: 'f', description: '', inputSchema }] });
    expect(json.tools[0].functionDeclarations[0].parametersJsonSchema).toEqual({
      type: 'object',
      $defs: { d: { type: 'string' } },
      properties: {
        pattern: { type: 'string' },
        ref: { $ref: '#/$defs/d' },
        only: { type: 'number', enum: [5] },
        truth: { type: 'boolean' },
        one: { type: 'string', format: 'date' },
        list: { type: 'array', items: { type: 'integer', maximum: 2 } },
        choice: { anyOf: [{ type: 'null' }, { type: 'number' }] },
      },
      required: ['pattern'],
      additionalProperties: { type: 'string' },
    });
    expect(warnings).toHaveLength(1);
    for (const word of ['pattern', 'minLength', 'description', 'const', 'uniqueItems', 'default', 'not'])
      expect(warnings[0]?.message).toContain(word);
    // The caller's own schema is as it was.
    expect(inputSchema.properties.pattern.pattern).toBe('^a');
  });
});

describe('addresses and keys', () => {
  const sent = async (options: Partial<GeminiOptions>, context: Partial<AdapterContext> = {}, request = HELLO) => {
    const seen: { url: string; headers: Headers }[] = [];
    const fetch: GeminiOptions['fetch'] = async (url, init) => {
      seen.push({ url: String(url), headers: new Headers(init?.headers) });
      return new Response(`data: {"candidates":[{"finishReason":"STOP"}]}\n\n`);
    };
    const result = await run(gemini({ model: 'gemini-x', fetch, ...options }), request, { ...contextOf(), ...context });
    return { ...result, ...seen[0], requests: seen.length };
  };

  it.each([
    [undefined, 'gemini-x', 'https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse'],
    ['https://proxy.test', 'gemini-x', 'https://proxy.test/v1beta/models/gemini-x:streamGenerateContent?alt=sse'],
    ['https://proxy.test/g/v1/?a=b', 'tunedModels/t', 'https://proxy.test/g/v1/tunedModels/t:streamGenerateContent?a=b&alt=sse'],
    [
      'https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google',
      'a b?',
      'https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/a%20b%3F:streamGenerateContent?alt=sse',
    ],
  ])('base %s, model %s', async (baseURL, model, url) => {
    const { url: asked, headers } = await sent({ model, apiKey: KEY, ...(baseURL === undefined ? {} : { baseURL }) });
    expect(asked).toBe(url);
    expect(headers?.get('x-goog-api-key')).toBe(KEY);
    expect(asked).not.toContain(KEY);
  });

  it('the request may name another model', async () => {
    expect((await sent({ apiKey: KEY }, {}, { ...HELLO, model: 'other' })).url).toContain('/models/other:');
  });

  it('takes the key from the option, the engine, then the environment of its own host', async () => {
    vi.stubEnv('GEMINI_API_KEY', '');
    vi.stubEnv('GOOGLE_API_KEY', 'from-environment');
    expect((await sent({})).headers?.get('x-goog-api-key')).toBe('from-environment');
    expect((await sent({ baseURL: 'http://elsewhere.test' })).headers?.has('x-goog-api-key')).toBe(false);
    expect((await sent({}, { apiKey: async name => `engine-${name}` })).headers?.get('x-goog-api-key')).toBe('engine-gemini');
    expect((await sent({ apiKey: () => 'own' }, { apiKey: async () => 'engine' })).headers?.get('x-goog-api-key')).toBe('own');
    expect((await sent({ apiKey: KEY, headers: { 'X-Goog-Api-Key': 'mine' } })).headers?.get('x-goog-api-key')).toBe('mine');
  });

  it('nothing is sent to Google without a key, but local faults come first', async () => {
    vi.stubEnv('GEMINI_API_KEY', '');
    vi.stubEnv('GOOGLE_API_KEY', '');
    expect(await sent({})).toMatchObject({ error: { name: 'ConfigurationError', reason: 'missing_key' }, requests: 0 });
    expect(await sent({}, {}, { messages: [] })).toMatchObject({ error: { reason: 'invalid_request' }, requests: 0 });
    expect(await sent({ headers: { authorization: 'Bearer t' } })).toMatchObject({ error: undefined, requests: 1 });
  });

  it('prepare shows no key and asks for none', async () => {
    const apiKey = vi.fn(() => KEY);
    const prepared = await gemini({ model: 'm', apiKey, headers: { 'x-auth-token': KEY } }).prepare!(HELLO, contextOf());
    expect(prepared.headers).toMatchObject({ 'x-goog-api-key': '[redacted]', 'x-auth-token': '[redacted]' });
    expect(JSON.stringify(prepared)).not.toContain(KEY);
    expect(apiKey).not.toHaveBeenCalled();
  });

  it.each<[string, unknown]>([
    ['no model', { model: '' }],
    ['a model that leaves its place', { model: '../../files' }],
    ['a relative URL', { model: 'm', baseURL: 'model.test' }],
    ['another protocol', { model: 'm', baseURL: 'ftp://model.test' }],
    ['a password in the URL', { model: 'm', baseURL: 'https://u:p@model.test' }],
    ['a key in the URL', { model: 'm', baseURL: 'https://model.test/v1beta?key=AIza' }],
    ['a bad header', { model: 'm', headers: { 'a b': 'c' } }],
  ])('refuses %s', (_, options) => {
    expect(() => gemini(options as GeminiOptions)).toThrow(ConfigurationError);
  });
});

describe('errors of HTTP', () => {
  const quota = (quotaId: string, ...more: object[]) => ({
    error: {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: 'You exceeded your current quota, please check your plan and billing details.',
      details: [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] }, ...more],
    },
  });
  const wait = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' };
  const plain = (code: number, status: string, message: string) => ({ error: { code, status, message } });

  it.each<[string, number, unknown, object]>([
    [
      'quota of the minute',
      429,
      quota('RequestsPerMinutePerProjectPerModel', wait),
      { reason: 'rate_limited', retryable: true, retryAfterMs: 34_500 },
    ],
    ['quota of the minute without a wait', 429, quota('RequestsPerMinutePerProjectPerModel'), { reason: 'rate_limited', retryable: true }],
    [
      'quota of the day',
      429,
      quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier', wait),
      { reason: 'insufficient_quota', retryable: false },
    ],
    ['a list', 429, [quota('GenerateRequestsPerDayPerProjectPerModel')], { reason: 'insufficient_quota', retryable: false }],
    ['exhausted', 429, plain(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted.'), { reason: 'rate_limited', retryable: true }],
    [
      'a wrong key',
      400,
      plain(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
      { reason: 'authentication_failed', retryable: false },
    ],
    ['forbidden', 403, plain(403, 'PERMISSION_DENIED', 'Denied.'), { reason: 'permission_denied' }],
    ['no such model', 404, plain(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta'), { reason: 'model_not_found' }],
    [
      'too long',
      400,
      plain(400, 'INVALID_ARGUMENT', 'The input token count (1189808) exceeds the maximum number of tokens allowed (1048575).'),
      { reason: 'context_length_exceeded' },
    ],
    ['overloaded', 503, plain(503, 'UNAVAILABLE', 'The model is overloaded.'), { reason: 'provider_unavailable', retryable: true }],
    ['too slow', 504, plain(504, 'DEADLINE_EXCEEDED', 'Deadline expired.'), { reason: 'timeout', retryable: true }],
  ])('%s', async (_, status, body, expected) => {
    const text = JSON.stringify(body).replace('}', `,"echo":"${KEY}"}`);
    const fetch = async () => new Response(text, { status });
    const { error, events } = await run(gemini({ model: 'm', apiKey: KEY, fetch }));
    expect(error).toMatchObject({ name: 'AdapterError', provider: 'gemini', status, ...expected });
    expect(JSON.stringify(error)).not.toContain(KEY);
    expect(events).toEqual([]);
  });

  it('the same error inside a stream is the same error', async () => {
    const fetch = async () => new Response(`data: ${JSON.stringify(quota('GenerateRequestsPerDay', wait))}\n\n`);
    expect((await run(gemini({ model: 'm', apiKey: KEY, fetch }))).error).toMatchObject({
      reason: 'insufficient_quota',
      retryable: false,
      status: 429,
    });
  });

  it('a message never shows the key', async () => {
    const fetch = async () => new Response(JSON.stringify(plain(400, 'X', `Bad key ${KEY}.`)), { status: 400 });
    const { error } = await run(gemini({ model: 'm', apiKey: KEY, fetch }));
    expect(error?.message).not.toContain(KEY);
  });

  it('an abort throws the reason of the signal', async () => {
    const controller = new AbortController();
    const reason = { why: 'enough' };
    const fetch = async () => new Response(`data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n`);
    const context = { signal: controller.signal, requestId: 'r', clock: systemClock };
    const read = async () => {
      for await (const event of gemini({ model: 'm', apiKey: KEY, fetch }).stream({ messages: [user('Hi')] }, context))
        if (event.type === 'text_delta') controller.abort(reason);
    };
    await expect(read()).rejects.toBe(reason);
  });
});
