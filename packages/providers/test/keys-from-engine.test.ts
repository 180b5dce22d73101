import { assistant, createEngine, toolResult, user } from '@antiphon/engine';
import { openaiChat } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';

const OPENAI = 'https://api.openai.com/v1';
const KEY = 'sk-of-tenant-7';

/** A server that notes the headers it was sent and answers as told. */
function server(answer: (authorization: string | null) => Response = hello) {
  const seen: (string | null)[] = [];
  const fetch = async (_: string | URL, init?: RequestInit): Promise<Response> => {
    const authorization = new Headers(init?.headers).get('authorization');
    seen.push(authorization);
    return answer(authorization);
  };
  return { seen, fetch };
}

const sse = (...values: object[]) =>
  new Response(`${values.map(value => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  });
const hello = () => sse({ id: 'r', model: 'm', choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] });

describe('keys of the engine', () => {
  test.each<readonly [string, string | undefined, string | undefined, string | undefined, string | null]>([
    ['the engine’s, when the adapter has none', undefined, KEY, undefined, `Bearer ${KEY}`],
    ['the adapter’s own before the engine’s', 'sk-own', KEY, undefined, 'Bearer sk-own'],
    ['the engine’s before the environment’s', undefined, ` ${KEY}\n`, 'sk-env', `Bearer ${KEY}`],
    ['the environment’s, when the engine has none', undefined, undefined, 'sk-env', 'Bearer sk-env'],
  ])('%s', async (_, own, engines, environment, sent) => {
    const before = process.env.OPENAI_API_KEY;
    if (environment === undefined) delete process.env.OPENAI_API_KEY;
    else process.env.OPENAI_API_KEY = environment;
    try {
      const { seen, fetch } = server();
      const chat = openaiChat({ model: 'm', baseURL: OPENAI, fetch, ...(own === undefined ? {} : { apiKey: own }) });
      const outcome = await createEngine({ chat, keys: () => engines }).chat('Hi');
      expect(outcome).toMatchObject({ status: 'completed', text: 'Hello' });
      expect(seen).toEqual([sent]);
    } finally {
      if (before === undefined) delete process.env.OPENAI_API_KEY;
      else process.env.OPENAI_API_KEY = before;
    }
  });

  test('each tenant sends its own', async () => {
    const { seen, fetch } = server();
    const engine = createEngine({
      chat: openaiChat({ model: 'm', baseURL: OPENAI, fetch }),
      keys: (provider, { context }) => `${provider}-${(context as { tenant: string }).tenant}`,
    });
    await Promise.all(['a', 'b'].map(tenant => engine.chat('Hi', { context: { tenant } })));
    expect(seen.sort()).toEqual(['Bearer openai-a', 'Bearer openai-b']);
  });

  test('a resolver that fails fails the call before anything is sent, and what it said is not shown', async () => {
    const { seen, fetch } = server();
    const keys = () => Promise.reject(new Error(`vault path ${KEY}`));
    const outcome = await createEngine({ chat: openaiChat({ model: 'm', baseURL: OPENAI, fetch }), keys }).chat('Hi');
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason: 'missing_key', message: expect.stringContaining('keys function') },
    });
    expect([JSON.stringify(outcome).includes(KEY), seen]).toEqual([false, []]);
  });

  test('a server that repeats the key tells nobody', async () => {
    const { fetch } = server(header =>
      Response.json({ error: { message: `Wrong key: ${header}`, code: 'invalid_api_key' } }, { status: 401 }),
    );
    const chat = openaiChat({ model: 'm', baseURL: OPENAI, fetch });
    const outcome = await createEngine({ chat, keys: () => KEY }).chat('Hi');
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason: 'authentication_failed', message: expect.stringContaining('[redacted]') },
    });
    expect(JSON.stringify([outcome, outcome.status === 'failed' && outcome.error.stack])).not.toContain(KEY);
  });
});

describe('the request, unsent', () => {
  test('is what would be sent, without the key and without asking for one', async () => {
    let asked = 0;
    const { seen, fetch } = server();
    const chat = openaiChat({ model: 'm', baseURL: `${OPENAI}?api-key=${KEY}`, fetch, headers: { 'x-api-key': KEY, 'x-trace': 't' } });
    const keys = () => {
      asked++;
      return KEY;
    };
    const engine = createEngine({ chat, keys, middleware: [{ request: request => ({ ...request, temperature: 0.5 }) }] });
    const prepared = await engine.prepareRequest([user('Hi')], { maxTokens: 5, topP: 0.1 });
    expect(prepared).toMatchObject({
      method: 'POST',
      headers: { authorization: '[redacted]', 'x-api-key': '[redacted]', 'x-trace': 't', 'content-type': 'application/json' },
      warnings: [],
    });
    expect(prepared.url).toMatch(/^https:\/\/api\.openai\.com\/v1\/chat\/completions\?/);
    expect(JSON.parse(prepared.body)).toMatchObject({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0.5,
      top_p: 0.1,
      stream: true,
    });
    expect([JSON.stringify(prepared).includes(KEY), asked, seen.length]).toEqual([false, 0, 0]);
  });

  test('a request that is only shown asks for the shape, as a run does', async () => {
    const output = { type: 'object', properties: { n: { type: 'number' } } };
    const holds = await createEngine({ chat: openaiChat({ model: 'm' }) }).prepareRequest('Hi', { output });
    const deepseek = openaiChat({ model: 'm', baseURL: 'https://api.deepseek.com', apiKey: KEY });
    const does = await createEngine({ chat: deepseek }).prepareRequest('Hi', { output });
    expect(JSON.parse(holds.body).response_format.json_schema.schema).toMatchObject(output);
    expect(JSON.parse(does.body).tools[0].function).toMatchObject({ name: 'answer', parameters: output });
  });

  test('a request that is only shown tells what was repaired, as a run does', async () => {
    const call = { type: 'tool_call' as const, id: 'call_1', name: 'look', arguments: {}, rawArguments: '{}' };
    const thread = [user('Hi'), assistant([call]), user('Never mind.'), toolResult('call_9', 'stray')];
    const { warnings } = await createEngine({ chat: openaiChat({ model: 'm' }) }).prepareRequest(thread);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('a result for call_9 answers no open call'),
      expect.stringContaining('The call call_1 to look had no result'),
    ]);
  });

  test('a local server needs no key, and an adapter that cannot tell says so', async () => {
    const local = await createEngine({ chat: openaiChat({ model: 'm' }) }).prepareRequest('Hi');
    expect(local.headers).not.toHaveProperty('authorization');
    const mute = { provider: 'mute', model: 'm', stream: () => openaiChat({ model: 'm' }).stream({ messages: [] }, {} as never) };
    await expect(createEngine({ chat: mute }).prepareRequest('Hi')).rejects.toMatchObject({ reason: 'invalid_option' });
    await expect(createEngine({ chat: mute }).prepareRequest([])).rejects.toMatchObject({ reason: 'invalid_request' });
  });
});
