// The one client of WebSockets: opening, waiting, failing and closing, always in bounded time.
import { type AntiphonError, createEngine, type SpeechAdapter, systemClock } from '@antiphon/engine';
import { virtualClock } from '@antiphon/engine/testing';
import { elevenlabsSpeech, type WebSocketLike } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { base64, type SoundServer, sine, soundServers } from './support/sound-server.js';

const KEY = 'secret-key-123';
const server = soundServers();
// The thinnest protocol over it: every wait of the client can be seen through it.
const adapterAt = (url: string): SpeechAdapter => elevenlabsSpeech({ model: 'm', baseURL: url, apiKey: KEY });
async function* once() {
  yield 'Hello. ';
}
async function failureAt(url: string, clock = systemClock, signal?: AbortSignal) {
  const engine = createEngine({ speech: adapterAt(url), retry: false, clock });
  const outcome = await engine.streamSpeechFromText(once(), { idleTimeoutMs: 600_000, ...(signal ? { signal } : {}) }).outcome;
  return outcome as { status: string; reason?: string; error: AntiphonError };
}

describe('opening', () => {
  test('nobody listens there', async () => {
    const at = await server({});
    await at.close();
    expect((await failureAt(at.url)).error).toMatchObject({ reason: 'network_error', retryable: true });
  });

  test('the server hangs up', async () => {
    const at = await server({ refuse: 'hang up' });
    expect((await failureAt(at.url)).error).toMatchObject({ reason: 'network_error', retryable: true });
  });

  test.each([
    [401, 'authentication_failed'],
    [403, 'permission_denied'],
    [429, 'rate_limited'],
    [503, 'provider_unavailable'],
  ])('an upgrade refused with %i keeps status and words, without the key', async (status, reason) => {
    const at = await server({ refuse: { status, body: JSON.stringify({ detail: { message: `No, ${KEY}`, status: 'no' } }) } });
    const { error } = await failureAt(at.url);
    expect(error).toMatchObject({ reason, status, message: expect.stringContaining('No, [redacted]') });
  });

  test('a web page instead of an upgrade', async () => {
    const at = await server({ refuse: { status: 200, body: '<html><title>Login</title></html>' } });
    expect((await failureAt(at.url)).error).toMatchObject({ message: expect.stringContaining('Login') });
  });

  test('a server that never answers: the deadline is the context’s clock’s', async () => {
    const at = await server({ refuse: 'silent' });
    const clock = virtualClock();
    const failing = failureAt(at.url, clock);
    await expect.poll(() => at.hits.length).toBe(1);
    await clock.advance(15_000);
    expect((await failing).error).toMatchObject({ reason: 'timeout', retryable: true });
  });

  test('aborted before: no connection; aborted while it opens: its own reason, and nothing is left', async () => {
    const at = await server({ refuse: 'silent' });
    expect(await failureAt(at.url, systemClock, AbortSignal.abort())).toMatchObject({ status: 'interrupted' });
    expect(at.hits).toHaveLength(0);
    const stop = new AbortController();
    const failing = failureAt(at.url, systemClock, stop.signal);
    await expect.poll(() => at.hits.length).toBe(1);
    stop.abort();
    expect(await failing).toMatchObject({ status: 'interrupted', reason: 'aborted' });
  });
});

describe('close codes', () => {
  test.each([
    [1000, '', 'truncated', false],
    [1001, 'going away', 'truncated', true],
    [1003, '', 'invalid_request', false],
    [1008, '', 'invalid_request', false],
    [1008, 'quota_exceeded', 'insufficient_quota', false],
    [1011, '', 'provider_unavailable', true],
    [1013, '', 'provider_unavailable', true],
    [3000, 'invalid_request_error.invalid_api_key', 'authentication_failed', false],
    [4321, `who is ${KEY}?`, 'unknown', false],
  ])('%i %j is %s', async (code, words, reason, retryable) => {
    const at = await server({ socket: socket => socket.close(code, words) });
    const { error } = await failureAt(at.url);
    expect([error.reason, error.retryable]).toEqual([reason, retryable]);
    expect(error.message).toContain(String(code));
    expect(error.message).not.toContain(KEY);
    if (words !== '' && code !== 4321) expect(error.message).toContain(words);
  });

  test('an upgrade that is refused takes nothing of the text, so it is tried again', async () => {
    const at = await server({ refuse: { status: 503, body: '' } });
    const retry = { maxRetries: 2, baseMs: 1, capMs: 1 };
    const outcome = await createEngine({ speech: adapterAt(at.url), retry }).streamSpeechFromText(once()).outcome;
    expect(outcome).toMatchObject({ status: 'failed', error: { status: 503 } });
    expect(at.hits).toHaveLength(3);
  });
});

