// Faults that a history makes on the wire: names that a model made up, reasoning and signatures that do not come along, instructions that a
// model does not take.
import { assistant, type ChatAdapter, type ChatRequest, type Message, system, toolResult, user } from '@antiphon/engine';
import { anthropic, gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import * as claude from './support/anthropic-wire.js';
import * as interactions from './support/interactions-wire.js';
import * as responses from './support/responses-wire.js';
import { contextOf, run } from './support/run.js';
import { event, fn, sse, TOOL_END, tools } from './support/wire.js';

const key = { model: 'm', apiKey: 'sk-test-0123456789' };
const openai = { ...key, baseURL: 'https://api.openai.com/v1' };
const google = { ...key, baseURL: 'https://generativelanguage.googleapis.com' };

const bodyOf = async (adapter: ChatAdapter, request: ChatRequest) => (await adapter.prepare!(request, contextOf())).body;
const calling = (id: string, name: string): Message[] => [
  assistant([{ type: 'tool_call', id, name, arguments: {}, rawArguments: '{}' }]),
  toolResult(id, 'There is no such tool.', { name, isError: true }),
];
const offering = (name: string) => ({ name, description: '', inputSchema: { type: 'object' } });
const namesIn = (body: string) => [...body.matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name!);

describe('names that a model made up', () => {
  const odd = ['', 'functions.write', 'write file', '3d', 'x'.repeat(200), `${'x'.repeat(200)}y`, 'größe', 'a'.repeat(100), '名前'];
  const history = odd.flatMap((name, i) => calling(`call_${i}`, name));
  const word = /^[A-Za-z0-9_-]{1,64}$/;
  const letterFirst = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
  const targets: [string, ChatAdapter, RegExp][] = [
    ['OpenAI', openaiChat(openai), word],
    ['OpenAI, Responses', openaiResponses(key), word],
    ['Anthropic', anthropic(key), /^[A-Za-z0-9_-]{1,128}$/],
    ['Gemini', gemini(key), letterFirst],
    ['Gemini, Interactions', gemini({ ...key, api: 'interactions' }), letterFirst],
    ['Gemini, in the chat dialect', openaiChat(google), letterFirst],
  ];

  test.each(targets)('%s takes a history in which a model made a name up', async (_, adapter, allowed) => {
    const names = namesIn(await bodyOf(adapter, { messages: [user('Hi'), ...history, user('And?')] }));
    for (const name of names) expect(name).toMatch(allowed);
    expect(new Set(names).size).toBe(odd.length);
  });

  test.each(targets)('%s: none of them becomes that of a tool that exists', async (_, adapter) => {
    const messages = [
      user('Hi'),
      ...calling('c1', 'write file'),
      ...calling('c2', 'write/file'),
      ...calling('c3', 'write_file'),
      user('And?'),
    ];
    const request = { messages, tools: [offering('write_file')], toolChoice: { tool: 'write_file' } };
    const names = namesIn(await bodyOf(adapter, request));
    const own = names.filter(name => name === 'write_file');
    const made = new Set(names.filter(name => name !== 'write_file'));
    expect(own.length).toBeGreaterThanOrEqual(2);
    expect([...made]).toEqual([expect.stringMatching(/^write_file_\w{9}$/), expect.stringMatching(/^write_file_\w{9}$/)]);
  });

  test('a result has the name of its call', async () => {
    const body = await bodyOf(gemini(key), { messages: [user('Hi'), ...calling('c', '3 d'), user('And?')] });
    expect(namesIn(body)).toEqual(['_3_d', '_3_d']);
    expect(namesIn(await bodyOf(gemini(key), { messages: [user('Hi'), { role: 'tool', callId: 'a|b', content: 'x' }] }))).toEqual([
      'unknown',
    ]);
  });

  test('the same request has the same names again, also when the thread has grown', async () => {
    const [short, long] = [
      [user('Hi'), ...history],
      [user('Hi'), ...history, user('And?'), ...calling('z', 'write|file')],
    ];
    const [before, after] = await Promise.all([short, long].map(async messages => namesIn(await bodyOf(openaiChat(openai), { messages }))));
    expect(after!.slice(0, before!.length)).toEqual(before);
  });
});

describe('a tool whose name the vendor does not take', () => {
  const body = (text: string) => async () => new Response(text);
  const gen = (name: string) => event({ candidates: [{ content: { role: 'model', parts: [{ functionCall: { name, args: {} } }] } }] });
  const cases: [string, string, string, (fetch: () => Promise<Response>) => ChatAdapter, (name: string) => string][] = [
    ['OpenAI', 'fs.read', 'fs_read', fetch => openaiChat({ ...openai, fetch }), n => sse([tools(fn(0, 'c', n, '{}')), ...TOOL_END])],
    [
      'OpenAI, Responses',
      'fs.read',
      'fs_read',
      fetch => openaiResponses({ ...key, fetch }),
      n => responses.wire([responses.created(), ...responses.call(0, responses.callItem(n, '{}')), responses.completed()]),
    ],
    [
      'Anthropic',
      'fs.read',
      'fs_read',
      fetch => anthropic({ ...key, fetch }),
      n => claude.answer(claude.start(), claude.tool(0, 'c', n, '{}'), claude.end('tool_use')),
    ],
    [
      'Gemini',
      '3d-render',
      '_3d-render',
      fetch => gemini({ ...key, fetch }),
      n => `${gen(n)}${event({ candidates: [{ finishReason: 'STOP' }] })}`,
    ],
    [
      'Gemini, Interactions',
      '3d-render',
      '_3d-render',
      fetch => gemini({ ...key, api: 'interactions', fetch }),
      n => interactions.wire([interactions.created(), ...interactions.call(0, 'c', n, '{}'), interactions.completed('requires_action')]),
    ],
  ];
  test.each(cases)('%s: it is called by a name that fits, and its caller is told its own', async (_, own, sent, make, answer) => {
    const adapter = make(body(answer(sent)));
    const request = { messages: [user('Hi'), ...calling('c0', own), user('Go')], tools: [offering(own)], toolChoice: { tool: own } };
    const text = await bodyOf(adapter, request);
    expect(new Set(namesIn(text))).toEqual(new Set([sent]));
    expect(text).not.toContain(`"${own}"`);
    const result = await run(adapter, request);
    expect([result.error, result.calls.map(({ name }) => name)]).toEqual([undefined, [own]]);
    expect(result.events.find(({ type }) => type === 'tool_call_start')).toMatchObject({ name: own });
  });
});

describe('encrypted reasoning', () => {
  const asks = async (model: string, baseURL?: string) =>
    (await bodyOf(openaiResponses({ ...key, ...(baseURL === undefined ? {} : { baseURL }) }), { messages: [user('Hi')], model })).includes(
      'reasoning.encrypted_content',
    );
  test.each(['gpt-7', 'o5', 'o5-mini', 'ft:o4-mini:me::1', 'gpt-5.4', 'a-name-of-next-year'])(
    'is asked of %s, whatever comes next',
    async model => {
      expect(await asks(model)).toBe(true);
    },
  );
  test.each(['gpt-4.1', 'gpt-4o-mini', 'ft:gpt-4o:me::1', 'gpt-3.5-turbo', 'gpt-5-chat-latest', 'chatgpt-4o-latest'])(
    'is not asked of %s, which would refuse',
    async model => {
      expect(await asks(model)).toBe(false);
    },
  );
  test.each<[string, boolean]>([
    ['openai/gpt-7', true],
    ['openai/o5', true],
    ['openai/gpt-4o', false],
    ['openai/gpt-oss-120b', false],
    ['anthropic/claude-sonnet-5', false],
    ['my-deployment', false],
  ])('elsewhere the name has to say it: %s', async (model, asked) => {
    expect(await asks(model, 'https://gateway.test/v1')).toBe(asked);
  });
});

describe('Google', () => {
  test.each(['gemma-3-27b-it', 'models/gemma-3n-e4b-it'])(
    '%s, which takes no system instruction, is told in the first words',
    async model => {
      const request = { messages: [system('Be brief.'), user('Hi')] };
      const { body, warnings } = await gemini({ ...key, model }).prepare!(request, contextOf());
      expect(JSON.parse(body)).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hi' }] }] });
      expect(warnings).toMatchObject([{ code: 'other', message: expect.stringContaining('takes no system messages') }]);
    },
  );

  test('Gemma 4 takes it as Gemini does', async () => {
    const body = await bodyOf(gemini({ ...key, model: 'gemma-4-31b-it' }), { messages: [system('Be brief.'), user('Hi')] });
    expect(JSON.parse(body)).toMatchObject({ systemInstruction: { parts: [{ text: 'Be brief.' }] } });
  });

  test('a call of its own without a signature is not said to be of another model', async () => {
    const messages = [user('Hi'), ...calling('c', 'look')];
    const { warnings } = await gemini({ ...key, model: 'gemini-3-flash' }).prepare!({ messages }, contextOf());
    expect(warnings.map(({ message }) => message)).toEqual([
      'A tool call in the history has no thought signature; the request asks Gemini not to look for one.',
    ]);
  });
});
