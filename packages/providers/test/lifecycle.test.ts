// Who opens, who closes, who waits: the life of a request, over real sockets.
import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';
import { openaiChat } from '@antiphon/providers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LINEAR, smallestGrowth } from './support/growth.js';
import { contextOf, HELLO, run } from './support/run.js';
import { type Answer, serve, type TestServer, until } from './support/server.js';
import { chunk, END, event, events, fn, head, pieces, send, sse, TEXT, tools } from './support/wire.js';

const closed = new Set<string>();
const watched =
  (name: string, answer: Answer): Answer =>
  (res, req, n) => {
    res.on('close', () => closed.add(name));
    return answer(res, req, n);
  };

const ANSWERS: Record<string, Answer> = {
  good: res => send(res, sse([...TEXT, ...END])),
  // Three deltas, then silence with the socket open.
  stalls: watched('stalls', res => {
    head(res);
    res.write(events([TEXT[0], TEXT[1], TEXT[1]]));
  }),
  silent: watched('silent', () => {}),
  'stalled error': watched('stalled error', res => {
    res.writeHead(500, { 'content-type': 'application/json' });
    res.write('{"error":');
  }),
  'error page without end': watched('error page without end', res => {
    res.writeHead(500);
    const write = () => {
      while (!res.destroyed && res.write('x'.repeat(65_536)));
      if (!res.destroyed) res.once('drain', write);
    };
    write();
  }),
  'done, open': watched('done, open', res => {
    head(res);
    res.write(sse([...TEXT, ...END]));
  }),
  dies: async res => {
    await pieces(res, [event(TEXT[0])], false);
    res.destroy();
  },
  fails: res => {
    res.writeHead(500);
    res.end('{"error":{"message":"broken"}}');
  },
  endless: watched('endless', res => {
    head(res);
    const line = event(chunk({ content: 'x'.repeat(3_900) }));
    const write = () => {
      while (!res.destroyed && res.write(line)) counts.endless++;
      if (!res.destroyed) res.once('drain', write);
    };
    write();
  }),
};
const counts = { endless: 0 };

let server: TestServer;
const rejections: unknown[] = [];
const note = (reason: unknown) => rejections.push(reason);
beforeAll(async () => {
  server = await serve(ANSWERS);
  process.on('unhandledRejection', note);
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  await server.close();
});
beforeEach(() => closed.clear());
afterEach(async () => {
  await new Promise(resolve => setImmediate(resolve));
  expect(rejections).toEqual([]);
});

const adapter = (name: string) => openaiChat({ model: 'm', baseURL: server.url(name) });
const stream = (name: string, signal?: AbortSignal) => adapter(name).stream(HELLO, contextOf(signal));

