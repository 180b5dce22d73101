// openaiResponses against a server that enforces what the API enforces, and against servers that misbehave.
import { getEventListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createEngine, type Message, tool, user } from '@antiphon/engine';
import { adapterConformance, type ChatScenario, type ChatUnderTest } from '@antiphon/engine/testing';
import { openaiResponses } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import {
  argsDelta,
  call,
  callItem,
  completed,
  created,
  done,
  type Item,
  incomplete,
  message,
  reasoningItem,
  summaryDelta,
  textDelta,
  wire,
} from './support/responses-wire.js';
import { contextOf, HELLO, run } from './support/run.js';
import { type Answer, serve, type TestServer, until } from './support/server.js';

const KEY = 'sk-very-secret-123';

/** Items that this server has given out, by id, as JSON text. Nothing is stored: they have to come back whole. */
const given = new Map<string, string>();

/** Why the API would refuse this input; undefined when it would not. */
function fault(input: readonly Item[]): string | undefined {
  const calls = new Map<string, string>();
  for (const [i, item] of input.entries()) {
    const id = item.id as string | undefined;
    if (id !== undefined && !given.has(id))
      return `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
    if (id !== undefined && given.get(id) !== JSON.stringify(item)) return `Item '${id}' was changed.`;
    if (item.type === 'reasoning' && !item.encrypted_content) return `Item with id '${id}' not found.`;
    if (item.type === 'reasoning' && (input[i + 1] === undefined || input[i + 1]!.role === 'user'))
      return `Item '${id}' of type 'reasoning' was provided without its required following item.`;
    if (item.type === 'function_call' || item.type === 'custom_tool_call') calls.set(String(item.call_id), item.type);
    if (item.type?.endsWith('_call_output') && calls.get(String(item.call_id)) !== item.type.slice(0, -'_output'.length))
      return `No tool call found for function call output with call_id ${item.call_id}.`;
    if (item.type?.endsWith('_call_output')) calls.delete(String(item.call_id));
  }
  const [open] = calls.keys();
  return open === undefined ? undefined : `No tool output found for function call ${open}.`;
}

const strictServer: Answer = (res, req) => {
  const body = JSON.parse(lastBody(req)) as { input: Item[]; store?: boolean; include?: string[] };
  const refused =
    req.headers.authorization !== `Bearer ${KEY}` ? 'Incorrect API key provided.' : body.store !== false ? 'store' : fault(body.input);
  if (refused !== undefined) return json(res, 400, { error: { message: refused, type: 'invalid_request_error', code: null } });
  const turn = body.input.filter(item => item.type === 'function_call_output').length / 2;
  const reasoning = reasoningItem([`Turn ${turn}`], {
    id: `rs_${turn}`,
    encrypted_content: body.include?.includes('reasoning.encrypted_content') ? 'gAAA' : null,
  });
  const items: Item[] =
    turn < 2
      ? [
          reasoning,
          callItem('add', '{"n": 1}', { id: `fc_${turn}a`, call_id: `call_${turn}a` }),
          callItem('add', '{"n":2}', { id: `fc_${turn}b`, call_id: `call_${turn}b` }),
        ]
      : [
          reasoning,
          { type: 'mcp_call', id: 'mcp_1', name: 't', arguments: '{}', output: 'ok' },
          ...message(0, 'Three.', { id: 'msg_9' }).flatMap(event =>
            'item' in event && event.type.endsWith('done') ? [event.item as Item] : [],
          ),
        ];
  for (const item of items) given.set(String(item.id), JSON.stringify(item));
  stream(res, [created(), ...items.map((item, i) => done(i, item)), completed()]);
};

let server: TestServer;
const lastBody = (_: IncomingMessage) => server.requests.at(-1)!.body;
const json = (res: ServerResponse, status: number, value: unknown, headers = {}) => {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(value));
};
const stream = (res: ServerResponse, values: readonly object[], raw = '') => {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' });
  res.end(wire(values) + raw);
};
const plain =
  (body: string, type = 'text/event-stream'): Answer =>
  res => {
    res.writeHead(200, { 'content-type': type });
    res.end(body);
  };
const HI = [created(), ...message(0, 'Hi'), completed()];

beforeAll(async () => {
  server = await serve({
    strict: strictServer,
    approval: res =>
      stream(res, [
        created(),
        done(0, { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'zip', tools: [] }),
        done(1, reasoningItem()),
        done(2, { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'zip', name: 'shorten', arguments: '{}' }),
        completed(),
      ]),
    'wrong key': res =>
      json(res, 401, { error: { message: `Incorrect API key provided: ${KEY}.`, type: 'invalid_request_error', code: 'invalid_api_key' } }),
    quota: res =>
      json(res, 429, { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } }),
    slow: res => json(res, 429, { error: { message: 'Slow down' } }, { 'retry-after': '7' }),
    html: plain('<!doctype html><html><head><title>Sign in</title></head></html>', 'text/html'),
    empty: plain(''),
    words: plain('hello there'),
    'bare error': plain('{"error":{"message":"Boom","code":"server_error"}}\n\n'),
    'json error': plain('{"error":{"message":"Boom","code":"server_error"}}', 'application/json'),
    'key in an error': plain(wire([{ type: 'error', code: 'server_error', message: `Boom for ${KEY}` }])),
    cut: plain(wire([created(), textDelta(0, 'Hel')])),
    'cut in an event': plain(`${wire([created(), textDelta(0, 'Hel')])}data: {"type":"response.comp`),
    lost: res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(wire([created(), textDelta(0, 'Hel')]), () => res.destroy());
    },
    bom: plain(`\uFEFF${wire(HI)}`),
    'no names': plain(HI.map(value => `data:${JSON.stringify(value)}\r\r`).join('')),
    'glued events': plain(`${HI.map(value => `data: ${JSON.stringify(value)}\n`).join('')}\n`),
    'lines of JSON': plain(HI.map(value => JSON.stringify(value)).join('\n')),
    'a bad event': plain(`data: {"type":\n\n${wire(HI)}`),
    'an unreadable end': plain(`${wire(HI.slice(0, -1))}data: {"type":"response.completed","response":{\n\n`),
    'done mark': plain(`${wire(HI)}data: [DONE]\n\n`),
    'odd values': plain(
      `data: 7\n\ndata: null\n\ndata: []\n\ndata: {}\n\ndata: : ping\n\ndata: {"type":"response.output_item.added","output_index":0,"item":null}\n\n${wire(HI)}`,
    ),
    huge: plain(wire([created(), ...message(0, 'x'.repeat(3_000_000)), completed()])),
    'open end': res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(wire(HI));
    },
    'done mark without an end, open': res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`${wire([created(), textDelta(0, 'Hel')])}data: [DONE]\n\n`);
    },
    stalls: res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(wire([created(), textDelta(0, 'Hel')]));
    },
  });
});
afterAll(() => server.close());

