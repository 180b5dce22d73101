// From an address to an open socket, or to the reason why there is none.
import { type AdapterContext, AdapterError, type Clock } from '@antiphon/engine';
import type { Outgoing } from '../http/exchange.js';
import { type Closing, notOpened, type Refusal } from './failure.js';
import { extrasOf, type WebSocketConstructor, type WebSocketLike, type WsExtras } from './runtime.js';

/** Milliseconds for the connection and the upgrade together. */
const OPEN_MS = 15_000;
/** Milliseconds and bytes for the words of a server that refuses. */
const REFUSAL_MS = 2_000;
const REFUSAL_BYTES = 64 * 1024;

/** Who hears of an open socket. */
export interface SocketHandlers {
  message(text: string): void;
  /** A sign of life that is no message. */
  sign(): void;
  closed(closing: Closing): void;
}

/** An open socket whose events are kept until somebody wants them. */
export class OpenSocket {
  readonly socket: WebSocketLike;
  readonly extras: WsExtras | undefined;
  #handlers: SocketHandlers | undefined;
  #early: ((handlers: SocketHandlers) => void)[] = [];
  #gone = false;
  #cancel = () => {};

  constructor(socket: WebSocketLike) {
    this.socket = socket;
    this.extras = extrasOf(socket);
    const decoder = new TextDecoder();
    const onPong = () => this.#tell(handlers => handlers.sign());
    this.extras?.on('pong', onPong);
    socket.onmessage = ({ data }: { data: unknown }) => {
      const text = typeof data === 'string' ? data : decoder.decode(data as ArrayBuffer);
      this.#tell(handlers => handlers.message(text));
    };
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
      this.#gone = true;
      this.#cancel();
      this.extras?.off('pong', onPong);
      silence(socket);
      this.#tell(handlers => handlers.closed({ code, reason }));
    };
    // A close follows each error and says all there is to say; without a listener `ws` would throw it at the process.
    socket.onerror = ignore;
  }

  set handlers(handlers: SocketHandlers) {
    this.#handlers = handlers;
    for (const tell of this.#early) tell(handlers);
    this.#early = [];
  }

  close(clock: Clock, withinMs: number): void {
    if (this.#gone) return;
    this.#cancel();
    if (this.extras) this.#cancel = clock.setTimer(withinMs, () => this.extras?.terminate());
    this.socket.close(1000);
  }

  #tell(tell: (handlers: SocketHandlers) => void): void {
    if (this.#handlers) tell(this.#handlers);
    else this.#early.push(tell);
  }
}

/** Connects. Throws the signal's reason, or an `AdapterError` with the server's own words where the platform tells them. */
export function connect(WebSocket: WebSocketConstructor, request: Outgoing, { signal, clock }: AdapterContext): Promise<OpenSocket> {
  signal.throwIfAborted();
  const { about } = request;
  return new Promise((resolve, reject) => {
    let socket: WebSocketLike;
    try {
      socket = new WebSocket(socketUrl(request.url), { headers: headersOf(request.headers) });
    } catch (error) {
      return reject(notOpened({ error }, about, clock));
    }
    socket.binaryType = 'arraybuffer';
    const extras = extrasOf(socket);
    let failure: unknown;
    const settle = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort);
      cancel();
      extras?.off('unexpected-response', onRefused);
      finish();
    };
    const giveUp = (error: unknown) =>
      settle(() => {
        silence(socket);
        // It reports its own end once more, which nobody waits for.
        socket.onerror = ignore;
        if (extras) extras.terminate();
        else socket.close();
        reject(error);
      });
    const onAbort = () => giveUp(signal.reason);
    const onRefused = (_: unknown, response: Refused) =>
      readRefusal(response, clock).then(refusal => giveUp(notOpened(refusal, about, clock)));
    const cancel = clock.setTimer(OPEN_MS, () => {
      const message = `${about.address} did not open the connection within ${OPEN_MS} ms.`;
      giveUp(new AdapterError('timeout', message, { provider: about.provider, retryable: true }));
    });
    signal.addEventListener('abort', onAbort, { once: true });
    extras?.on('unexpected-response', onRefused);
    socket.onopen = () => settle(() => resolve(new OpenSocket(socket)));
    socket.onerror = (event: { error?: unknown; message?: unknown }) => {
      failure ??= event.error ?? event.message;
    };
    socket.onclose = ({ code }: { code: number }) => giveUp(notOpened({ error: failure ?? `close code ${code}` }, about, clock));
  });
}

/** Node's answer to an upgrade that was refused. */
interface Refused {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  on(event: string, listener: (data: Uint8Array) => void): unknown;
}

function readRefusal(response: Refused, clock: Clock): Promise<Refusal> {
  return new Promise(resolve => {
    const decoder = new TextDecoder();
    let body = '';
    const done = () => {
      cancel();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    };
    const cancel = clock.setTimer(REFUSAL_MS, done);
    response.on('data', bytes => {
      body += decoder.decode(bytes, { stream: true });
      if (body.length > REFUSAL_BYTES) done();
    });
    for (const event of ['end', 'error', 'close']) response.on(event, done);
  });
}

function socketUrl(url: URL): string {
  const address = new URL(url);
  address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return address.href;
}

function headersOf(headers: Headers): Record<string, string> {
  // Those of a body: an upgrade has none.
  return Object.fromEntries([...headers].filter(([name]) => name !== 'content-type' && name !== 'accept'));
}

function silence(socket: WebSocketLike): void {
  socket.onopen = null;
  socket.onmessage = null;
  socket.onclose = null;
  socket.onerror = null;
}

function ignore(): void {}
