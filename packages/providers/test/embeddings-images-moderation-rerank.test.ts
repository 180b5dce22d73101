// What every one of these adapters does when the world does not behave: one table, all adapters.
import type { Socket } from 'node:net';
import { type AdapterContext, AntiphonError, type CapabilityResponse, createEngine, imagePart, systemClock } from '@antiphon/engine';
import {
  cohereRerank,
  openaiEmbeddings,
  openaiImages,
  openaiModeration,
  type ServiceOptions,
  voyageEmbeddings,
  voyageRerank,
} from '@antiphon/providers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, serve, type TestServer, until } from './support/server.js';
import { KEY, PNG, type StrictServer, strictServer } from './support/strict-server.js';

type Ask = (options: Partial<ServiceOptions>, context: AdapterContext) => Promise<CapabilityResponse>;
interface Row {
  readonly name: string;
  readonly provider: 'openai' | 'voyage' | 'cohere';
  readonly api: 'openai/v1' | 'voyage/v1' | 'cohere/v2';
  readonly model: string;
  readonly keyName: string;
  readonly ask: Ask;
  readonly good: object;
}

const openai = { provider: 'openai', api: 'openai/v1', keyName: 'OPENAI_API_KEY' } as const;
const voyage = { provider: 'voyage', api: 'voyage/v1', keyName: 'VOYAGE_API_KEY' } as const;
const ranking = { query: 'a', documents: ['a'] };
const score = { index: 0, relevance_score: 1 };
const png = imagePart(PNG, 'image/png');
const verdict = { flagged: false, categories: {}, category_scores: {} };
const rows: Row[] = [
  {
    ...openai,
    name: 'openaiEmbeddings',
    model: 'text-embedding-3-small',
    ask: (options, context) => openaiEmbeddings({ model: 'text-embedding-3-small', ...options }).embed({ input: ['a'] }, context),
    good: { data: [{ index: 0, embedding: [1] }] },
  },
  {
    ...voyage,
    name: 'voyageEmbeddings',
    model: 'voyage-3.5',
    ask: (options, context) => voyageEmbeddings({ model: 'voyage-3.5', ...options }).embed({ input: ['a'] }, context),
    good: { data: [{ index: 0, embedding: [1] }] },
  },
  {
    ...openai,
    name: 'openaiImages, making',
    model: 'gpt-image-1.5',
    ask: (options, context) => openaiImages({ model: 'gpt-image-1.5', ...options }).generateImage({ prompt: 'a' }, context),
    good: { data: [{ b64_json: PNG }] },
  },
  {
    ...openai,
    name: 'openaiImages, changing',
    model: 'gpt-image-1.5',
    ask: (options, context) =>
      openaiImages({ model: 'gpt-image-1.5', ...options }).editImage!({ prompt: 'a', images: [png], mask: png }, context),
    good: { data: [{ b64_json: PNG }] },
  },
  {
    ...openai,
    name: 'openaiModeration',
    model: 'omni-moderation-latest',
    ask: (options, context) => openaiModeration({ model: 'omni-moderation-latest', ...options }).moderate({ input: ['a'] }, context),
    good: { results: [verdict] },
  },
  {
    name: 'cohereRerank',
    provider: 'cohere',
    api: 'cohere/v2',
    keyName: 'CO_API_KEY',
    model: 'rerank-v3.5',
    ask: (options, context) => cohereRerank({ model: 'rerank-v3.5', ...options }).rerank(ranking, context),
    good: { results: [score] },
  },
  {
    ...voyage,
    name: 'voyageRerank',
    model: 'rerank-2.5',
    ask: (options, context) => voyageRerank({ model: 'rerank-2.5', ...options }).rerank(ranking, context),
    good: { data: [score] },
  },
];

const contextOf = (signal = new AbortController().signal): AdapterContext => ({ signal, requestId: 'r', clock: systemClock });

const ignore = () => {};
/** The error of a call, and everything that anybody could print of it. */
async function failure(work: Promise<unknown>): Promise<{ error: AntiphonError; printed: string }> {
  const thrown: unknown = await work.then(ignore, error => error);
  if (!AntiphonError.isInstance(thrown)) throw thrown ?? new Error('It did not fail.');
  const cause = thrown.cause instanceof Error ? `${thrown.cause.message} ${thrown.cause.stack}` : '';
  return { error: thrown, printed: `${thrown.message} ${thrown.stack} ${JSON.stringify(thrown)} ${cause}` };
}

const html = '<!doctype html><html><head><title>Sign in</title></head><body>…</body></html>';
const say =
  (status: number, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }): Answer =>
  res =>
    res.writeHead(status, headers).end(body);
const error = (message: string, more = {}) => JSON.stringify({ error: { message, ...more } });

