import { type AdapterContext, AdapterError, type Clock, isRecord, sleep } from '@antiphon/engine';
import { parseJson } from '../http/errors.js';
import type { Outgoing } from '../http/exchange.js';
import { type Closing, closedEarly } from './failure.js';
import { connect, type OpenSocket } from './open.js';
import { type WebSocketConstructor, webSocketFor } from './runtime.js';

/** Bytes that may wait to be sent before the sender has to. */
const SEND_BUFFER_BYTES = 256 * 1024;
/** Milliseconds between two looks at the buffer: the standard has no event for it. */
const DRAIN_MS = 10;
/** Characters that may wait to be read before the other side has to wait, and one message's utmost. */
const READ_BUFFER_CHARS = 8 * 1024 * 1024;
/** Milliseconds of silence after which the other side is felt for, and again as many until it counts as gone. */
const PING_MS = 15_000;
/** Milliseconds that the other side has to say goodbye. */
const CLOSE_MS = 1_000;

const IN_GOOD_ORDER: Closing = { code: 1000, reason: '' };

type End = { readonly closing: Closing } | { readonly thrown: unknown };

/**
 * One WebSocket as a pull: `send` texts, `next` messages, and `close`, after which neither socket nor timer nor listener is left. It knows
 * no protocol. Every wait ends: with the signal (its reason is thrown), with the connection, or with a deadline on the context's clock.
 */
export class Socket {
  readonly #open: OpenSocket;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #about: Outgoing['about'];
  #queue: string[] = [];
  #head = 0;
  #waiting = 0;
  #paused = false;
  #end: End | undefined;
  #wake = () => {};
  #cancelPing = () => {};
  #heard = true;
  /** A part of the answer was passed on: from now on no failure is retryable. Set by whoever reads. */
  shown = false;

  private constructor(open: OpenSocket, about: Outgoing['about'], { signal, clock }: AdapterContext) {
    this.#open = open;
    this.#about = about;
    this.#signal = signal;
    this.#clock = clock;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    open.handlers = {
      message: text => this.#receive(text),
      sign: () => {
        this.#heard = true;
      },
      closed: closing => {
        this.#release();
        this.#finish({ closing });
      },
    };
    if (open.extras) this.#watch(false);
  }

  /** Opens a connection to where the request would go, with its headers. */
  static async open(request: Outgoing, context: AdapterContext, given?: WebSocketConstructor): Promise<Socket> {
    context.signal.throwIfAborted();
    const WebSocket = await webSocketFor(request.about.provider, given);
    return new Socket(await connect(WebSocket, request, context), request.about, context);
  }

  /** Sends a value as JSON, and waits while too much is on the way. Once the connection has ended nothing happens: `next` tells. */
  async send(value: unknown): Promise<void> {
    if (this.#end) return;
    this.#open.socket.send(JSON.stringify(value));
    while (!this.#end && this.#open.socket.bufferedAmount > SEND_BUFFER_BYTES) await sleep(this.#clock, DRAIN_MS);
  }

  /**
   * The next message, which must be a JSON object; undefined when the other side has closed in good order or `finish` was called. Throws
   * the signal's reason, what `fail` was given, or an `AdapterError` for a connection that broke.
   */
  async next(): Promise<Record<string, unknown> | undefined> {
    while (this.#head === this.#queue.length) {
      if (this.#end) return this.#ending(this.#end);
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
    const text = this.#queue[this.#head++] as string;
    this.#waiting -= text.length;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    if (this.#paused && this.#waiting < READ_BUFFER_CHARS / 2) {
      this.#paused = false;
      this.#open.extras?.resume();
    }
    const value = parseJson(text);
    if (isRecord(value)) return value;
    const { provider, redact } = this.#about;
    const message = `${provider} sent a message that is no JSON object: ${redact(text.slice(0, 10_000)).slice(0, 80)}`;
    throw new AdapterError('malformed_response', message, { provider });
  }

  /** The error for an end that came too early, although in good order. */
  tooEarly(): AdapterError {
    const closing = this.#end && 'closing' in this.#end ? this.#end.closing : IN_GOOD_ORDER;
    return closedEarly(closing, this.#about, this.shown);
  }

  /** Whoever reads gets this error at once. */
  fail(thrown: unknown): void {
    this.#queue = [];
    this.#head = 0;
    this.#finish({ thrown });
  }

  /** Whoever reads gets what came so far, and then undefined. */
  finish(): void {
    this.#finish({ closing: IN_GOOD_ORDER });
  }

  /** Says goodbye, and hangs up when the other side takes too long. */
  close(): void {
    this.#release();
    this.#finish({ closing: IN_GOOD_ORDER });
    if (this.#paused) this.#open.extras?.resume();
    this.#open.close(this.#clock, CLOSE_MS);
  }

  readonly #onAbort = () => {
    this.fail(this.#signal.reason);
    this.close();
  };

  #receive(text: string): void {
    this.#heard = true;
    if (this.#end) return;
    this.#queue.push(text);
    this.#waiting += text.length;
    if (!this.#paused && this.#waiting > READ_BUFFER_CHARS && this.#open.extras) {
      this.#paused = true;
      this.#open.extras.pause();
    }
    this.#wake();
  }

  #finish(end: End): void {
    this.#end ??= end;
    this.#wake();
  }

  #ending(end: End): undefined {
    if ('thrown' in end) throw end.thrown;
    const { code } = end.closing;
    if (code !== 1000 && code !== 1005) throw closedEarly(end.closing, this.#about, this.shown);
    return undefined;
  }

  #release(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#cancelPing();
  }

  /** A connection may be dead without anybody being told. While the other side is made to wait, its silence means nothing. */
  #watch(asked: boolean): void {
    this.#heard = false;
    this.#cancelPing = this.#clock.setTimer(PING_MS, () => {
      if (this.#heard || this.#paused) return this.#watch(false);
      if (!asked) {
        this.#open.extras?.ping();
        return this.#watch(true);
      }
      const { provider, address } = this.#about;
      const message = `The connection to ${address} is dead: no answer to a ping within ${PING_MS} ms.`;
      this.fail(new AdapterError('network_error', message, { provider, retryable: !this.shown }));
      this.#open.extras?.terminate();
    });
  }
}
