import { AdapterError } from '@antiphon/engine';
import { connectionError, type ErrorContext } from './errors.js';

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

export interface Outgoing {
  readonly url: URL;
  readonly headers: Headers;
  /** JSON, or a form; a form's content type, with its boundary, is set by fetch. */
  readonly body: string | FormData;
  readonly fetch?: Fetch | undefined;
  readonly about: ErrorContext;
}

const MAX_REDIRECTS = 5;
/** Bytes of an error body that are read; a message is never longer, a hostile or broken server's page may be. */
const MAX_ERROR_BYTES = 1024 * 1024;

/**
 * One POST and the answer to it. It owns the socket from `send` to `close`: whatever happens in between, `close` leaves nothing open and no
 * listener on the caller's signal. (Listeners that the platform adds go to a controller of our own: Node removes them only when it collects
 * garbage, and sixty calls on one signal would leave sixty.)
 */
export class Exchange {
  readonly #signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #onAbort: () => void;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #about: ErrorContext | undefined;
  #ended = false;
  /** Bytes of the answer's body read so far. */
  received = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#onAbort = () => this.#cancel();
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Sends the request and waits for the answer's headers. Throws the signal's reason, or an AdapterError `network_error`. */
  async send(request: Outgoing): Promise<Response> {
    this.#about = request.about;
    let url = request.url;
    for (let hops = 0; ; hops++) {
      const response = await this.#fetch(request, url);
      const redirect =
        response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400 && response.headers.has('location'));
      if (!redirect) {
        this.#reader = response.body?.getReader();
        if (this.#signal.aborted) this.#cancel();
        this.#signal.throwIfAborted();
        return response;
      }
      void response.body?.cancel().catch(ignore);
      url = nextUrl(url, response, hops, request.about);
    }
  }

  /**
   * The next bytes, or undefined at the end. It pulls: while nobody asks, nothing is read and the server has to wait. Throws the signal's
   * reason, or an AdapterError `network_error` when the connection breaks; `shown` says whether the caller already passed on a part.
   */
  async read(shown: () => boolean): Promise<Uint8Array | undefined> {
    if (!this.#reader) return undefined;
    let piece: ReadableStreamReadResult<Uint8Array>;
    try {
      piece = await this.#reader.read();
    } catch (thrown) {
      this.#ended = true;
      this.#signal.throwIfAborted();
      throw connectionError(thrown, this.#about!, this.received, shown());
    }
    this.#signal.throwIfAborted();
    if (piece.done) {
      this.#ended = true;
      return undefined;
    }
    this.received += piece.value.byteLength;
    return piece.value;
  }

  /** The body as text, up to a cap. A connection that breaks meanwhile ends it early: the status is known already. */
  async readText(): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    try {
      while (this.received < MAX_ERROR_BYTES) {
        const bytes = await this.read(() => false);
        if (!bytes) break;
        text += decoder.decode(bytes, { stream: true });
      }
    } catch {
      this.#signal.throwIfAborted();
    }
    return text;
  }

  /**
   * Gives everything back. An answer that was not read to its end closes its connection (one that the server has ended already returns to
   * the pool).
   */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (!this.#ended) this.#cancel();
  }

  #cancel(): void {
    this.#ended = true;
    if (this.#reader) void this.#reader.cancel(this.#signal.reason).catch(ignore);
    else this.#controller.abort(this.#signal.reason);
  }

  async #fetch(request: Outgoing, url: URL): Promise<Response> {
    this.#signal.throwIfAborted();
    const init: RequestInit & { dispatcher?: unknown } = {
      method: 'POST',
      headers: request.headers,
      body: request.body,
      redirect: 'manual',
      signal: this.#controller.signal,
    };
    // A fetch of the caller's own may be of another make and know other dispatchers.
    if (request.fetch === undefined && patientDispatcher.available()) init.dispatcher = patientDispatcher;
    const send = request.fetch ?? globalThis.fetch;
    let answer: Promise<Response>;
    try {
      answer = Promise.resolve(send(url, init));
    } catch (thrown) {
      answer = Promise.reject(thrown);
    }
    try {
      return await untilAborted(answer, this.#controller.signal);
    } catch (thrown) {
      this.#signal.throwIfAborted();
      throw connectionError(thrown, request.about);
    }
  }
}

/** A fetch may ignore its signal: then the call ends all the same, and a late answer is closed unread. */
function untilAborted(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      answer.then(late => late.body?.cancel()).catch(ignore);
      reject(signal.reason);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A redirect is followed on its own origin only: another one must not see the key or the conversation. */
function nextUrl(from: URL, response: Response, hops: number, about: ErrorContext): URL {
  const location = response.headers.get('location');
  const to = location === null ? undefined : parseUrl(location, from);
  const where = to ? about.redact(`${to.origin}${to.pathname}`) : 'somewhere else';
  const details = { provider: about.provider, ...(response.status === 0 ? {} : { status: response.status }) };
  if (!to || to.origin !== from.origin) {
    throw new AdapterError(
      'invalid_request',
      `${about.address} redirects to ${where}. The request was not sent there, because it carries your key: if that is right, set baseURL to it.`,
      details,
    );
  }
  if (hops >= MAX_REDIRECTS)
    throw new AdapterError('invalid_request', `${about.address} redirects in a circle (last to ${where}).`, details);
  return to;
}

function parseUrl(text: string, base: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/**
 * Node's fetch gives up when headers or the next byte take more than 300 seconds, which a long prompt on a local machine or a reasoning
 * model may well do. The engine has timeouts of its own, so these are taken off, request by request; a proxy or any other dispatcher that
 * the application has set stays in use. Other runtimes ignore it.
 */
const patientDispatcher = {
  available: () => currentDispatcher() !== undefined,
  dispatch: (options: object, handler: unknown) =>
    currentDispatcher()!.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
};

function currentDispatcher(): Dispatcher | undefined {
  return (globalThis as { [GLOBAL_DISPATCHER]?: Dispatcher })[GLOBAL_DISPATCHER];
}

function ignore(): void {}
