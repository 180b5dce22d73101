// What settings, headers and options become on the wire.
import { type ChatRequest, user } from '@antiphon/engine';
import { anthropic } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { traitsOf } from '../src/anthropic/models.js';
import { build, TOOL } from './support/anthropic-build.js';
import { refusal } from './support/anthropic-rules.js';
import { contextOf } from './support/run.js';

describe('settings', () => {
  test('the least that is sent', () => {
    expect(build({}).body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 64_000,
      stream: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
  });

  test.each<[string, string, Partial<ChatRequest>, object, string?]>([
    ['maxTokens', 'claude-sonnet-4-5', { maxTokens: 9 }, { max_tokens: 9 }],
    [
      'another model of the request',
      'claude-sonnet-4-5',
      { model: 'claude-3-haiku-20240307' },
      { model: 'claude-3-haiku-20240307', max_tokens: 4096 },
    ],
    ['temperature 0', 'claude-sonnet-4-5', { temperature: 0 }, { temperature: 0 }],
    ['temperature above 1', 'claude-sonnet-4-5', { temperature: 1.5 }, { temperature: 1 }, 'temperature'],
    ['temperature and topP', 'claude-sonnet-4-5', { temperature: 0.5, topP: 0.5 }, { temperature: 0.5, top_p: undefined }, 'topP'],
    ['temperature and topP, of old', 'claude-3-5-haiku-latest', { temperature: 0.5, topP: 0.5 }, { temperature: 0.5, top_p: 0.5 }],
    ['temperature of new models', 'claude-opus-5-5', { temperature: 0 }, { temperature: undefined }, 'temperature'],
    ['topP of new models', 'claude-opus-4-8', { topP: 0.5 }, { top_p: undefined }, 'topP'],
    ['temperature beside thinking', 'claude-sonnet-4-5', { temperature: 0, reasoning: 'low' }, { temperature: undefined }, 'temperature'],
    ['topP beside thinking', 'claude-sonnet-4-5', { topP: 0.96, reasoning: 'low' }, { top_p: 0.96 }],
    ['stop', 'claude-opus-5', { stop: ['a', ' \n'] }, { stop_sequences: ['a'] }, 'stop'],
    ['seed', 'claude-opus-5', { seed: 1 }, { seed: undefined }, 'seed'],
    ['effort as a budget', 'claude-sonnet-4-5', { reasoning: 'high' }, { thinking: { type: 'enabled', budget_tokens: 24_576 } }],
    [
      'a budget leaves half for the answer',
      'claude-sonnet-4-5',
      { reasoning: 'high', maxTokens: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    ['a budget that does not fit', 'claude-sonnet-4-5', { reasoning: 'low', maxTokens: 1024 }, { thinking: undefined }, 'reasoning'],
    ['no effort as no budget', 'claude-sonnet-4-5', { reasoning: 'none' }, { thinking: undefined }],
    ['effort of a model that cannot think', 'claude-3-5-haiku-latest', { reasoning: 'low' }, { thinking: undefined }, 'reasoning'],
    ['adaptive', 'claude-opus-4-6', { reasoning: 'medium' }, { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }],
    [
      'adaptive, with a summary',
      'claude-opus-5-5',
      { reasoning: 'high' },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    ],
    [
      'adaptive, minimal',
      'claude-opus-4-6',
      { reasoning: 'minimal' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      'reasoning',
    ],
    ['off: left out', 'claude-opus-4-8', { reasoning: 'none' }, { thinking: undefined, output_config: undefined }],
    ['off: disabled', 'claude-opus-5', { reasoning: 'none' }, { thinking: { type: 'disabled' } }],
    ['off: between tools', 'claude-sonnet-5-5', { reasoning: 'none' }, { thinking: { type: 'between_tools' } }],
    ['off: impossible', 'claude-opus-5-5', { reasoning: 'none' }, { thinking: undefined, output_config: { effort: 'low' } }, 'reasoning'],
    [
      'tools',
      'claude-opus-5',
      { tools: [TOOL] },
      { tools: [{ name: 'look', description: 'Looks', input_schema: TOOL.inputSchema }], tool_choice: undefined },
    ],
    [
      'a tool of few words',
      'claude-opus-5',
      { tools: [{ name: 'x', description: '', inputSchema: {} }] },
      { tools: [{ name: 'x', input_schema: { type: 'object' } }] },
    ],
    ['choice auto', 'claude-opus-5', { tools: [TOOL], toolChoice: 'auto' }, { tool_choice: { type: 'auto' } }],
    ['choice none', 'claude-opus-5', { tools: [TOOL], toolChoice: 'none' }, { tool_choice: { type: 'none' } }],
    ['choice required', 'claude-opus-5', { tools: [TOOL], toolChoice: 'required' }, { tool_choice: { type: 'any' } }],
    ['choice of a tool', 'claude-opus-5', { tools: [TOOL], toolChoice: { tool: 'look' } }, { tool_choice: { type: 'tool', name: 'look' } }],
    [
      'choice where none can be forced',
      'claude-sonnet-5-5',
      { tools: [TOOL], toolChoice: 'required' },
      { tool_choice: { type: 'auto' } },
      'toolChoice',
    ],
    ['choice without tools', 'claude-opus-5', { toolChoice: 'required' }, { tool_choice: undefined }, 'toolChoice'],
    [
      'a forced call beside thinking',
      'claude-sonnet-4-5',
      { tools: [TOOL], toolChoice: 'required', reasoning: 'low' },
      { thinking: undefined },
      'reasoning',
    ],
    [
      'one call at a time',
      'claude-opus-5',
      { tools: [TOOL], providerOptions: { anthropic: { disable_parallel_tool_use: true } } },
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true }, disable_parallel_tool_use: undefined },
    ],
    [
      'one forced call',
      'claude-opus-5',
      { tools: [TOOL], toolChoice: 'required', providerOptions: { anthropic: { disable_parallel_tool_use: true } } },
      { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    ],
    ['options', 'claude-opus-5', { providerOptions: { anthropic: { top_k: 5 }, openai: { x: 1 } } }, { top_k: 5, x: undefined }],
    ['options win', 'claude-opus-5', { maxTokens: 5, providerOptions: { anthropic: { max_tokens: 7 } } }, { max_tokens: 7 }, 'max_tokens'],
    [
      'options are put together',
      'claude-opus-5',
      { reasoning: 'low', providerOptions: { anthropic: { output_config: { effort: 'max' } } } },
      { output_config: { effort: 'max' } },
    ],
    [
      "the server's tools",
      'claude-opus-5',
      { tools: [TOOL], providerOptions: { anthropic: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] } } },
      { tools: [expect.objectContaining({ name: 'look' }), { type: 'web_search_20250305', name: 'web_search' }] },
    ],
  ])('%s (%s)', (_, model, request, fields, warning) => {
    const { body, warnings } = build(request, model);
    for (const [name, value] of Object.entries(fields)) expect(body[name], name).toEqual(value);
    expect(warnings.map(({ setting }) => setting)).toEqual(warning === undefined ? [] : [warning]);
    expect(refusal(body)).toBeUndefined();
  });

  test.each([
    ['claude-3-opus-20240229', 4096, 'none', true],
    ['claude-3-5-sonnet-20241022', 8192, 'none', true],
    ['claude-3-7-sonnet-latest', 32_000, 'budget', true],
    ['claude-sonnet-4-20250514', 32_000, 'budget', true],
    ['claude-opus-4-1-20250805', 32_000, 'budget', true],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 64_000, 'budget', true],
    ['anthropic/claude-opus-4.5', 64_000, 'budget', true],
    ['claude-opus-4-6', 128_000, 'adaptive', false],
    ['claude-fable-5-2', 128_000, 'adaptive', false],
    ['claude-opus-5@20260601', 128_000, 'adaptive', false],
    ['claude-novel-9', 128_000, 'adaptive', false],
    ['claude-next', 128_000, 'adaptive', false],
    ['kimi-k3', 8192, 'budget', true],
  ])('what %s can do', (model, maxTokens, thinking, prefill) => {
    expect(traitsOf(model)).toMatchObject({ maxTokens, thinking, prefill });
    const adapter = anthropic({ model, apiKey: 'k' });
    expect([adapter.continuation, adapter.provider, adapter.model]).toEqual([prefill, 'anthropic', model]);
  });
});

