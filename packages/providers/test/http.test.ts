import { ConfigurationError, redactor } from '@antiphon/engine';
import { elevenlabsSpeech, type OpenaiChatOptions, openaiChat, openaiResponses } from '@antiphon/providers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseHttpDate, retryAfterMs } from '../src/http/retry-after.js';
import { contextOf, HELLO, run } from './support/run.js';
import { type Answer, serve, type TestServer } from './support/server.js';
import { END, event, send, sse, TEXT } from './support/wire.js';

const NOW = Date.UTC(2026, 0, 5, 10, 0, 0);

describe('how long to wait', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after-ms': '20' }, 20],
    [{ 'retry-after-ms': '0', 'retry-after': '9' }, 0],
    [{ 'retry-after': '1' }, 1_000],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '7200' }, 7_200_000],
    [{ 'retry-after': 'Mon, 05 Jan 2026 10:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Mon, 05 Jan 2026 09:00:00 GMT' }, 0],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after-ms': 'NaN', 'retry-after': '2' }, 2_000],
  ])('%j', (headers, expected) => expect(retryAfterMs(new Headers(headers), NOW)).toBe(expected));

  it.each(['Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994', 'Sun, 06 Nov 1994 08:49:37 GMT'])(
    'the three forms of a date: %s',
    text => expect(parseHttpDate(text)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37)),
  );

  it('reads every date as the platform does', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }), date => {
        expect(parseHttpDate(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000);
      }),
    );
  });

  it.each(['', 'now', 'Sun, 99 Nov 1994 08:49:37 GMT', 'Sun, 06 Foo 1994 08:49:37 GMT', '06 Nov', 'Sun, 06 Nov 1994 8:4:3 GMT'])(
    '%j is no date',
    text => expect(parseHttpDate(text)).toBeUndefined(),
  );
});

const statusAnswer =
  (code: number, body: string, headers: Record<string, string> = {}): Answer =>
  res => {
    res.writeHead(code, headers);
    res.end(body);
  };