describe('life of a request', () => {
  it('sends nothing until it is iterated', async () => {
    const before = server.requests.length;
    stream('good');
    await new Promise(resolve => setImmediate(resolve));
    expect(server.requests.length).toBe(before);
  });

  it('leaving the loop closes the request', async () => {
    let deltas = 0;
    for await (const item of stream('stalls')) if (item.type === 'text_delta' && ++deltas === 3) break;
    await until(() => closed.has('stalls'), 'the server saw the end');
  });

  it('an error thrown in the loop closes the request and is passed on', async () => {
    const loop = async () => {
      for await (const item of stream('stalls')) if (item.type === 'text_delta') throw new Error('mine');
    };
    await expect(loop()).rejects.toThrow('mine');
    await until(() => closed.has('stalls'));
  });

  it('an aborted signal sends nothing and throws the reason', async () => {
    const before = server.requests.length;
    const reason = new Error('not now');
    await expect(run(adapter('good'), HELLO, contextOf(AbortSignal.abort(reason)))).rejects.toBe(reason);
    expect(server.requests.length).toBe(before);
  });

  it.each(['silent', 'stalled error'])('an abort while the server is %s', async name => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const running = run(adapter(name), HELLO, contextOf(controller.signal));
    const before = server.hits(name);
    await until(() => server.hits(name) > before);
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await until(() => closed.has(name));
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('an abort in the middle throws the reason and closes the socket', async () => {
    const controller = new AbortController();
    const reason = { why: 'any value may be a reason' };
    const seen: string[] = [];
    const loop = async () => {
      for await (const item of stream('stalls', controller.signal)) {
        seen.push(item.type);
        if (seen.filter(type => type === 'text_delta').length === 3) queueMicrotask(() => controller.abort(reason));
      }
    };
    await expect(loop()).rejects.toBe(reason);
    await until(() => closed.has('stalls'));
    expect(seen.at(-1)).toBe('text_delta');
  });

  it('an abort between two events of one packet is the last thing that happens', async () => {
    const controller = new AbortController();
    const reason = new Error('in between');
    let deltas = 0;
    const loop = async () => {
      for await (const item of stream('good', controller.signal)) {
        if (item.type === 'text_delta') {
          deltas++;
          controller.abort(reason);
        }
      }
    };
    await expect(loop()).rejects.toBe(reason);
    expect(deltas).toBe(1);
  });

  it('an abort after the end changes nothing', async () => {
    const controller = new AbortController();
    const result = await run(adapter('good'), HELLO, contextOf(controller.signal));
    controller.abort();
    expect(result.text).toBe('Good day');
  });

  it('an abort while the key is fetched', async () => {
    const controller = new AbortController();
    const before = server.requests.length;
    const apiKey = async () => {
      controller.abort(new Error('meanwhile'));
      return 'sk-123456';
    };
    await expect(run(openaiChat({ model: 'm', baseURL: server.url('good'), apiKey }), HELLO, contextOf(controller.signal))).rejects.toThrow(
      'meanwhile',
    );
    expect(server.requests.length).toBe(before);
  });

  it('a fetch that ignores its signal is left behind, and its late body closed', async () => {
    const controller = new AbortController();
    let cancelled = false;
    let answer: (response: Response) => void = () => {};
    const fetch = () =>
      new Promise<Response>(resolve => {
        answer = resolve;
      });
    const running = run(openaiChat({ model: 'm', fetch }), HELLO, contextOf(controller.signal));
    await new Promise(resolve => setImmediate(resolve));
    controller.abort(new Error('late'));
    await expect(running).rejects.toThrow('late');
    const body = new ReadableStream({
      cancel() {
        cancelled = true;
      },
    });
    answer(new Response(body));
    await until(() => cancelled);
  });

  it('a body that ignores the signal ends too', async () => {
    const controller = new AbortController();
    const fetch = async () => new Response(new ReadableStream({ start: body => body.enqueue(new TextEncoder().encode(event(TEXT[0]))) }));
    const loop = async () => {
      for await (const item of openaiChat({ model: 'm', fetch }).stream(HELLO, contextOf(controller.signal))) {
        if (item.type === 'text_delta') queueMicrotask(() => controller.abort(new Error('stop')));
      }
    };
    await expect(loop()).rejects.toThrow('stop');
  });

  it('leaves no listener on the signal after sixty calls', async () => {
    const controller = new AbortController();
    for (let i = 0; i < 60; i++) await run(adapter(['good', 'fails', 'dies'][i % 3]!), HELLO, contextOf(controller.signal));
    for await (const _ of stream('stalls', controller.signal)) break;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it.each<[string, (n: number) => object[]]>([
    ['text', n => Array.from({ length: n }, () => chunk({ content: 'abcd ' }))],
    [
      'arguments',
      n => [
        tools(fn(0, 'a', 'write', '{"text":"')),
        ...Array.from({ length: n }, () => tools(fn(0, 'a', 'write', 'a}b{ '))),
        tools(fn(0, 'a', 'write', '"}')),
      ],
    ],
    ['reasoning', n => Array.from({ length: n }, () => chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'abc ' }] }))],
  ])('a growing answer takes linear time: %s', async (_, make) => {
    const answer = (n: number) => {
      const body = sse([...make(n), ...END]);
      return async () => {
        const result = await run(openaiChat({ model: 'm', fetch: async () => new Response(body) }));
        expect(result.error).toBeUndefined();
      };
    };
    expect(await smallestGrowth(answer(3_000), answer(24_000))).toBeLessThan(LINEAR);
  });

  it('a dead socket throws', async () => {
    const result = await run(adapter('dies'));
    expect(result.error?.toJSON()).toMatchObject({ reason: 'network_error', retryable: false });
    expect(result.text).toBe('Good ');
  });

  it('an error that nobody hears is not unhandled', async () => {
    const iterator = stream('fails')[Symbol.asyncIterator]();
    await iterator.next().catch(() => {});
    const waiting = stream('stalls')[Symbol.asyncIterator]();
    await waiting.next();
    await waiting.return?.();
    await until(() => closed.has('stalls'));
  });

  it('[DONE] ends the answer while the socket stays open', async () => {
    const result = await run(adapter('done, open'));
    expect([result.text, result.finish]).toEqual(['Good day', 'stop']);
    await until(() => closed.has('done, open'), 'the socket was given up');
  });

  it('an error page without end is read up to a bound', async () => {
    const result = await run(adapter('error page without end'));
    expect(result.error?.reason).toBe('provider_unavailable');
    expect(result.error?.message.length).toBeLessThan(3_000);
    await until(() => closed.has('error page without end'));
  });

  it('a reader that stops holds the server back', async () => {
    const iterator = stream('endless')[Symbol.asyncIterator]();
    for (let i = 0; i < 5; i++) await iterator.next();
    let before = -1;
    // Full buffers: the number stands still over many turns of the event loop.
    for (let still = 0; still < 200; still = counts.endless === before ? still + 1 : 0) {
      before = counts.endless;
      await new Promise(resolve => setTimeout(resolve, 1));
    }
    // The socket floor of the survey is about 940 events of 4 KB.
    expect(counts.endless).toBeLessThan(3_000);
    await iterator.return?.();
    await until(() => closed.has('endless'));
  });

  it('an answer read to its end gives its connection back', async () => {
    const own = await serve({ good: ANSWERS.good! });
    for (let i = 0; i < 20; i++) expect((await run(openaiChat({ model: 'm', baseURL: own.url('good') }))).finish).toBe('stop');
    expect(own.sockets.size).toBeLessThanOrEqual(2);
    await own.close();
  });

  it('asks Node not to give up after 300 seconds, through whatever dispatcher is set', async () => {
    const key = Symbol.for('undici.globalDispatcher.1');
    const world = globalThis as unknown as Record<symbol, { dispatch(options: object, handler: unknown): boolean }>;
    await run(adapter('good'));
    const original = world[key]!;
    const seen: object[] = [];
    world[key] = {
      dispatch(options, handler) {
        seen.push(options);
        return original.dispatch(options, handler);
      },
    };
    try {
      expect((await run(adapter('good'))).text).toBe('Good day');
    } finally {
      world[key] = original;
    }
    expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
  });

  it('says what to do when no server answers', async () => {
    const probe = createServer();
    const port = await new Promise<number>(resolve =>
      probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port)),
    );
    await new Promise(resolve => probe.close(resolve));
    const result = await run(openaiChat({ model: 'm', baseURL: `http://127.0.0.1:${port}`, profile: 'ollama' }));
    expect(result.error).toMatchObject({ reason: 'network_error', retryable: true, provider: 'ollama' });
    expect(result.error?.message).toContain(`No server answers at http://127.0.0.1:${port}/v1/chat/completions`);
    expect(result.error?.message).toContain('ollama serve');
  });
});