describe('headers and options', () => {
  const prepare = (options: object, request: Partial<ChatRequest> = {}, context = contextOf()) =>
    anthropic({ model: 'claude-opus-5', ...options }).prepare!({ messages: [user('Hi')], ...request }, context);

  test('what stands in the headers', async () => {
    const options = { apiKey: 'secret', betas: ['a', 'b'], version: '2030-01-01', headers: { 'anthropic-beta': 'b, c', 'x-y': 'z' } };
    const { headers, url } = await prepare(options, { providerOptions: { anthropic: { betas: ['d'] } } });
    expect(url).toBe('https://api.anthropic.com/v1/messages');
    expect(headers).toMatchObject({
      'x-api-key': '[redacted]',
      'anthropic-version': '2030-01-01',
      'anthropic-beta': 'a,b,c,d',
      'x-y': 'z',
      accept: 'text/event-stream',
    });
    expect((await prepare({})).headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
    expect((await prepare({})).headers).not.toHaveProperty('anthropic-beta');
  });

  test.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1/messages'],
    ['https://gate.test/anthropic', 'https://gate.test/anthropic/v1/messages'],
    ['https://gate.test/v1/messages?beta=true', 'https://gate.test/v1/messages?beta=true'],
  ])('%s', async (baseURL, url) => expect((await prepare({ baseURL })).url).toBe(url));

  test.each([
    { model: '' },
    { baseURL: 'ftp://x' },
    { baseURL: 'nonsense' },
    { baseURL: 'https://a:b@c.test' },
    { maxTokens: 0 },
    { maxTokens: 1.5 },
    { headers: { 'a b': 'c' } },
    { betas: ['ü🎉'] },
  ])('%j is refused at once', options => {
    expect(() => anthropic({ model: 'm', ...options })).toThrow(expect.objectContaining({ reason: 'invalid_option' }));
  });

  test('a foreign host gets neither the key of the environment nor that of the engine', async () => {
    const asked: string[] = [];
    const sent: (string | null)[] = [];
    const fetch = async (_: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).get('x-api-key'));
      return new Response('', { status: 500 });
    };
    const context = {
      ...contextOf(),
      apiKey: async (provider: string) => {
        asked.push(provider);
        return provider === 'anthropic' ? 'k' : undefined;
      },
    };
    for (const baseURL of ['https://gate.test', 'https://api.anthropic.com', 'http://127.0.0.1:9']) {
      const stream = anthropic({ model: 'm', baseURL, fetch })
        .stream({ messages: [user('Hi')] }, context)
        [Symbol.asyncIterator]();
      await expect(stream.next()).rejects.toMatchObject({ status: 500 });
    }
    expect([asked, sent]).toEqual([
      ['anthropic-compatible', 'anthropic', 'anthropic'],
      [null, 'k', 'k'],
    ]);
  });

  test('without a key nothing is sent', async () => {
    const fetch = async () => expect.unreachable();
    const context = { ...contextOf(), apiKey: async () => undefined };
    const before = process.env.ANTHROPIC_API_KEY;
    delete process.env.ANTHROPIC_API_KEY;
    const stream = anthropic({ model: 'm', fetch })
      .stream({ messages: [user('Hi')] }, context)
      [Symbol.asyncIterator]();
    await expect(stream.next()).rejects.toMatchObject({ reason: 'missing_key' });
    if (before !== undefined) process.env.ANTHROPIC_API_KEY = before;
  });
});