describe('statuses', () => {
  const CASES: [string, Answer, object, RegExp][] = [
    [
      '401',
      statusAnswer(401, '{"error":{"message":"Incorrect API key provided"}}'),
      { reason: 'authentication_failed', status: 401, retryable: false },
      /Incorrect API key/,
    ],
    ['403', statusAnswer(403, '{"error":{"message":"region"}}'), { reason: 'permission_denied', retryable: false }, /region/],
    [
      '404 model',
      statusAnswer(404, '{"error":{"message":"model \\"x\\" not found, try pulling it first"}}'),
      { reason: 'model_not_found', retryable: false },
      /try pulling it first/,
    ],
    ['404 code', statusAnswer(404, '{"error":{"message":"no","code":"model_not_found"}}'), { reason: 'model_not_found' }, /no/],
    ['404 path', statusAnswer(404, '404 page not found'), { reason: 'invalid_request' }, /Is the base URL right\?/],
    [
      '400 context',
      statusAnswer(400, '{"error":{"message":"maximum context length is 8192 tokens","code":"context_length_exceeded"}}'),
      { reason: 'context_length_exceeded', retryable: false },
      /8192/,
    ],
    [
      '400 llama.cpp',
      statusAnswer(
        400,
        '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}',
      ),
      { reason: 'context_length_exceeded' },
      /exceeds/,
    ],
    [
      '400 filter',
      statusAnswer(400, '{"error":{"message":"filtered","code":"content_filter"}}'),
      { reason: 'content_filter', retryable: false },
      /filtered/,
    ],
    [
      '400 key of xAI',
      statusAnswer(400, '{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***"}'),
      { reason: 'authentication_failed' },
      /sk\*\*\*/,
    ],
    [
      '402',
      statusAnswer(402, '{"error":{"message":"Insufficient Balance"}}'),
      { reason: 'insufficient_quota', retryable: false },
      /Insufficient/,
    ],
    ['408', statusAnswer(408, ''), { reason: 'timeout', retryable: true }, /answered 408\.$/],
    [
      '413 of Groq',
      statusAnswer(413, '{"error":{"message":"Request too large for model","type":"tokens","code":"rate_limit_exceeded"}}'),
      { reason: 'context_length_exceeded', retryable: false },
      /too large/,
    ],
    ['413', statusAnswer(413, 'too large'), { reason: 'invalid_request', retryable: false }, /too large/],
    [
      '422 FastAPI',
      statusAnswer(422, '{"detail":[{"loc":["body","messages"],"msg":"field required"}]}'),
      { reason: 'invalid_request' },
      /body\.messages: field required/,
    ],
    [
      '429',
      statusAnswer(429, '{"error":{"message":"slow"}}', { 'retry-after': '3', 'x-request-id': 'req_7' }),
      { reason: 'rate_limited', retryable: true, retryAfterMs: 3_000, requestId: 'req_7' },
      /slow/,
    ],
    [
      '429 Google',
      statusAnswer(
        429,
        '[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]',
      ),
      { reason: 'rate_limited', retryable: true, retryAfterMs: 34_500 },
      /quota/,
    ],
    [
      '429 never again',
      statusAnswer(429, '{"error":{"message":"no"}}', { 'x-should-retry': 'false' }),
      { reason: 'rate_limited', retryable: false },
      /no/,
    ],
    ['500', statusAnswer(500, '{"error":"oops"}'), { reason: 'provider_unavailable', retryable: true }, /oops/],
    ['501', statusAnswer(501, ''), { reason: 'unsupported', retryable: false }, /501/],
    ['503', statusAnswer(503, '{"message":"loading model"}'), { reason: 'provider_unavailable', retryable: true }, /loading model/],
    ['504', statusAnswer(504, '<html><title>Gateway time-out</title></html>'), { reason: 'timeout', retryable: true }, /Gateway time-out/],
    [
      '529',
      statusAnswer(529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
      { reason: 'provider_unavailable', retryable: true },
      /Overloaded/,
    ],
    [
      'error with a __proto__',
      statusAnswer(400, '{"error":{"__proto__":{"x":1},"constructor":2,"message":"bad"}}'),
      { reason: 'invalid_request' },
      /bad/,
    ],
  ];
  let server: TestServer;
  beforeAll(async () => {
    server = await serve(Object.fromEntries(CASES.map(([name, answer]) => [name, answer])));
  });
  afterAll(() => server.close());

  it.concurrent.each(CASES)('%s', async (name, _, expected, message) => {
    const { error, events } = await run(openaiChat({ model: 'm', baseURL: server.url(name) }), HELLO, contextOf(undefined, NOW));
    expect(events).toEqual([]);
    expect(error).toMatchObject({ name: 'AdapterError', ...expected });
    expect(error?.message).toMatch(message);
  });
});

describe('redirects', () => {
  let other: TestServer;
  let server: TestServer;
  const to =
    (code: number, location: () => string): Answer =>
    res => {
      res.writeHead(code, { location: location() });
      res.end('moved');
    };
  beforeAll(async () => {
    other = await serve(res => send(res, sse([...TEXT, ...END])));
    server = await serve({
      same: (res, req, n) => (n === 1 ? to(307, () => '/final/v1/chat/completions')(res, req, n) : undefined),
      final: res => send(res, sse([...TEXT, ...END])),
      foreign: to(308, () => `${other.url()}/chat/completions`),
      circle: to(307, () => '/circle/v1/chat/completions'),
      nonsense: to(302, () => 'http://['),
    });
  });
  afterAll(async () => {
    await server.close();
    await other.close();
  });
  const go = (name: string) => run(openaiChat({ model: 'm', baseURL: server.url(name), apiKey: 'sk-secret-1' }));

  it('on the same origin are followed with everything', async () => {
    expect((await go('same')).text).toBe('Good day');
    const [first, second] = server.requests.slice(-2);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers.authorization).toBe('Bearer sk-secret-1');
  });

  it('to another origin are refused, and the other server hears nothing', async () => {
    const { error } = await go('foreign');
    expect(error?.message).toContain('set baseURL to it');
    expect(error?.retryable).toBe(false);
    expect(other.requests).toEqual([]);
  });

  it.each(['circle', 'nonsense'])('%s ends', async name => {
    const { error } = await go(name);
    expect(error?.message).toMatch(/redirects/);
    expect(server.hits(name)).toBeLessThan(10);
  });

  it('that the platform hides (a browser) are refused', async () => {
    const fetch = async () => Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' });
    expect((await run(openaiChat({ model: 'm', fetch }))).error?.message).toContain('redirects to somewhere else');
  });
});