const at = (name: string, apiKey = KEY) => openaiResponses({ model: 'gpt-5.4', baseURL: server.url(name), apiKey });

describe('a server that enforces the rules', () => {
  const add = tool({ name: 'add', description: 'Adds', input: { type: 'object', properties: { n: { type: 'number' } } }, run: () => 3 });

  it('takes every request of a conversation with tools', async () => {
    const engine = createEngine({ chat: at('strict'), tools: [add], retry: false });
    const first = await engine.chat('Add.');
    expect([first.status, first.text, first.steps.length, first.reasoning]).toEqual(['completed', 'Three.', 3, 'Turn 0Turn 1Turn 2']);
    const stored = JSON.parse(JSON.stringify(first.messages)) as Message[];
    const second = await engine.chat([...stored, user('Once more.')]);
    expect([second.status, second.text, second.warnings]).toEqual(['completed', 'Three.', []]);
  });

  it('refuses what it should, which proves that it looks', async () => {
    const { error } = await run(at('strict'), { messages: [{ role: 'tool', callId: 'c', content: '3' }] });
    expect([error?.reason, error?.message]).toEqual(['invalid_request', expect.stringContaining('No tool call found')]);
    expect((await run(at('strict', 'sk-other'))).error?.reason).toBe('authentication_failed');
  });
});

