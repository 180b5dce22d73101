// What openaiResponses sends.
import {
  assistant,
  audioPart,
  type ChatRequest,
  filePart,
  imagePart,
  type Message,
  system,
  textPart,
  toolResult,
  user,
} from '@antiphon/engine';
import { openaiResponses } from '@antiphon/providers';
import { describe, expect, it, test } from 'vitest';
import { completed, created, done, message, messageItem, messageOf, prepare, readEvents, reasoningItem } from './support/responses-wire.js';

const tool = { name: 'add', description: 'Adds', inputSchema: { type: 'object', properties: {} } };
const at = (baseURL: string, profile?: string) => openaiResponses({ model: 'm', baseURL, ...(profile === undefined ? {} : { profile }) });
const own = (openai: object, more: Partial<ChatRequest> = {}) => prepare({ ...more, providerOptions: { openai: openai as never } });

describe('where', () => {
  test.each([
    [undefined, 'https://api.openai.com/v1/responses', 'openai'],
    ['https://api.openai.com', 'https://api.openai.com/v1/responses', 'openai'],
    ['https://api.openai.com/v1/', 'https://api.openai.com/v1/responses', 'openai'],
    ['https://api.openai.com/v1/responses', 'https://api.openai.com/v1/responses', 'openai'],
    ['https://me.openai.azure.com', 'https://me.openai.azure.com/openai/v1/responses', 'azure'],
    [
      'https://me.openai.azure.com/openai/responses?api-version=2025-04-01',
      'https://me.openai.azure.com/openai/responses?api-version=2025-04-01',
      'azure',
    ],
    ['http://127.0.0.1:1234', 'http://127.0.0.1:1234/v1/responses', 'lmstudio'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1/responses', 'openrouter'],
    ['https://api.githubcopilot.com/responses', 'https://api.githubcopilot.com/responses', 'github-copilot'],
  ])('%s', async (baseURL, url, provider) => {
    const adapter = openaiResponses({ model: 'm', ...(baseURL === undefined ? {} : { baseURL }) });
    expect([(await prepare({}, adapter)).url, adapter.provider, adapter.structuredOutput]).toEqual([url, provider, true]);
  });

  test.each([
    { model: '' },
    { model: 'm', baseURL: 'nowhere' },
    { model: 'm', profile: 'nobody' },
    { model: 'm', headers: { 'a b': 'c' } },
  ])('%j is refused at once', options => {
    expect(() => openaiResponses(options)).toThrowError(expect.objectContaining({ name: 'ConfigurationError', reason: 'invalid_option' }));
  });

  it('shows no key', async () => {
    const shown = await prepare({}, openaiResponses({ model: 'm', apiKey: 'sk-secret', headers: { 'x-team': 'a' } }));
    expect(shown.headers).toMatchObject({ authorization: '[redacted]', 'x-team': 'a', accept: 'text/event-stream' });
    expect((await prepare({}, at('https://me.openai.azure.com'))).headers).toMatchObject({ 'api-key': '[redacted]' });
  });
});

describe('messages', () => {
  const SAID = { role: 'assistant', content: 'Hello' };
  const cases: [string, Message, object][] = [
    ['instructions', system('Be brief.'), { role: 'system', content: 'Be brief.' }],
    ['words', user('Hi'), { role: 'user', content: 'Hi' }],
    [
      'parts',
      user([textPart('See'), imagePart('AAAA')]),
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'See' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
        ],
      },
    ],
    [
      'an image by its address',
      user([imagePart({ url: 'https://a.test/b.png' }, 'image/png', 'low')]),
      { content: [{ type: 'input_image', image_url: 'https://a.test/b.png', detail: 'low' }] },
    ],
    [
      'a PDF',
      user([filePart('AAAA', 'application/pdf', 'a.pdf')]),
      { content: [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }] },
    ],
    [
      'a PDF by its address',
      user([filePart({ url: 'https://a.test/a.pdf' }, 'application/pdf')]),
      { content: [{ type: 'input_file', file_url: 'https://a.test/a.pdf' }] },
    ],
    ['a text file', user([filePart('SGk=', 'text/plain', 'a.txt')]), { content: [{ type: 'input_text', text: 'File a.txt:\nHi' }] }],
    ['what another model said', assistant([textPart('Hel'), { type: 'source', url: 'https://a.test' }, textPart('lo')]), SAID],
    [
      'a call of another model',
      assistant([{ type: 'tool_call', id: 'toolu_1', name: 'add', arguments: { a: 1 }, rawArguments: '{"a": 1}' }]),
      { type: 'function_call', call_id: 'toolu_1', name: 'add', arguments: '{"a": 1}' },
    ],
    [
      'a call that cannot be read',
      assistant([{ type: 'tool_call', id: 'c', name: 'add', arguments: {}, rawArguments: '{"a' }]),
      { type: 'function_call', call_id: 'c', name: 'add', arguments: '{}' },
    ],
    ['a result', toolResult('c', '3'), { type: 'function_call_output', call_id: 'c', output: '3' }],
    ['a result of texts and values', toolResult('c', [textPart('Sum:'), { type: 'json', value: { n: 3 } }]), { output: 'Sum:\n{"n":3}' }],
    [
      'a result with a picture',
      toolResult('c', [textPart('Look'), imagePart('AAAA')]),
      {
        output: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
    ],
  ];
  test.each(cases)('%s', async (_, one, item) => {
    const { body, warnings } = await prepare({ messages: [one] });
    expect([body.input.length, warnings.length]).toEqual([1, item === SAID ? 1 : 0]);
    expect(body.input[0]).toMatchObject(item);
  });

  it('sound goes where it is taken', async () => {
    const messages = [user([audioPart('AAAA', 'audio/mpeg')])];
    const refused = await prepare({ messages });
    expect([refused.body.input[0]!.content, refused.warnings.length]).toEqual([
      [{ type: 'input_text', text: '[audio (audio/mpeg) that cannot be shown]' }],
      1,
    ]);
    const taken = await prepare({ messages }, at('http://127.0.0.1:8000'));
    expect(taken.body.input[0]!.content).toEqual([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }]);
    const flac = await prepare({ messages: [user([audioPart('AAAA', 'audio/x-flac')])] }, at('http://127.0.0.1:8000'));
    expect(flac.body.input[0]!.content).toMatchObject([{ input_audio: { format: 'flac' } }]);
  });

  it('what cannot be sent is told', async () => {
    const { body, warnings } = await prepare({ messages: [assistant(''), assistant([imagePart('AAAA')]), user('Hi')] });
    expect([body.input.length, warnings.map(warning => warning.code)]).toEqual([1, ['repaired_history', 'other']]);
  });

  it('ids that are too long are shortened, alike for call and result', async () => {
    const id = 'x'.repeat(100);
    const { body } = await prepare({
      messages: [assistant([{ type: 'tool_call', id, name: 'add', arguments: {}, rawArguments: '{}' }]), toolResult(id, '3')],
    });
    expect(String(body.input[0]!.call_id).length).toBeLessThanOrEqual(40);
    expect(body.input[0]!.call_id).toBe(body.input[1]!.call_id);
  });

  it('state of this provider stays with it', async () => {
    const mine = messageOf((await readEvents([created(), done(0, reasoningItem(['Hm'])), ...message(1, 'Yes'), completed()])).events);
    expect((await prepare({ messages: [mine] }, at('https://me.openai.azure.com'))).body.input).toEqual([
      { role: 'assistant', content: 'Yes' },
    ]);
  });

  it.each(['gpt-4o', 'openai/gpt-4.1-mini', 'ft:gpt-4o:acme', 'gpt-5-chat-latest'])('reasoning is not shown to %s', async model => {
    const earlier = messageOf((await readEvents([created(), done(0, reasoningItem(['Hm'])), ...message(1, 'Yes'), completed()])).events);
    const { body, warnings } = await prepare({ messages: [user('Go'), earlier, user('On')], model });
    const { id: _, ...anonymous } = messageItem('Yes');
    expect(body.input).toEqual([{ role: 'user', content: 'Go' }, anonymous, { role: 'user', content: 'On' }]);
    expect(warnings.map(warning => warning.code)).toEqual(['repaired_history']);
  });

  it('an id goes without the reasoning that it rests on', async () => {
    const whole = messageOf((await readEvents([created(), done(0, reasoningItem()), ...message(1, 'Yes'), completed()])).events);
    const cut = { ...whole, content: (whole.content as []).slice(1) };
    const { id: _, ...anonymous } = messageItem('Yes');
    expect((await prepare({ messages: [cut] })).body.input).toEqual([anonymous]);
  });
});