describe('keys', () => {
  const hosted = (options: Partial<OpenaiChatOptions> = {}) => {
    const sent: { url: string; headers: Headers }[] = [];
    const fetch = async (url: string | URL, init?: RequestInit) => {
      sent.push({ url: String(url), headers: new Headers(init?.headers) });
      return new Response(sse([...TEXT, ...END]));
    };
    return { sent, adapter: openaiChat({ model: 'm', baseURL: 'https://api.openai.com/v1', fetch, ...options }) };
  };

  it('a hosted provider without a key is refused before a socket opens, and the message names the variable', async () => {
    const { adapter, sent } = hosted({ apiKey: () => undefined });
    const { error } = await run(adapter);
    expect(error).toMatchObject({ name: 'ConfigurationError', reason: 'missing_key', retryable: false });
    expect(error?.message).toContain('OPENAI_API_KEY');
    expect(sent).toEqual([]);
  });

  it("the environment's key is read per request, and only for the provider's own host", async () => {
    const before = process.env.OPENAI_API_KEY;
    try {
      const own = hosted();
      process.env.OPENAI_API_KEY = 'sk-environment';
      await run(own.adapter);
      expect(own.sent[0]?.headers.get('authorization')).toBe('Bearer sk-environment');
      const foreign = hosted({ baseURL: 'https://proxy.test/v1', profile: 'openai' });
      expect((await run(foreign.adapter)).error?.reason).toBe('missing_key');
    } finally {
      if (before === undefined) delete process.env.OPENAI_API_KEY;
      else process.env.OPENAI_API_KEY = before;
    }
  });

  it('a function is asked for each request, may be async, and its white space is cut off', async () => {
    let n = 0;
    const { adapter, sent } = hosted({ apiKey: async () => ` sk-number-${++n}\n` });
    expect(n).toBe(0);
    await run(adapter);
    await run(adapter);
    expect(sent.map(request => request.headers.get('authorization'))).toEqual(['Bearer sk-number-1', 'Bearer sk-number-2']);
  });

  it.each<[string, OpenaiChatOptions['apiKey']]>([
    [
      'throws',
      () => {
        throw new Error('vault says sk-leak-123');
      },
    ],
    ['rejects', () => Promise.reject(new Error('sk-leak-123'))],
    ['gives a line break', () => 'sk-leak\n-123'],
    ['gives a letter that no header takes', () => 'sk-leak-123✓'],
  ])('a key function that %s', async (_, apiKey) => {
    const { adapter, sent } = hosted({ apiKey: apiKey! });
    const { error } = await run(adapter);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(inspectAll(error)).not.toContain('sk-leak');
    expect(sent).toEqual([]);
  });

  it('a header of the caller counts as key and wins', async () => {
    const { adapter, sent } = hosted({ headers: { Authorization: 'Token mine', 'X-Title': 'app' } });
    await run(adapter);
    expect(sent[0]?.headers.get('authorization')).toBe('Token mine');
    expect(sent[0]?.headers.get('x-title')).toBe('app');
  });

  it('Azure takes its key in its own header, and keeps the query', async () => {
    const { adapter, sent } = hosted({ baseURL: 'https://r.openai.azure.com/openai/deployments/d?api-version=1', apiKey: 'az-key-1' });
    await run(adapter);
    expect(sent[0]?.headers.get('api-key')).toBe('az-key-1');
    expect(sent[0]?.url).toBe('https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1');
  });

  it('a local server needs none', async () => {
    const { adapter, sent } = hosted({ baseURL: 'http://127.0.0.1:11434' });
    await run(adapter);
    expect(sent[0]?.url).toBe('http://127.0.0.1:11434/v1/chat/completions');
    expect(sent[0]?.headers.has('authorization')).toBe(false);
  });
});

