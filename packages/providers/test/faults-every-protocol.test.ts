// Faults that users report of clients of one protocol or another, asked of every chat protocol here.
import {
  assistant,
  type CallOptions,
  type ChatAdapter,
  createEngine,
  type EngineConfig,
  type Message,
  toolResult,
  user,
} from '@antiphon/engine';
import { anthropic, gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import * as claude from './support/anthropic-wire.js';
import { LINEAR, smallestGrowth } from './support/growth.js';
import * as interactions from './support/interactions-wire.js';
import * as responses from './support/responses-wire.js';
import { contextOf, HELLO, run } from './support/run.js';
import { serve } from './support/server.js';
import { END, event, fn, send, sse, TEXT, TOOL_END, tools } from './support/wire.js';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

interface Protocol {
  readonly make: (options: { readonly fetch?: Fetch; readonly baseURL?: string }) => ChatAdapter;
  /** The events of the answer "Good day", without the last words of the stream. */
  readonly answer: readonly string[];
  /** An event of a kind of this name. */
  readonly ofKind: (kind: string) => string;
  /** An answer of one call whose arguments come in these pieces; the call stands at this place, where the protocol has places. */
  readonly callAt: (place: number, pieces: readonly string[]) => string;
}

const gen = (part: object, more: object = {}) => ({ candidates: [{ content: { role: 'model', parts: [part] }, ...more }] });
const named = (kind: string, data: object) => `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
const base = { model: 'm', baseURL: 'http://model.test', apiKey: 'sk-test-0123456789' };

const PROTOCOLS: Record<string, Protocol> = {
  openaiChat: {
    make: options => openaiChat({ ...base, ...options }),
    answer: [...TEXT, ...END].map(value => event(value)).concat(event('[DONE]')),
    ofKind: kind => named(kind, { object: kind, choices: [] }),
    callAt: (place, pieces) =>
      sse([...pieces.map((piece, i) => tools(fn(place, i === 0 ? 'c' : undefined, i === 0 ? 'f' : undefined, piece))), ...TOOL_END]),
  },
  openaiResponses: {
    make: options => openaiResponses({ ...base, ...options }),
    answer: [responses.created(), ...responses.message(0, 'Good day'), responses.completed()].map(value => responses.wire([value])),
    ofKind: kind => named(kind, { type: kind, output_index: 9, item: { type: kind } }),
    callAt: (place, pieces) => {
      const item = responses.callItem('f', pieces.join(''));
      const opened = { ...item, status: 'in_progress', arguments: '' };
      const deltas = pieces.map(piece => responses.argsDelta(place, piece));
      return responses.wire([
        responses.created(),
        responses.added(place, opened),
        ...deltas,
        responses.done(place, item),
        responses.completed(),
      ]);
    },
  },
  anthropic: {
    make: options => anthropic({ ...base, ...options }),
    answer: [claude.start(), ...claude.text(0, 'Good day'), ...claude.end('end_turn')].map(value => claude.event(value)),
    ofKind: kind => named(kind, { type: kind, index: 9, delta: { type: kind } }),
    callAt: (place, pieces) => claude.answer(claude.start(), claude.tool(place, 'c', 'f', ...pieces), claude.end('tool_use')),
  },
  gemini: {
    make: options => gemini({ ...base, ...options }),
    answer: [gen({ text: 'Good ' }), gen({ text: 'day' }, { finishReason: 'STOP' })].map(value => event(value)),
    ofKind: kind => named(kind, { [kind]: 1, candidates: [{ content: { parts: [{ text: '' }] } }] }),
    // Arguments are told leaf by leaf; the place is one in a list that they hold.
    callAt: (place, pieces) => {
      const calling = (functionCall: object) => event(gen({ functionCall }));
      const leaf = (stringValue: string) =>
        calling({ partialArgs: [{ jsonPath: '$.text', stringValue, willContinue: true }], willContinue: true });
      const [opened, ended] = [calling({ id: 'c', name: 'f', willContinue: true }), calling({})];
      const far = calling({ partialArgs: [{ jsonPath: `$.list[${place}]`, numberValue: 1 }], willContinue: true });
      const text = JSON.parse(pieces.join(''))
        .text.match(/.{1,8}/g)
        .map(leaf)
        .join('');
      return opened + text + (place > 0 ? far : '') + ended + event(gen({ text: '' }, { finishReason: 'STOP' }));
    },
  },
  'gemini, Interactions': {
    make: options => gemini({ ...base, api: 'interactions', ...options }),
    answer: [interactions.created(), ...interactions.output(0, 'Good day'), interactions.completed()].map(value => event(value)),
    ofKind: kind => named(kind, { event_type: kind }),
    callAt: (place, pieces) =>
      interactions.wire([
        interactions.created(),
        ...interactions.call(place, 'c', 'f', ...pieces),
        interactions.completed('requires_action'),
      ]),
  },
};

/** A fetch that keeps what it was sent. */
function server(body: string | null, init: ResponseInit = { headers: { 'content-type': 'text/event-stream' } }) {
  const sent: { url: string; body: string }[] = [];
  const fetch: Fetch = async (url, request) => {
    sent.push({ url: String(url), body: String(request?.body) });
    return new Response(body, init);
  };
  return { sent, fetch };
}

describe.each(Object.entries(PROTOCOLS))('%s', (_, { make, answer, ofKind, callAt }) => {
  test('events named like members of every object are only unknown events', async () => {
    const hostile = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'].map(ofKind);
    const body = answer.slice(0, -1).flatMap(piece => [piece, ...hostile]);
    const result = await run(make(server([...body, answer.at(-1)].join(''))));
    expect([result.error, result.text, result.finish]).toEqual([undefined, 'Good day', 'stop']);
  });

  test.each([
    ['no body', null],
    ['an empty body', ''],
    ['an empty object', '{}'],
    ['null', 'null'],
    ['an empty list', '[]'],
  ])('an answer of 200 with %s is no success', async (_case, body) => {
    for (const type of ['application/json', 'text/event-stream']) {
      const result = await run(make(server(body, { headers: { 'content-type': type } })));
      expect(result.finish).toBeUndefined();
      expect(['truncated', 'malformed_response']).toContain(result.error?.reason);
    }
  });

  test('the words of an error that comes as JSON with status 200 are kept', async () => {
    const body = JSON.stringify({ error: { message: 'The cat sat on it.', code: 400, status: 'FAILED_PRECONDITION' } });
    const result = await run(make(server(body, { headers: { 'content-type': 'application/json' } })));
    expect(result.error?.message).toContain('The cat sat on it.');
  });

  test('an answer that ends before its last event has failed, wherever it ends', async () => {
    for (let length = 0; length < answer.length - 1; length++) {
      const result = await run(make(server(answer.slice(0, length).join(''))));
      // openaiChat says its reason to stop two events before the end, and what follows is the account.
      if (result.finish !== undefined) expect(answer[length - 1]).toMatch(/finish_reason":"stop"|"usage"/);
      else expect(result.error?.reason).toBe('truncated');
    }
  });

  test('a huge index is only a name: nothing is allocated by it, and the call comes whole', async () => {
    const before = process.memoryUsage.rss();
    const result = await run(make(server(callAt(4_000_000_000, ['{"text":', '"abc"}']))));
    expect([result.error, result.calls.map(call => call.arguments)]).toEqual([undefined, [{ text: 'abc' }]]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200e6);
  });

  test('arguments that come in many pieces take linear time', async () => {
    const reading = (count: number) => {
      const body = callAt(0, ['{"text":"', ...Array.from({ length: count }, () => 'a}b{ c[ '), '"}']);
      return async () => {
        const result = await run(make(server(body)));
        expect(String(result.calls[0]?.arguments.text)).toHaveLength(8 * count);
      };
    };
    expect(await smallestGrowth(reading(1_500), reading(12_000))).toBeLessThan(LINEAR);
  });

  test('only one request is made, whatever the failure: the engine repeats, not the adapter', async () => {
    for (const status of [408, 429, 500, 503, 529]) {
      const { sent, fetch } = server('{"error":{"message":"No."}}', { status });
      expect((await run(make({ fetch }))).error).toBeDefined();
      expect(sent).toHaveLength(1);
      await createEngine({ chat: make({ fetch }), retry: { maxRetries: 2, baseMs: 1, capMs: 1 } }).chat('Hi');
      expect(sent).toHaveLength(4);
    }
  });

  test('what is meant for the engine does not reach the wire', async () => {
    const { sent, fetch } = server(answer.join(''));
    const config: EngineConfig = {
      context: { of: 'engine-secret' },
      defaults: { maxTurns: 3, timeouts: { idleMs: 77_777 } },
      retry: { maxRetries: 1 },
      prices: {},
    };
    const options: CallOptions = {
      timeoutMs: 77_777,
      timeouts: { firstByteMs: 77_777 },
      context: { of: 'call-secret' },
      sessionId: 'session-secret',
      requestId: 'request-secret',
      maxTurns: 2,
      retry: false,
      mode: 'manual',
      onStreamError: 'surface',
      stopWhen: () => false,
      budget: { tokens: 77_777 },
    };
    expect((await createEngine({ chat: make({ fetch }) }).chat('Hi')).text).toBe('Good day');
    expect((await createEngine({ chat: make({ fetch }), ...config }).chat('Hi', options)).text).toBe('Good day');
    expect(sent[1]).toEqual(sent[0]);
  });

  test('settings reach the wire from the engine, the request and the call alike, whole or streamed', async () => {
    const { sent, fetch } = server(answer.join(''));
    const chat = make({ fetch });
    const settings = { maxTokens: 1234, temperature: 0.25 };
    await createEngine({ chat, defaults: settings }).generate('Hi');
    await createEngine({ chat }).generate({ messages: [user('Hi')], ...settings });
    const { generate, step, chat: whole, streamGenerate, streamStep, stream } = createEngine({ chat });
    for (const call of [generate, step, whole]) await call('Hi', settings);
    for (const call of [streamGenerate, streamStep, stream]) await call('Hi', settings).outcome;
    expect(sent).toHaveLength(8);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    expect(sent[0]?.body).toMatch(/1234/);
    expect(sent[0]?.body).toMatch(/0\.25/);
  });

  test('the caller’s messages and tools are the same after a run', async () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    const { fetch } = server(answer.join(''));
    const request = freeze({ ...HELLO, tools: [{ name: 'f', description: 'd', inputSchema: { type: 'object', properties: {} } }] });
    expect((await run(make({ fetch }), request)).error).toBeUndefined();
  });

  test('Node is told not to give up when the first byte takes more than 300 seconds', async () => {
    const real = await serve(res => send(res, answer.join('')));
    const key = Symbol.for('undici.globalDispatcher.1');
    const world = globalThis as unknown as Record<symbol, { dispatch(options: object, handler: unknown): boolean }>;
    const adapter = make({ baseURL: real.url() });
    expect((await run(adapter)).text).toBe('Good day');
    const original = world[key]!;
    const seen: object[] = [];
    world[key] = {
      dispatch(options, handler) {
        seen.push(options);
        return original.dispatch(options, handler);
      },
    };
    try {
      expect((await run(adapter)).text).toBe('Good day');
    } finally {
      world[key] = original;
      await real.close();
    }
    expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
  });
});

describe('ids of calls that another provider made', () => {
  const key = { model: 'm', apiKey: 'sk-test-0123456789' };
  const foreign = ['functions.x:0', 'x'.repeat(450), 'x'.repeat(451), 'call_a|fc_b', 'call a fc b', 'abcdefghi', '__proto__'];
  const history = foreign.flatMap((id): Message[] => [
    assistant([{ type: 'tool_call', id, name: 'f', arguments: {}, rawArguments: '{}' }]),
    toolResult(id, `result of ${foreign.indexOf(id)}`, { name: 'f' }),
  ]);

  test.each<readonly [string, ChatAdapter, RegExp, RegExp]>([
    ['OpenAI', openaiChat({ ...key, baseURL: 'https://api.openai.com/v1' }), /"(?:tool_call_)?id":"([^"]*)"/g, /^.{1,40}$/],
    ['Mistral', openaiChat({ ...key, baseURL: 'https://api.mistral.ai/v1' }), /"(?:tool_call_)?id":"([^"]*)"/g, /^[A-Za-z0-9]{9}$/],
    ['OpenAI, Responses', openaiResponses(key), /"call_id":"([^"]*)"/g, /^.{1,64}$/],
    ['Anthropic', anthropic(key), /"(?:tool_use_)?id":"([^"]*)"/g, /^[A-Za-z0-9_-]+$/],
  ])('%s takes them, each result finds its call, and no two become one', async (_, adapter, ids, allowed) => {
    const { body } = await adapter.prepare!({ messages: [user('Hi'), ...history, user('And?')] }, contextOf());
    const sent = [...body.matchAll(ids)].map(([, id]) => id);
    for (const id of sent) expect(id).toMatch(allowed);
    expect(new Set(sent).size).toBe(foreign.length);
    for (let i = 0; i < sent.length; i += 2) expect(sent[i]).toBe(sent[i + 1]);
    expect(sent).toHaveLength(2 * foreign.length);
  });
});