describe('settings', () => {
  const cases: [string, Partial<ChatRequest>, object, string[]?][] = [
    ['nothing', {}, { model: 'm', input: [], stream: true, store: false }],
    ['numbers', { temperature: 0.5, topP: 0.9, maxTokens: 7 }, { temperature: 0.5, top_p: 0.9, max_output_tokens: 7 }],
    ['what it has not', { stop: ['x'], seed: 1 }, {}, ['stop', 'seed']],
    ['effort', { reasoning: 'low' }, { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] }],
    ['no effort', { reasoning: 'none', model: 'gpt-5.4' }, { reasoning: { effort: 'none' }, include: undefined }],
    ['a model that reasons', { model: 'gpt-5.4-mini' }, { include: ['reasoning.encrypted_content'] }],
    ['another that does', { model: 'openai/o4-mini' }, { include: ['reasoning.encrypted_content'] }],
    ['a model that does not', { model: 'gpt-4.1' }, { include: undefined }],
    ['a chat model', { model: 'gpt-5-chat-latest' }, { include: undefined }],
    [
      'a tool',
      { tools: [tool] },
      { tools: [{ type: 'function', name: 'add', description: 'Adds', parameters: tool.inputSchema, strict: false }] },
    ],
    ['a choice', { tools: [tool], toolChoice: 'required' }, { tool_choice: 'required' }],
    ['one tool', { tools: [tool], toolChoice: { tool: 'add' } }, { tool_choice: { type: 'function', name: 'add' } }],
    ['a choice of nothing', { toolChoice: 'required' }, { tool_choice: undefined }, ['toolChoice']],
    [
      'a schema',
      { output: { name: 'p', schema: { type: 'object', properties: { a: {} }, required: ['a'] } } },
      {
        text: {
          format: {
            type: 'json_schema',
            name: 'p',
            strict: true,
            schema: { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false },
          },
        },
      },
    ],
    [
      'a schema with options',
      { output: { name: 'p', schema: { type: 'object', properties: { a: {} } } } },
      { text: { format: { strict: false, schema: { type: 'object', properties: { a: {} } } } } },
    ],
    ['a cache', { promptCache: { key: 'k', retention: 'long' } }, { prompt_cache_key: 'k', prompt_cache_retention: '24h' }],
  ];
  test.each(cases)('%s', async (_, request, body, warned = []) => {
    const sent = await prepare(request);
    expect(sent.body).toMatchObject(Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)));
    for (const [field, value] of Object.entries(body)) if (value === undefined) expect(sent.body).not.toHaveProperty(field);
    expect(sent.warnings.map(warning => warning.setting)).toEqual(warned);
  });

  it('a server on this machine is not asked for encrypted reasoning, nor for a cache', async () => {
    const { body, warnings } = await prepare({ reasoning: 'high', promptCache: { key: 'k' } }, at('http://127.0.0.1:1234'));
    expect([body.include, body.reasoning, warnings.map(warning => warning.setting)]).toEqual([
      undefined,
      { effort: 'high' },
      ['promptCache'],
    ]);
  });
});