/** Everything that a log could show of an error. */
function inspectAll(error: unknown): string {
  const seen: string[] = [];
  for (let next: unknown = error; next instanceof Error && seen.length < 20; next = next.cause) {
    seen.push(next.message, String(next.stack), JSON.stringify(next), JSON.stringify({ ...next }));
  }
  return seen.join('\n');
}

describe('redaction', () => {
  const key = fc.stringMatching(/^[!-~]{8,40}$/);
  const forms: Record<string, (key: string) => string> = {
    plain: k => k,
    bearer: k => `Bearer ${k}`,
    base64: k => Buffer.from(k).toString('base64'),
    'base64 of user:key': k => Buffer.from(`user:${k}`).toString('base64'),
    'base64 of x:key:y': k => Buffer.from(`x1:${k}:y`).toString('base64'),
    base64url: k => Buffer.from(k).toString('base64url'),
    url: k => encodeURIComponent(k),
    json: k => JSON.stringify(k),
    hex: k => Buffer.from(k).toString('hex'),
  };
  // What must not be found: the key, or all of its encoded form that belongs to it alone.
  const core = (name: string, k: string, form: string) =>
    name.startsWith('base64') ? form.slice(2 + (form.length - Buffer.from(k).toString('base64').length), -4) : form.replace('Bearer ', '');

  it.each(Object.keys(forms))('hides a key that is echoed as %s', async name => {
    await fc.assert(
      fc.asyncProperty(
        key,
        fc.constantFrom('status', 'stream', 'html', 'line', 'id', 'redirect', 'network', 'bad json'),
        async (k, way) => {
          const echo = forms[name]!(k);
          const fetch = async () => {
            switch (way) {
              case 'status':
                return new Response(JSON.stringify({ error: { message: `Incorrect API key provided: ${echo}.`, code: echo } }), {
                  status: 401,
                });
              case 'stream':
                return new Response(event({ error: { message: `key ${echo} is bad`, type: echo } }));
              case 'html':
                return new Response(`<html><title>${echo.replaceAll('<', '')}</title>`, {
                  status: 403,
                  headers: { 'content-type': 'text/html' },
                });
              case 'line':
                return new Response(`what is ${echo}?`);
              case 'id':
                return new Response('', { status: 500, headers: { 'x-request-id': echo } });
              case 'redirect':
                return new Response('', { status: 307, headers: { location: `https://elsewhere.test/${encodeURIComponent(echo)}` } });
              case 'bad json':
                return new Response(`data: {${echo}\n\n`);
              default:
                throw new TypeError('fetch failed', { cause: new Error(`invalid header "${echo}"`) });
            }
          };
          const result = await run(openaiChat({ model: 'm', apiKey: k, fetch }));
          const text = inspectAll(result.error) + JSON.stringify(result.warnings);
          expect(result.error).toBeDefined();
          expect(text.includes(k)).toBe(false);
          expect(text.includes(core(name, k, echo))).toBe(false);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('hides secrets in headers of the caller', async () => {
    const fetch = async () => new Response('no entry for hunter2-hunter2', { status: 401 });
    const { error } = await run(openaiChat({ model: 'm', headers: { 'x-proxy-token': 'hunter2-hunter2' }, fetch }));
    expect(error?.message).toContain('[redacted]');
  });

  it('hides secrets in the query of the base URL', async () => {
    const fetch = async () => {
      throw new TypeError('cannot reach /chat/completions?api-key=hunter2-hunter2');
    };
    const { error } = await run(openaiChat({ model: 'm', baseURL: 'http://127.0.0.1:9/v1?api-key=hunter2-hunter2', fetch }));
    expect(inspectAll(error)).not.toContain('hunter2');
  });

  it('leaves everything else as it is', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(redactor(['sk-0123456789abcdef'])(text)).toBe(text);
      }),
    );
    expect(redactor(['x'])('max')).toBe('max');
  });
});

describe('options', () => {
  it.each<[string, OpenaiChatOptions]>([
    ['no model', { model: '' }],
    ['no URL', { model: 'm', baseURL: 'not a url' }],
    ['another scheme', { model: 'm', baseURL: 'ftp://x.test' }],
    ['a password in the URL', { model: 'm', baseURL: 'https://me:sk-leak-123@x.test/v1' }],
    ['a bad header', { model: 'm', headers: { 'x-a': 'sk-leak-123\nx' } }],
    ['an unknown profile', { model: 'm', profile: 'nonesuch' }],
  ])('%s is a mistake that shows at once', (_, options) => {
    let thrown: unknown;
    try {
      openaiChat(options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'ConfigurationError', reason: 'invalid_option' });
    expect(inspectAll(thrown)).not.toContain('sk-leak');
  });

  it('the example in the error is the factory’s own address', () => {
    const baseURL = 'not a url';
    expect(() => openaiChat({ model: 'm', baseURL })).toThrow('such as http://127.0.0.1:11434/v1.');
    expect(() => openaiResponses({ model: 'm', baseURL })).toThrow('such as https://api.openai.com/v1.');
    expect(() => elevenlabsSpeech({ model: 'm', baseURL })).toThrow('such as https://api.elevenlabs.io');
  });

  it.each<[string, string, string]>([
    ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1/chat/completions', 'ollama'],
    ['http://localhost:11434/v1/', 'http://localhost:11434/v1/chat/completions', 'ollama'],
    ['http://127.0.0.1:8080/v1//', 'http://127.0.0.1:8080/v1/chat/completions', 'llama.cpp'],
    ['http://127.0.0.1:1234/v1/chat/completions', 'http://127.0.0.1:1234/v1/chat/completions', 'lmstudio'],
    ['http://127.0.0.1:9/v1/chat/completions/', 'http://127.0.0.1:9/v1/chat/completions', 'openai-compatible'],
    ['https://api.openai.com', 'https://api.openai.com/v1/chat/completions', 'openai'],
    ['https://api.groq.com', 'https://api.groq.com/openai/v1/chat/completions', 'groq'],
    ['https://api.groq.com/openai/', 'https://api.groq.com/openai/v1/chat/completions', 'groq'],
    ['https://openrouter.ai/api', 'https://openrouter.ai/api/v1/chat/completions', 'openrouter'],
    ['https://x.openai.azure.com/openai', 'https://x.openai.azure.com/openai/v1/chat/completions', 'azure'],
    ['https://api.githubcopilot.com/responses', 'https://api.githubcopilot.com/chat/completions', 'github-copilot'],
    ['http://ollama:11434', 'http://ollama:11434/v1/chat/completions', 'ollama'],
    ['http://host.docker.internal:1234/v1', 'http://host.docker.internal:1234/v1/chat/completions', 'lmstudio'],
    ['http://172.16.0.4:8000', 'http://172.16.0.4:8000/v1/chat/completions', 'vllm'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1/chat/completions', 'openrouter'],
    ['https://api.perplexity.ai', 'https://api.perplexity.ai/chat/completions', 'perplexity'],
    ['https://api.openai.com.evil.test', 'https://api.openai.com.evil.test/v1/chat/completions', 'openai-compatible'],
    ['https://x.test:11434/', 'https://x.test:11434/v1/chat/completions', 'openai-compatible'],
  ])('%s', async (baseURL, url, provider) => {
    let asked = '';
    const fetch = async (to: string | URL) => {
      asked = String(to);
      return new Response(sse([...TEXT, ...END]));
    };
    const adapter = openaiChat({ model: 'm', baseURL, apiKey: 'sk-123456', fetch });
    expect(adapter.provider).toBe(provider);
    await run(adapter);
    expect(asked).toBe(url);
  });
});
