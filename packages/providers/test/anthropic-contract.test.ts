// The engine's conformance kit on anthropic, and whole runs over a real HTTP server that refuses what the API refuses.
import { createEngine, createSession, tool as engineTool, type Message, ok, user } from '@antiphon/engine';
import { adapterConformance, type ChatScenario, type ChatUnderTest } from '@antiphon/engine/testing';
import { anthropic } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refusal } from './support/anthropic-rules.js';
import { answer, block, end, event, start, text, tool, type WireBlock } from './support/anthropic-wire.js';
import { serve, type TestServer } from './support/server.js';
import { send } from './support/wire.js';

const STOP = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens' } as const;

/** The events of a scenario, as the server writes them. */
function* wireOf({ text: pieces = [], reasoning = [], toolCalls = [], finish, usage, ends }: ChatScenario): Generator<object> {
  const { inputTokens: input_tokens, outputTokens: output_tokens } = usage ?? {};
  let index = 0;
  yield start({ usage: usage ? { input_tokens, output_tokens: 0 } : undefined });
  if (reasoning.length > 0) {
    yield* block(index++, { type: 'thinking', thinking: '' }, ...reasoning.map(thinking => ({ type: 'thinking_delta', thinking })), {
      type: 'signature_delta',
      signature: 'sig',
    });
  }
  if (pieces.length > 0) yield* text(index++, ...pieces);
  for (const { id, name, rawArguments } of toolCalls) {
    const half = Math.ceil(rawArguments.length / 2);
    yield* tool(index++, id, name, rawArguments.slice(0, half), rawArguments.slice(half));
  }
  while (ends === 'endless') yield* text(index++, pieces.at(-1) ?? '');
  if (ends === 'complete') yield* end(STOP[finish], usage ? { output_tokens } : {});
}

function underTest(scenario: ChatScenario): ChatUnderTest {
  const seen = { requests: 0, open: 0, sent: 0 };
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    seen.requests++;
    const { failure, ends } = scenario;
    if (failure) {
      const headers = failure.retryAfterMs === undefined ? {} : { 'retry-after': String(failure.retryAfterMs / 1000) };
      const body = { type: 'error', error: { type: 'x', message: failure.message } };
      return new Response(JSON.stringify(body), { status: failure.status, headers });
    }
    seen.open++;
    const encoder = new TextEncoder();
    const wire = wireOf(scenario);
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = wire.next();
          if (!done) {
            seen.sent++;
            controller.enqueue(encoder.encode(event(value)));
          } else if (ends !== 'open') {
            seen.open--;
            const gone = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
            if (ends === 'lost') controller.error(new TypeError('terminated', { cause: gone }));
            else controller.close();
          }
        },
        cancel() {
          seen.open--;
        },
      },
      { highWaterMark: 0 },
    );
    init?.signal?.throwIfAborted();
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  const adapter = anthropic({ model: 'claude-sonnet-4-5', apiKey: 'k', fetch });
  return { adapter, requests: () => seen.requests, open: () => seen.open, sent: () => seen.sent };
}

describe('anthropic holds the contract of a chat adapter', () => {
  const cases = adapterConformance(underTest);
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(35));
  for (const { name, run } of cases) test(name, run);
});

