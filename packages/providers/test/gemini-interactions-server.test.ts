// Interactions with a server that enforces what the API enforces: what is sent and how a thread goes back.
import {
  assistant,
  type ChatRequest,
  ConfigurationError,
  filePart,
  imagePart,
  type Message,
  type ReasoningEffort,
  system,
  textPart,
  tool,
  toolResult,
  user,
} from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { type Json, server } from './support/interactions-server.js';
import { call, completed, created, output, start, stop, thought } from './support/interactions-wire.js';
import { contextOf, HELLO, run } from './support/run.js';

async function sent(request: Partial<ChatRequest>, model?: string) {
  const { bodies, chat } = server();
  const result = await run(chat(model), { ...HELLO, ...request });
  return { body: bodies[0] as Json, ...result };
}

const weather = tool({
  name: 'weather',
  description: 'Tells.',
  input: { type: 'object', properties: { city: { type: 'string', pattern: '^O' } } },
  run: () => ({ celsius: 12 }),
});
const SPEC = { name: 'f', description: '', inputSchema: { type: 'object' } };
const userStep = (text: string) => ({ type: 'user_input', content: [{ type: 'text', text }] });

describe('a request', () => {
  it('says settings in the words of the API, and stores nothing', async () => {
    const { body, error, warnings } = await sent({
      messages: [system('Be brief.'), system('Be kind.'), ...HELLO.messages],
      ...{ temperature: 0.5, topP: 0.9, maxTokens: 10, stop: ['END'], seed: 7, reasoning: 'low', tools: [SPEC], toolChoice: 'required' },
    });
    expect([error, warnings]).toEqual([undefined, []]);
    expect(body).toEqual({
      model: 'gemini-3-flash-preview',
      input: [userStep('Say hello.')],
      stream: true,
      store: false,
      system_instruction: 'Be brief.\n\nBe kind.',
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      generation_config: {
        ...{ temperature: 0.5, top_p: 0.9, max_output_tokens: 10, stop_sequences: ['END'], seed: 7 },
        ...{ thinking_level: 'low', thinking_summaries: 'auto', tool_choice: 'any' },
      },
    });
    const bare = { model: 'gemini-x', input: [userStep('Say hello.')], stream: true, store: false };
    expect((await sent({}, 'models/gemini-x')).body).toEqual(bare);
  });

  it.each<[ChatRequest['toolChoice'], unknown]>([
    ['auto', 'auto'],
    ['none', 'none'],
    [{ tool: 'f' }, { allowed_tools: { mode: 'any', tools: ['f'] } }],
  ])('with the choice %j', async (toolChoice, expected) => {
    expect((await sent({ tools: [SPEC], toolChoice: toolChoice! })).body.generation_config).toEqual({ tool_choice: expected });
  });

  it.each<[string, ReasoningEffort, string | undefined, number]>([
    ['gemini-3-pro-preview', 'medium', 'low', 1],
    ['gemini-2.5-flash', 'high', 'high', 0],
    ['gemini-2.5-flash', 'none', 'minimal', 1],
    ['gemini-2.0-flash', 'high', undefined, 1],
  ])('%s with the effort %s', async (model, reasoning, level, warned) => {
    const { body, warnings } = await sent({ reasoning }, model);
    expect((body.generation_config as Json | undefined)?.thinking_level).toBe(level);
    expect(warnings.map(({ setting }) => setting)).toEqual(Array(warned).fill('reasoning'));
  });

  it('holds the answer to a schema', async () => {
    const output = { name: 'o', schema: { type: 'object', properties: { a: { type: 'string', minLength: 1 } } } };
    const { body, warnings } = await sent({ output });
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(body.response_format).toEqual([{ type: 'text', mime_type: 'application/json', schema }]);
    expect(warnings).toHaveLength(1);
  });

  it('joins the caller’s own fields, and tells what they replace', async () => {
    const own = {
      ...{ store: true, service_tier: 'flex', tools: [{ type: 'google_search' }], response_format: { type: 'image' } },
      ...{ generation_config: { temperature: 1 }, system_instruction: 'Mine.' },
    };
    const { body, warnings } = await sent({
      messages: [system('Hers.'), user('Hi')],
      temperature: 0.5,
      tools: [SPEC],
      providerOptions: { gemini: own },
    });
    expect(body).toMatchObject({
      store: true,
      service_tier: 'flex',
      response_format: [{ type: 'image' }],
      generation_config: { temperature: 1 },
    });
    expect((body.tools as Json[]).map(({ type }) => type)).toEqual(['function', 'google_search']);
    expect(warnings.map(({ setting }) => setting)).toEqual(['generation_config.temperature', 'system_instruction']);
    const agent = await sent({ providerOptions: { gemini: { agent: 'deep-research', background: true } } });
    expect(agent.body).toMatchObject({ agent: 'deep-research', background: true, store: true });
    expect(agent.error).toBeUndefined();
  });

  it('without anything to answer is refused before it is sent, as an unknown api is at once', async () => {
    const { bodies, chat } = server();
    expect((await run(chat(), { messages: [system('Hm.')] })).error).toMatchObject({ reason: 'invalid_request' });
    expect(bodies).toEqual([]);
    for (const api of ['Interactions', 'constructor']) expect(() => gemini({ model: 'm', api } as never)).toThrow(ConfigurationError);
  });

  it('can be seen without a key', async () => {
    const prepared = await gemini({ model: 'm', api: 'interactions', apiKey: 'k-secret' }).prepare!(HELLO, contextOf());
    expect(prepared.url).toBe('https://generativelanguage.googleapis.com/v1beta/interactions');
    expect(prepared.headers).toMatchObject({ 'x-goog-api-key': '[redacted]', accept: 'text/event-stream' });
    expect(JSON.stringify(prepared)).not.toContain('k-secret');
  });
});