interface Expected {
  readonly reason: string;
  readonly retryable: boolean;
  readonly says: RegExp;
  readonly retryAfterMs?: number;
  readonly status?: number;
}
const worlds: Record<string, [Answer, Expected]> = {
  page: [
    say(200, html, { 'content-type': 'text/html' }),
    { reason: 'malformed_response', retryable: false, says: /web page \("Sign in"\).*base URL/ },
  ],
  empty: [say(200, ''), { reason: 'malformed_response', retryable: false, says: /empty body/ }],
  garbage: [say(200, '\u0000\u0001 pardon?'), { reason: 'malformed_response', retryable: false, says: /something else than JSON/ }],
  'half JSON': [say(200, '{"data":[{"ind'), { reason: 'malformed_response', retryable: false, says: /something else than JSON/ }],
  'another JSON': [say(200, '{"ok":true}'), { reason: 'malformed_response', retryable: false, says: /without a list/ }],
  'error in 200': [say(200, error('Busy.', { code: 'server_error' })), { reason: 'provider_unavailable', retryable: true, says: /Busy\./ }],
  busy: [
    say(429, error('Slow down.'), { 'retry-after': '7' }),
    { reason: 'rate_limited', retryable: true, says: /Slow down\./, retryAfterMs: 7000, status: 429 },
  ],
  'no money': [say(429, error('Pay.', { code: 'insufficient_quota' })), { reason: 'insufficient_quota', retryable: false, says: /Pay\./ }],
  down: [say(500, error('Down.')), { reason: 'provider_unavailable', retryable: true, says: /Down\./, status: 500 }],
  'gateway page': [say(502, html), { reason: 'provider_unavailable', retryable: true, says: /Sign in/, status: 502 }],
  nowhere: [say(404, 'nothing here'), { reason: 'invalid_request', retryable: false, says: /Is the base URL right\?/, status: 404 }],
  away: [
    say(307, '', { location: 'http://other.test/v1' }),
    { reason: 'invalid_request', retryable: false, says: /redirects to http:\/\/other\.test/ },
  ],
  'cut off': [
    res => {
      res.writeHead(200, { 'content-length': '1000' }).write('{"data":');
      setImmediate(() => res.destroy());
    },
    { reason: 'network_error', retryable: true, says: /lost after|failed/ },
  ],
};

let strict: StrictServer;
let server: TestServer;
/** Aborted when a silent server was asked; `left` is its connection. */
let silence: AbortController;
let left: Socket | null = null;
beforeAll(async () => {
  strict = await strictServer();
  server = await serve((res, req, n) => {
    left = res.socket;
    const name = decodeURIComponent((req.url ?? '').split('/')[1] ?? '');
    // Each adapter has its own scenarios, `NAME of ADAPTER`.
    const [world, adapter] = name.split(' of ') as [string, string | undefined];
    const row = rows.find(row => row.name === adapter);
    const good = () => say(200, JSON.stringify(row?.good))(res, req, n);
    if (world === 'silent') return silence.abort();
    if (world === 'silent halfway') return res.writeHead(200).write('{"data":', () => silence.abort());
    if (world === 'echo')
      return say(401, error(`Incorrect API key provided: ${req.headers.authorization}`, { code: 'invalid_api_key' }))(res, req, n);
    if (world === 'echo 200') return say(200, `you said ${req.headers.authorization} and ${req.headers['x-secret']}`)(res, req, n);
    if (world === 'once') return n === 1 ? say(500, error('Down.'))(res, req, n) : good();
    if (world === 'moved') return n === 1 ? say(308, '', { location: req.url?.replace('/v1/', '/v1/new/') ?? '' })(res, req, n) : good();
    return worlds[world]?.[0](res, req, n);
  });
});
afterAll(() => Promise.all([strict.close(), server.close()]));
const environment = { ...process.env };
afterEach(() => {
  process.env = { ...environment };
});

