import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import { isRecord } from '../data/json.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';
import type { AdapterEvent } from '../events/events.js';
import { invalidOption } from '../invalid-option.js';
import { around } from './around.js';

/** What a middleware is told about the model call. */
export interface MiddlewareInfo {
  readonly provider: string;
  readonly model: string;
  readonly requestId: string;
  readonly sessionId?: string;
  /** The call's own value, as tools see it. */
  readonly context: unknown;
  /** Aborts when the call is stopped. */
  readonly signal: AbortSignal;
}

/**
 * Stands around every request to the model, retries included. The first of a list is the outermost: it sees the request first and the events
 * last. What it throws fails the call; an `AntiphonError` as it is (a retryable one is tried again), anything else with the place named.
 *
 * ```ts
 * const brief: Middleware = { request: request => ({ ...request, maxTokens: 200 }) };
 * const shout: Middleware = {
 *   async *stream(events) {
 *     for await (const event of events) yield event.type === 'text_delta' ? { ...event, delta: event.delta.toUpperCase() } : event;
 *   },
 * };
 * createEngine({ chat, middleware: [brief, shout] });
 * ```
 */
export interface Middleware {
  /** For messages; default its place in the list. */
  readonly name?: string;
  /** Gives the request to send. Must not change the one it is given. */
  request?(request: ChatRequest, info: MiddlewareInfo): ChatRequest | Promise<ChatRequest>;
  /** Gives the events to pass on. Not reading `events` sends nothing: an answer may come from somewhere else. */
  stream?(events: AsyncIterable<AdapterEvent>, info: MiddlewareInfo): AsyncIterable<AdapterEvent>;
}

/** Throws `ConfigurationError` for a list that cannot work. */
export function checkMiddleware(list: unknown): void {
  const bad = (what: string) => invalidOption(`middleware must be a list of { request?, stream? }, ${what}.`);
  if (!Array.isArray(list)) throw bad(`not ${typeof list}`);
  list.forEach((item: unknown, i) => {
    if (!isRecord(item)) throw bad(`but [${i}] is no object`);
    for (const key of ['request', 'stream'] as const)
      if (item[key] !== undefined && typeof item[key] !== 'function') throw bad(`but [${i}].${key} is no function`);
    if (item.request === undefined && item.stream === undefined) throw bad(`but [${i}] has neither`);
  });
}

/** The adapter inside its middleware. */
export function withMiddleware(
  inner: ChatAdapter,
  list: readonly Middleware[],
  about: Pick<MiddlewareInfo, 'requestId' | 'sessionId' | 'context'>,
): ChatAdapter {
  const infoFor = (request: ChatRequest, context: AdapterContext): MiddlewareInfo => ({
    provider: inner.provider,
    model: request.model ?? inner.model,
    ...about,
    signal: context.signal,
  });
  const prepare = inner.prepare?.bind(inner);
  return around(inner, {
    async *stream(request: ChatRequest, context: AdapterContext): AsyncGenerator<AdapterEvent> {
      const info = infoFor(request, context);
      const asked = await throughRequests(list, request, info);
      const blame = new Blame(context.signal);
      let events = blame.none(inner.stream(asked, context));
      for (const [i, middleware] of [...list.entries()].reverse()) {
        if (!middleware.stream) continue;
        const below = events;
        events = blame.place(`${nameOf(middleware, i)}.stream`, () => middleware.stream!(below, info));
      }
      yield* events;
    },
    ...(prepare
      ? { prepare: async (request, context) => prepare(await throughRequests(list, request, infoFor(request, context)), context) }
      : {}),
  });
}

async function throughRequests(list: readonly Middleware[], first: ChatRequest, info: MiddlewareInfo): Promise<ChatRequest> {
  let request = first;
  for (const [i, middleware] of list.entries()) {
    if (!middleware.request) continue;
    const place = `${nameOf(middleware, i)}.request`;
    try {
      request = await middleware.request(request, info);
    } catch (thrown) {
      info.signal.throwIfAborted();
      throw failure(place, thrown);
    }
    if (!isRecord(request) || !Array.isArray(request.messages))
      throw new AdapterError('invalid_request', `${place} must return a request with messages, not ${describe(request)}.`);
  }
  return request;
}

/** Knows whose failure it is: what came up from below is passed on as it is. */
class Blame {
  readonly #known = new Set<unknown>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async *none(events: AsyncIterable<AdapterEvent>): AsyncGenerator<AdapterEvent> {
    try {
      yield* events;
    } catch (thrown) {
      this.#known.add(thrown);
      throw thrown;
    }
  }

  async *place(place: string, open: () => AsyncIterable<AdapterEvent>): AsyncGenerator<AdapterEvent> {
    try {
      const events: unknown = open();
      if (!isRecord(events) || typeof events[Symbol.asyncIterator as never] !== 'function')
        throw new TypeError('it must give an async iterable of events');
      yield* events as unknown as AsyncIterable<AdapterEvent>;
    } catch (thrown) {
      if (this.#signal.aborted || this.#known.has(thrown)) throw thrown;
      const error = failure(place, thrown);
      this.#known.add(error);
      throw error;
    }
  }
}

function failure(place: string, thrown: unknown): AntiphonError {
  if (AntiphonError.isInstance(thrown)) return thrown;
  return new AdapterError('unknown', `${place} failed: ${describe(thrown)}`, { cause: thrown });
}

function nameOf(middleware: Middleware, place: number): string {
  return middleware.name ?? `middleware[${place}]`;
}