const THINK = block(
  0,
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'thinking_delta', thinking: 'Add.' },
  { type: 'signature_delta', signature: 'sig-1' },
);
const SEARCH = block(
  1,
  { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
  { type: 'input_json_delta', partial_json: '{"query": "x"}' },
);
const FOUND = block(2, {
  type: 'web_search_tool_result',
  tool_use_id: 's1',
  content: [{ type: 'web_search_result', url: 'https://a.test/', title: 'A', encrypted_content: 'E' }],
});

type Body = Parameters<typeof refusal>[0] & { stream: boolean };

describe('runs over HTTP', () => {
  const bodies: Record<string, Body[]> = {};
  const answers: Record<string, string[]> = {
    loop: [
      answer(
        start(),
        THINK,
        SEARCH,
        FOUND,
        tool(3, 'toolu_1', 'add', '{"a": 1, ', '"b": 2}'),
        tool(4, 'toolu_2', 'add', '{"a":"x"}'),
        end('tool_use'),
      ),
      answer(start({ id: 'msg_2' }), text(0, 'Three.'), end('end_turn')),
    ],
    paused: [answer(start(), THINK, SEARCH, end('pause_turn')), answer(start(), FOUND, text(3, 'Found it.'), end('end_turn'))],
    refused: [answer(start(), THINK, end('refusal')), answer(start(), text(0, 'Well.'), end('end_turn'))],
    shape: [answer(start(), text(0, '{"name":"Ada"', ',"age":36}'), end('end_turn'))],
    'shape by a tool': [answer(start(), tool(0, 't', 'answer', '{"name":"Ada","age":36}'), end('tool_use'))],
  };
  let server: TestServer;
  beforeAll(async () => {
    server = await serve((res, req, n) => {
      const name = decodeURIComponent((req.url ?? '').split('/')[1] ?? '');
      const body = JSON.parse(server.requests.at(-1)?.body ?? '') as Body;
      const told = (status: number, type: string, message: string) =>
        res
          .writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1' })
          .end(JSON.stringify({ type: 'error', error: { type, message } }));
      if (req.url !== `/${encodeURIComponent(name)}/v1/messages`) return told(404, 'not_found_error', 'Not Found');
      if (req.headers['x-api-key'] !== 'good') return told(401, 'authentication_error', `invalid x-api-key: ${req.headers['x-api-key']}`);
      if (req.headers['anthropic-version'] !== '2023-06-01')
        return told(400, 'invalid_request_error', 'anthropic-version: header is required');
      const fault = refusal(body);
      if (fault !== undefined) return told(400, 'invalid_request_error', fault);
      bodies[name] = [...(bodies[name] ?? []), body];
      return send(res, answers[name]?.[n - 1] ?? '');
    });
  });
  afterAll(() => server.close());
  const chat = (name: string, more: object = {}) =>
    anthropic({ model: 'claude-sonnet-4-5', baseURL: server.url(name), apiKey: 'good', ...more });
  const blocksIn = (name: string, request: number, message: number) => bodies[name]?.[request]?.messages[message]?.content as WireBlock[];
  const add = engineTool({
    name: 'add',
    description: 'Adds.',
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => ok(a + b),
  });

  test('a loop with thinking, a tool of the server and two calls', async () => {
    const outcome = await createEngine({ chat: chat('loop'), tools: [add] }).chat('1 + 2?', { reasoning: 'low', promptCache: {} });
    expect(outcome).toMatchObject({
      status: 'completed',
      text: 'Three.',
      reasoning: 'Add.',
      warnings: [],
      sources: [{ url: 'https://a.test/' }],
    });
    expect(blocksIn('loop', 1, 1)).toEqual([
      { type: 'thinking', thinking: 'Add.', signature: 'sig-1' },
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } },
      (FOUND[0] as { content_block: object }).content_block,
      { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1, b: 2 } },
      { type: 'tool_use', id: 'toolu_2', name: 'add', input: { a: 'x' } },
    ]);
    expect(blocksIn('loop', 1, 2).map(block => [block.type, block.tool_use_id, block.is_error])).toEqual([
      ['tool_result', 'toolu_1', undefined],
      ['tool_result', 'toolu_2', true],
    ]);
  });

  test('a turn that was paused goes on when the thread is sent again, also after a trip through JSON', async () => {
    const engine = createEngine({ chat: chat('paused') });
    const first = await engine.step('Search.');
    expect(first).toMatchObject({ status: 'completed', finishReason: 'other', rawFinishReason: 'pause_turn', steps: [{ paused: true }] });
    const second = await engine.chat(JSON.parse(JSON.stringify(first.messages)) as Message[]);
    expect([second.status, second.text]).toEqual(['completed', 'Found it.']);
    expect(blocksIn('paused', 1, 1).map(({ type }) => type)).toEqual(['thinking', 'server_tool_use']);
  });

  test('a session goes on behind a refusal', async () => {
    const session = createSession({ engine: createEngine({ chat: chat('refused') }) });
    expect((await session.send('Do harm.')).finishReason).toBe('content_filter');
    expect((await session.send('Then not.')).text).toBe('Well.');
  });

  test.each([
    ['shape', 'claude-opus-4-5', 'output_config'],
    ['shape by a tool', 'claude-sonnet-4-0', 'tool_choice'],
  ])('structured output: %s', async (name, model, field) => {
    const outcome = await createEngine({ chat: chat(name, { model }) }).chat('Who?', {
      output: z.object({ name: z.string(), age: z.number() }),
    });
    expect(outcome).toMatchObject({ status: 'completed', output: { name: 'Ada', age: 36 } });
    expect(bodies[name]?.[0]).toHaveProperty(field);
  });

  test('a wrong key is told without the key', async () => {
    const outcome = await createEngine({ chat: chat('loop', { apiKey: 'sk-ant-bad-0123456789' }) }).generate('Hi');
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason: 'authentication_failed', status: 401, requestId: 'req_1', provider: 'anthropic' },
    });
    expect(JSON.stringify(outcome)).not.toContain('sk-ant-bad');
  });

  test('what the server refuses is told in its words', async () => {
    const outcome = await createEngine({ chat: chat('loop'), retry: false }).generate([user('Hi')], {
      providerOptions: { anthropic: { temperature: 2 } },
    });
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'invalid_request', retryable: false } });
    if (outcome.status === 'failed') expect(outcome.error.message).toContain('temperature: range: 0..1');
  });
});