describe.each(rows)('$name', ({ name, provider, api, model, keyName, ask, good }) => {
  const at = (world: string) => ({ baseURL: server.url(`${world} of ${name}`), apiKey: KEY });

  test.each(Object.entries(worlds))('%s', async (world, [, expected]) => {
    const { error: found } = await failure(ask(at(world), contextOf()));
    const { says, ...fields } = expected;
    expect(found).toMatchObject(fields);
    expect(found.message).toMatch(says);
    expect(server.hits(`${world} of ${name}`)).toBe(1);
  });

  test('works at the strict server; a wrong key and a wrong model are told apart', async () => {
    await ask({ baseURL: strict.at(api), apiKey: KEY }, contextOf());
    const wrongKey = await failure(ask({ baseURL: strict.at(api), apiKey: 'sk-wrong-0000' }, contextOf()));
    expect(wrongKey.error).toMatchObject({ reason: 'authentication_failed', retryable: false, status: 401 });
    const wrongModel = await failure(ask({ baseURL: strict.at(api), apiKey: KEY, model: 'no-such-model' }, contextOf()));
    expect(wrongModel.error).toMatchObject({ reason: 'model_not_found', retryable: false });
    expect(wrongModel.error.message).toContain('no-such-model');
  });

  test('a server that fails once is asked again by the engine, and works then', async () => {
    const options = { ...at('once'), model } as const;
    const retry = { maxRetries: 1, baseMs: 1, capMs: 1 };
    const engine = createEngine({
      retry,
      embeddings: (provider === 'voyage' ? voyageEmbeddings : openaiEmbeddings)(options),
      images: openaiImages(options),
      moderation: openaiModeration(options),
      rerank: (provider === 'voyage' ? voyageRerank : cohereRerank)(options),
    });
    const outcomes = { Embeddings: () => engine.embed('a'), making: () => engine.generateImage('a'), changing: () => engine.editImage(png, { prompt: 'a' }), Moderation: () => engine.moderate('a'), Rerank: () => engine.rerank(ranking) }; // biome-ignore format: a table
    const [, call] = Object.entries(outcomes).find(([ending]) => name.endsWith(ending))!;
    expect(await call()).toMatchObject({ status: 'completed' });
    expect(server.hits(`once of ${name}`)).toBe(2);
  });

  test('a move on the same origin is followed, with the body', async () => {
    await ask(at('moved'), contextOf());
    const [first, second] = server.requests.filter(({ url }) => url.startsWith(`/${encodeURIComponent(`moved of ${name}`)}/`));
    expect(second!.url).toContain('/v1/new/');
    expect(second!.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(second!.body.length).toBe(first!.body.length);
  });

  test('nobody at home', async () => {
    const gone = await serve(() => {});
    await gone.close();
    const { error: found } = await failure(ask({ baseURL: gone.url(), apiKey: KEY }, contextOf()));
    expect(found).toMatchObject({ reason: 'network_error', retryable: true });
    expect(found.message).toMatch(/No server answers at http:\/\/127\.0\.0\.1.*ECONNREFUSED/);
  });

  test('aborted before: nothing is sent, no key is asked for', async () => {
    const reason = { why: 'enough' };
    const apiKey = () => Promise.reject(new Error('asked'));
    await expect(ask({ ...at('aborted'), apiKey }, contextOf(AbortSignal.abort(reason)))).rejects.toBe(reason);
    expect(server.hits(`aborted of ${name}`)).toBe(0);
  });

  test.each(['silent', 'silent halfway'])('aborted while the server is %s: the reason is thrown and the connection closed', async world => {
    silence = new AbortController();
    const caller = new AbortController();
    const reason = { why: 'enough' };
    silence.signal.addEventListener('abort', () => setImmediate(() => caller.abort(reason)));
    await expect(ask(at(world), contextOf(caller.signal))).rejects.toBe(reason);
    await until(() => left?.destroyed === true, 'the silent connection is closed');
  });

  test('a secret that the server says back is not shown', async () => {
    const headers = { 'x-secret': 'a-secret-of-the-caller' };
    for (const world of ['echo', 'echo 200']) {
      const { error: found, printed } = await failure(ask({ ...at(world), headers }, contextOf()));
      expect(found.message).toContain('[redacted]');
      expect(printed).not.toContain(KEY);
      expect(printed).not.toContain(headers['x-secret']);
    }
  });

  describe('its key', () => {
    const asked = (options: Partial<ServiceOptions>, keys?: AdapterContext['apiKey']) => {
      const seen: (string | null)[] = [];
      const fetch = async (_: unknown, init?: RequestInit) => {
        seen.push(new Headers(init?.headers).get('authorization'));
        return new Response(JSON.stringify(good));
      };
      const context = { ...contextOf(), ...(keys ? { apiKey: keys } : {}) };
      return ask({ fetch, ...options }, context).then(() => seen);
    };

    test('its own, then the engine’s, then the environment’s', async () => {
      process.env[keyName] = ' sk-environment\n';
      const engines = async (asking: string) => (asking === provider ? 'sk-engine' : undefined);
      expect(await asked({ apiKey: 'sk-own' }, engines)).toEqual(['Bearer sk-own']);
      expect(await asked({}, engines)).toEqual(['Bearer sk-engine']);
      expect(await asked({})).toEqual(['Bearer sk-environment']);
    });

    test('is not sent to a foreign host, neither the environment’s nor the engine’s', async () => {
      process.env[keyName] = 'sk-environment';
      const engines = async (asking: string) => (asking === provider ? 'sk-engine' : undefined);
      expect(await asked({ baseURL: 'https://foreign.test/v1' }, engines)).toEqual([null]);
    });

    test('is missing: refused before anything is sent, and told where it could stand', async () => {
      for (const variable of [keyName, 'COHERE_API_KEY']) delete process.env[variable];
      await expect(asked({})).rejects.toMatchObject({ reason: 'missing_key', message: expect.stringContaining(keyName) });
    });
  });

  test.each<[string, object]>([
    ['no model', { model: '' }],
    ['a base URL that is none', { baseURL: 'api.test/v1' }],
    ['a password in the base URL', { baseURL: `https://me:${KEY}@api.test` }],
    ['a header that HTTP does not allow', { headers: { 'x-a': `${KEY}\n`, 'x b': KEY } }],
  ])('a factory throws at once for %s, without the secret', (_, options) => {
    let thrown: unknown;
    try {
      void ask({ apiKey: KEY, ...options }, contextOf(AbortSignal.abort())).catch(ignore);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'ConfigurationError', reason: 'invalid_option' });
    expect((thrown as Error).message).not.toContain(KEY);
  });
});