describe('options of the provider', () => {
  it('come on top of tools, and beside settings of the same group', async () => {
    const { body, warnings } = await own(
      {
        tools: [{ type: 'web_search' }],
        include: ['web_search_call.action.sources'],
        reasoning: { summary: 'auto' },
        text: { verbosity: 'low' },
        service_tier: 'flex',
      },
      { tools: [tool], reasoning: 'low', output: { name: 'p', schema: { type: 'object' } } },
    );
    expect((body.tools as { type: string }[]).map(one => one.type)).toEqual(['function', 'web_search']);
    expect(body).toMatchObject({
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
      reasoning: { effort: 'low', summary: 'auto' },
      text: { verbosity: 'low', format: { name: 'p' } },
      service_tier: 'flex',
    });
    expect(warnings).toEqual([]);
  });

  it('say when they replace something', async () => {
    const { body, warnings } = await own({ temperature: 1, reasoning: { effort: 'high' } }, { temperature: 0, reasoning: 'low' });
    expect([body.temperature, body.reasoning, warnings.map(warning => warning.setting)]).toEqual([
      1,
      { effort: 'high' },
      ['temperature', 'reasoning.effort'],
    ]);
  });

  it('can make a tool take free text', async () => {
    const custom = { type: 'custom', name: 'add', format: { type: 'text' } };
    const { body } = await own({ tools: [custom] }, { tools: [tool], toolChoice: { tool: 'add' } });
    expect([body.tools, body.tool_choice]).toEqual([[custom], { type: 'custom', name: 'add' }]);
  });

  it('answer an approval request, behind the conversation', async () => {
    const answer = { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true };
    expect((await own({ input: [answer] }, { messages: [user('Hi')] })).body.input).toEqual([{ role: 'user', content: 'Hi' }, answer]);
  });

  it('continue a response that is stored: what the server has is not sent again', async () => {
    const first = messageOf((await readEvents([created({ store: true }), ...message(0, 'Hello'), completed({ store: true })])).events);
    const messages = [user('Hi'), first, user('And?')];
    const { body } = await own({ previous_response_id: 'resp_1', store: true }, { messages });
    expect([body.input, body.previous_response_id, body.store]).toEqual([[{ role: 'user', content: 'And?' }], 'resp_1', true]);
    expect((await own({ previous_response_id: 'another' }, { messages })).body.input.length).toBe(3);
  });

  it('run in the background, which has to be stored', async () => {
    expect((await own({ background: true }, { model: 'gpt-5.4' })).body).toMatchObject({ background: true, store: true, stream: true });
  });
});