describe('an open connection', () => {
  test('one that is dead is found out by a ping', async () => {
    const at = await server({
      socket(socket) {
        socket.pong = () => {};
        (socket as unknown as { _autoPong: boolean })._autoPong = false;
      },
    });
    const clock = virtualClock();
    const failing = failureAt(at.url, clock);
    await expect.poll(() => at.sockets.size).toBe(1);
    // The client's side of the upgrade.
    await expect
      .poll(() => clock.pending)
      .toBeGreaterThan(0)
      .catch(() => {});
    let over: unknown;
    void failing.then(outcome => {
      over = outcome;
    });
    for (let i = 0; i < 200 && over === undefined; i++) {
      await clock.advance(1_000);
      await new Promise(resolve => setImmediate(resolve));
    }
    expect((await failing).error).toMatchObject({ reason: 'network_error', message: expect.stringContaining('ping') });
  });

  test('a slow server makes the sender wait', async () => {
    const at = await server({ socket: socket => socket.pause() });
    let taken = 0;
    async function* endless() {
      for (;;) {
        taken++;
        yield `${'x'.repeat(100_000)} `;
      }
    }
    const stop = new AbortController();
    const engine = createEngine({ speech: adapterAt(at.url), retry: false });
    const outcome = engine.streamSpeechFromText(endless(), { signal: stop.signal }).outcome;
    await expect.poll(() => taken).toBeGreaterThan(2);
    const { taken: settled } = await stands(() => taken);
    expect(settled).toBeLessThan(400);
    stop.abort();
    expect((await outcome).status).toBe('interrupted');
  });

  test('no listener is left on the signal after many calls', async () => {
    const at = await server({ socket: socket => socket.send(JSON.stringify({ audio: base64(sine(2)), isFinal: true })) });
    const stop = new AbortController();
    const listeners = new Set<unknown>();
    const { addEventListener, removeEventListener } = stop.signal;
    Object.assign(stop.signal, {
      addEventListener: (...args: Parameters<typeof addEventListener>) => {
        listeners.add(args[1]);
        return addEventListener.apply(stop.signal, args);
      },
      removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
        listeners.delete(args[1]);
        return removeEventListener.apply(stop.signal, args);
      },
    });
    for (let i = 0; i < 20; i++) {
      for await (const _ of adapterAt(at.url).streamSpeechFromText!({}, once(), {
        signal: stop.signal,
        requestId: 'x',
        clock: systemClock,
      }));
    }
    expect(listeners.size).toBe(0);
    await expect.poll(at.open).toBe(0);
  });
});

describe('a socket that has the standard’s members only', () => {
  /** What other runtimes offer: no status of a refused upgrade, no ping. */
  class Plain implements WebSocketLike {
    readonly #ws: WebSocket;
    onopen: WebSocketLike['onopen'] = null;
    onmessage: WebSocketLike['onmessage'] = null;
    onclose: WebSocketLike['onclose'] = null;
    onerror: WebSocketLike['onerror'] = null;
    binaryType = 'blob';
    constructor(url: string, options: { readonly headers: Record<string, string> }) {
      this.#ws = new WebSocket(url, options);
      this.#ws.onopen = event => this.onopen?.(event as never);
      this.#ws.onmessage = event => this.onmessage?.({ data: event.data } as never);
      this.#ws.onclose = ({ code, reason }) => this.onclose?.({ code, reason } as never);
      this.#ws.onerror = () => this.onerror?.({ message: 'Received network error or non-101 status code.' } as never);
    }
    get readyState() {
      return this.#ws.readyState;
    }
    get bufferedAmount() {
      return this.#ws.bufferedAmount;
    }
    send(data: string) {
      this.#ws.send(data);
    }
    close(code?: number, reason?: string) {
      this.#ws.close(code, reason);
    }
  }
  const ask = (at: SoundServer) => {
    const speech = elevenlabsSpeech({ model: 'm', baseURL: at.url, apiKey: KEY, webSocket: Plain });
    return createEngine({ speech, retry: false }).streamSpeechFromText(once()).outcome;
  };

  test('it speaks', async () => {
    const at = await server({ socket: socket => socket.send(JSON.stringify({ audio: base64(sine(2)), isFinal: true })) });
    expect((await ask(at)).status).toBe('completed');
    expect(at.hits[0]!.headers['xi-api-key']).toBe(KEY);
    await expect.poll(at.open).toBe(0);
  });

  test('it is refused, it is closed, it is lost', async () => {
    const refused = await server({ refuse: { status: 401, body: '' } });
    expect(await ask(refused)).toMatchObject({ error: { reason: 'network_error', message: expect.stringContaining('non-101') } });
    const closed = await server({ socket: socket => socket.close(1008, 'quota_exceeded') });
    expect(await ask(closed)).toMatchObject({ error: { reason: 'insufficient_quota' } });
    const lost = await server({ socket: socket => socket.terminate() });
    expect(await ask(lost)).toMatchObject({ error: { reason: 'network_error' } });
  });
});

/** The value once it has stopped changing for some turns of the event loop. */
async function stands(value: () => number): Promise<{ taken: number }> {
  let last = value();
  for (let same = 0; same < 300; ) {
    await new Promise(resolve => setImmediate(resolve));
    same = value() === last ? same + 1 : 0;
    last = value();
  }
  return { taken: last };
}