describe('an approval', () => {
  it('is asked for in one answer and given in the next request', async () => {
    const engine = createEngine({ chat: at('approval'), retry: false });
    const asked = await engine.chat('Shorten it.');
    expect([asked.status, asked.text, asked.finishReason]).toEqual(['completed', '', 'stop']);
    expect(asked.warnings[0]?.message).toContain('mcp_approval_response');
    const input = [{ type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }];
    await engine.chat(JSON.parse(JSON.stringify(asked.messages)), {
      providerOptions: { openai: { input }, 'openai-compatible': { input } },
    });
    const sent = JSON.parse(server.requests.at(-1)!.body) as { input: Item[] };
    expect(sent.input.map(item => item.type ?? item.role)).toEqual([
      'user',
      'mcp_list_tools',
      'reasoning',
      'mcp_approval_request',
      'mcp_approval_response',
    ]);
  });
});

describe('failures', () => {
  test.each<[string, string, boolean, RegExp, string?]>([
    ['wrong key', 'authentication_failed', false, /Incorrect API key/],
    ['quota', 'insufficient_quota', false, /quota/],
    ['slow', 'rate_limited', true, /Slow down/],
    ['html', 'malformed_response', false, /Sign in/],
    ['empty', 'truncated', true, /empty/],
    ['words', 'malformed_response', false, /hello there/],
    ['bare error', 'provider_unavailable', true, /Boom/],
    ['json error', 'provider_unavailable', true, /Boom/],
    ['key in an error', 'provider_unavailable', true, /Boom for \[redacted\]/],
    ['cut', 'truncated', false, /before the response was complete/, 'Hel'],
    ['cut in an event', 'truncated', false, /before the response was complete/, 'Hel'],
    ['lost', 'network_error', false, /lost/, 'Hel'],
    ['nowhere', 'invalid_request', false, /404/],
  ])('%s', async (name, reason, retryable, words, text = '') => {
    const { error, ...result } = await run(at(name));
    expect([error?.reason, error?.retryable, result.text, result.finish]).toEqual([reason, retryable, text, undefined]);
    expect(error?.message).toMatch(words);
    expect(JSON.stringify([error, error?.message, error?.stack, result])).not.toContain(KEY);
    if (name === 'slow') expect(error?.retryAfterMs).toBe(7_000);
    if (name === 'key in an error') expect(error?.requestId).toBeUndefined();
  });

  test.each<[string, string[]?]>([
    ['bom'],
    ['no names'],
    ['glued events'],
    ['lines of JSON'],
    ['a bad event', ['malformed_event']],
    ['an unreadable end', ['malformed_event']],
    ['done mark'],
    ['odd values'],
    ['open end'],
  ])('%s is read all the same', async (name, warned = []) => {
    const result = await run(at(name));
    expect([result.text, result.error, result.finish, result.warnings.map(warning => warning.code)]).toEqual([
      'Hi',
      undefined,
      'stop',
      warned,
    ]);
  });

  it('a huge event is one event', async () => {
    const result = await run(at('huge'));
    expect([result.text.length, result.error]).toEqual([3_000_000, undefined]);
  });

  it('nothing is waited for behind [DONE]', async () => {
    const { text, error } = await run(at('done mark without an end, open'));
    expect([text, error?.reason]).toEqual(['Hel', 'truncated']);
  });

  it('no key, no request', async () => {
    const before = server.requests.length;
    const adapter = openaiResponses({ model: 'm', baseURL: server.url('strict'), profile: { name: 'openai', needsKey: true } });
    const { error } = await run(adapter);
    expect([error?.name, error?.reason, server.requests.length]).toEqual(['ConfigurationError', 'missing_key', before]);
  });

  it('an abort closes the socket, and leaves no listener', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const reading = (async () => {
      for await (const event of at('stalls').stream(HELLO, contextOf(signal)))
        if (event.type === 'text_delta') controller.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await until(() => server.sockets.size === 0, 'the socket is closed');
  });

  it('passes the server’s events on when asked, without the key', async () => {
    const { events } = await run(at('key in an error'), { ...HELLO, raw: true });
    const raw = events.flatMap(event => (event.type === 'raw' ? [event.value] : []));
    expect(raw).toEqual([{ type: 'error', code: 'server_error', message: 'Boom for [redacted]' }]);
  });
});

/** The events of a scenario, as the server writes them. */
function* wireOf({ text = [], reasoning = [], toolCalls = [], finish, usage, ends }: ChatScenario): Generator<object> {
  yield created();
  let index = 0;
  if (reasoning.length > 0) {
    for (const delta of reasoning) yield summaryDelta(index, delta);
    yield done(index++, reasoningItem([reasoning.join('')]));
  }
  if (text.length > 0) {
    for (const delta of text) yield textDelta(index, delta);
    while (ends === 'endless') yield textDelta(index, text.at(-1)!);
    if (ends === 'complete') yield message(index, text.join(''))[2]!;
    index++;
  }
  for (const { id, name, rawArguments } of toolCalls) {
    const item = callItem(name, rawArguments, { call_id: id });
    const [first, ...rest] = call(index++, item);
    yield first!;
    const half = Math.ceil(rawArguments.length / 2);
    yield argsDelta(index - 1, rawArguments.slice(0, half));
    yield argsDelta(index - 1, rawArguments.slice(half));
    if (finish !== 'length' && ends === 'complete') yield rest.at(-1)!;
  }
  if (ends !== 'complete') return;
  const counts = usage && {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
  };
  const last = finish === 'length' ? incomplete('max_output_tokens') : completed();
  yield { ...last, response: { ...last.response, usage: counts ?? null } };
}

function underTest(scenario: ChatScenario): ChatUnderTest {
  const seen = { requests: 0, open: 0, sent: 0 };
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    seen.requests++;
    const { failure, ends } = scenario;
    if (failure) {
      const headers = failure.retryAfterMs === undefined ? {} : { 'retry-after': String(failure.retryAfterMs / 1000) };
      return new Response(JSON.stringify({ error: { message: failure.message } }), { status: failure.status, headers });
    }
    seen.open++;
    const events = wireOf(scenario);
    const source: UnderlyingDefaultSource<Uint8Array> = {
      pull(controller) {
        const { done: over, value } = events.next();
        if (!over) {
          seen.sent++;
          controller.enqueue(new TextEncoder().encode(wire([value])));
        } else if (ends !== 'open') {
          seen.open--;
          if (ends === 'lost')
            controller.error(new TypeError('terminated', { cause: Object.assign(new Error('gone'), { code: 'ECONNRESET' }) }));
          else controller.close();
        }
      },
      cancel() {
        seen.open--;
      },
    };
    init?.signal?.throwIfAborted();
    return new Response(new ReadableStream(source, { highWaterMark: 0 }), { headers: { 'content-type': 'text/event-stream' } });
  };
  const adapter = openaiResponses({ model: 'm', baseURL: 'http://model.test/v1', fetch });
  return { adapter, requests: () => seen.requests, open: () => seen.open, sent: () => seen.sent };
}

describe('openaiResponses holds the contract of a chat adapter', () => {
  const cases = adapterConformance(underTest);
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(35));
  for (const { name, run: runCase } of cases) test(name, runCase);
});

test('an answer of another protocol is no success', async () => {
  const body = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const { error } = await run(openaiResponses({ model: 'm', apiKey: 'k', fetch }));
  expect(error?.reason).toBe('truncated');
});