describe('a thread', () => {
  const SEARCH = [start(1, { type: 'google_search_call', id: 'g1', arguments: { queries: ['x'] }, signature: '' }), stop(1)];
  const FOUND = [
    start(2, { type: 'google_search_result', call_id: 'g1', signature: 's2', result: [{ search_suggestions: '<div/>' }] }),
    stop(2),
  ];

  it('goes back step by step, with the signatures byte for byte', async () => {
    const calls = [
      ...call(4, 'c1', 'weather', '{"city":"Oslo"}'),
      start(5, { type: 'function_call', id: 'c2', name: 'weather', arguments: { city: 'Olbia' }, signature: 's5' }),
      stop(5),
    ];
    const { bodies, engine } = server([
      created({ id: '' }),
      thought(0, 'a+/=', 'Hm.'),
      SEARCH,
      FOUND,
      output(3, 'Wait.'),
      calls,
      completed('requires_action', { id: '' }),
    ]);
    const { text, status: end } = await engine().chat('Weather?', { tools: [weather] });
    expect([text, end]).toEqual(['ok', 'completed']);
    expect(bodies[1]!.input).toEqual([
      userStep('Weather?'),
      { type: 'thought', signature: 'a+/=', summary: [{ type: 'text', text: 'Hm.' }] },
      { type: 'google_search_call', id: 'g1', arguments: { queries: ['x'] } },
      { type: 'google_search_result', call_id: 'g1', signature: 's2', result: [{ search_suggestions: '<div/>' }] },
      { type: 'model_output', content: [{ type: 'text', text: 'Wait.' }] },
      { type: 'function_call', id: 'c1', name: 'weather', arguments: { city: 'Oslo' } },
      { type: 'function_call', id: 'c2', name: 'weather', arguments: { city: 'Olbia' }, signature: 's5' },
      { type: 'function_result', call_id: 'c1', name: 'weather', result: '{"celsius":12}' },
      { type: 'function_result', call_id: 'c2', name: 'weather', result: '{"celsius":12}' },
    ]);
  });

  it('that Google remembers is not sent again', async () => {
    const { bodies, engine } = server([created(), thought(0, 's0'), call(1, 'c1', 'weather', '{}'), completed('requires_action')]);
    const first = await engine().generate([system('Be brief.'), user('Weather?')], {
      tools: [weather],
      providerOptions: { gemini: { store: true } },
    });
    const messages = [...first.messages, toolResult('c1', 'Rain.')];
    const gemini = { store: true, previous_interaction_id: first.responseId! };
    const second = await engine().generate(messages, { tools: [weather], providerOptions: { gemini } });
    expect(second.text).toBe('ok');
    expect(bodies[1]).toMatchObject({ previous_interaction_id: 'v1_a', system_instruction: 'Be brief.' });
    expect(bodies[1]!.input).toEqual([{ type: 'function_result', call_id: 'c1', name: 'weather', result: 'Rain.' }]);
    // An answer of words alone is found too, and one that is not in the thread changes nothing.
    const options = (previous_interaction_id: string) => ({ providerOptions: { gemini: { previous_interaction_id } } });
    await engine().generate([...second.messages, user('And now?')], options('v1_a'));
    expect(bodies[2]!.input).toEqual([userStep('And now?')]);
    await engine().generate([user('Weather?'), assistant('Rain.'), user('And now?')], options('v1_a'));
    expect(bodies[3]!.input).toHaveLength(3);
  });

  it('of another provider goes on without its signatures', async () => {
    const foreign = { anthropic: { signature: 'x' } };
    const messages: Message[] = [
      user('Hi'),
      assistant([
        { type: 'reasoning', text: 'Hm.', providerState: foreign },
        { ...textPart('Well.'), providerState: foreign },
        { type: 'tool_call', id: 'c9', name: 'f', arguments: {}, rawArguments: '', providerState: foreign },
      ]),
      toolResult('c9', [{ type: 'json', value: 7 }], { isError: true }),
      assistant('Done.'),
      system('Be quick.'),
      user([
        textPart('Look'),
        imagePart('AAAA'),
        filePart('AAAA', 'application/pdf'),
        filePart(btoa('a,b'), 'text/csv', 't.csv'),
        imagePart({ url: 'https://i.test/1' }, 'image/*'),
      ]),
    ];
    const { body, error } = await sent({ messages });
    expect(error).toBeUndefined();
    expect(body.input).toEqual([
      userStep('Hi'),
      { type: 'model_output', content: [{ type: 'text', text: 'Well.' }] },
      { type: 'function_call', id: 'c9', name: 'f', arguments: {} },
      { type: 'function_result', call_id: 'c9', name: 'f', result: '7', is_error: true },
      { type: 'model_output', content: [{ type: 'text', text: 'Done.' }] },
      userStep('Be quick.'),
      {
        type: 'user_input',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', mime_type: 'image/png', data: 'AAAA' },
          { type: 'document', mime_type: 'application/pdf', data: 'AAAA' },
          { type: 'text', text: 'File t.csv:\na,b' },
          { type: 'image', uri: 'https://i.test/1' },
        ],
      },
    ]);
  });

  it.each([
    ['gemini-3-flash-preview', 1],
    ['gemini-2.5-flash', 0],
  ])('brings the pictures of tools to %s', async (model, inside) => {
    const called = assistant([{ type: 'tool_call', id: 'c1', name: 'f', arguments: {}, rawArguments: '' }]);
    const result = toolResult('c1', [textPart('A map'), imagePart('AAAA'), filePart('BBBB', 'application/pdf')]);
    const { body, error, warnings } = await sent({ messages: [user('Hi'), called, result] }, model);
    expect(error).toBeUndefined();
    const [answer, more] = (body.input as Json[]).slice(2);
    expect(JSON.stringify(answer).split('AAAA').length - 1).toBe(inside);
    expect(JSON.stringify(more).split('AAAA').length - 1).toBe(1 - inside);
    expect(JSON.stringify(more)).toContain('BBBB');
    expect(warnings).toHaveLength(2 - inside);
  });

  it('may change between Google’s two APIs', async () => {
    const { engine } = server([
      created({ id: '' }),
      thought(0, 's0', 'Hm.'),
      call(1, 'c1', 'weather', '{}'),
      completed('requires_action', { id: '' }),
    ]);
    const { messages } = await engine().generate('Weather?', { tools: [weather] });
    const other = gemini({ model: 'gemini-2.5-flash', baseURL: 'http://model.test' });
    const { contents } = JSON.parse((await other.prepare!({ messages: [...messages, toolResult('c1', 'Rain.')] }, contextOf())).body);
    expect(contents[1].parts).toEqual([
      { text: 'Hm.', thought: true, thoughtSignature: 's0' },
      { functionCall: { name: 'weather', args: {} } },
    ]);
  });
});
