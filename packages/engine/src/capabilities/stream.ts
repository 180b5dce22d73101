// What the streams of speech and transcription have in common: one drive, one way to end.
import type { AdapterContext } from '../adapters/chat.js';
import { AdapterError } from '../errors.js';
import type { RetryEvent } from '../events/events.js';
import { retryingStream } from '../reliability/retrying.js';
import { Call, type CapabilityOptions, type CapabilityReport, type Ending, type Runtime } from './call.js';
import { malformed, shown } from './checks.js';
import { type Feed, Watchdog } from './feed.js';

/** Options of a streamed call. */
export interface StreamOptions extends CapabilityOptions {
  /** Milliseconds of silence of the provider before the call is given up; waiting for the caller's own input does not count. Default 60 000. */
  readonly idleTimeoutMs?: number;
}

/** The last event of every stream. */
export interface CapabilityEnd<Outcome> {
  readonly type: 'end';
  readonly outcome: Outcome;
}

/**
 * A streamed call that can be watched once. Nothing is sent before somebody reads: iterating drives it, one event per pull, and awaiting
 * `outcome` without iterating drives it too. Leaving the loop early stops the request; the outcome is `interrupted` then. `outcome` does
 * not reject for failures of the world. The last event is `end`.
 *
 * ```ts
 * for await (const event of engine.streamSpeech('Hello!')) if (event.type === 'audio_delta') play(event.bytes);
 * ```
 */
export class CapabilityStream<Event extends { readonly type: string }, Outcome> implements AsyncIterable<Event | CapabilityEnd<Outcome>> {
  readonly #run: AsyncGenerator<Event, Outcome>;
  readonly #stop: () => void;
  readonly #result: { promise: Promise<Outcome>; resolve(outcome: Outcome): void; reject(thrown: unknown): void };
  #reader: 'none' | 'loop' | 'drain' = 'none';
  #over = false;

  /** `run` returns the outcome; `stop` makes it return soon. */
  constructor(run: AsyncGenerator<Event, Outcome>, stop: () => void) {
    this.#run = run;
    this.#stop = stop;
    let [resolve, reject]: [(outcome: Outcome) => void, (thrown: unknown) => void] = [() => {}, () => {}];
    const promise = new Promise<Outcome>((onOutcome, onBug) => {
      [resolve, reject] = [onOutcome, onBug];
    });
    promise.catch(() => {});
    this.#result = { promise, resolve, reject };
  }

  get outcome(): Promise<Outcome> {
    // A loop that begins in the same turn goes first.
    queueMicrotask(() => {
      if (this.#reader !== 'none') return;
      this.#reader = 'drain';
      void this.#toTheEnd();
    });
    return this.#result.promise;
  }

  [Symbol.asyncIterator](): AsyncIterator<Event | CapabilityEnd<Outcome>, undefined> {
    if (this.#reader !== 'none')
      throw new TypeError('This stream was read already: iterate it once, or keep its events to read them again.');
    this.#reader = 'loop';
    return {
      next: () => this.#next(),
      return: async () => {
        this.#stop();
        await this.#toTheEnd();
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<Event | CapabilityEnd<Outcome>, undefined>> {
    if (this.#over) return { done: true, value: undefined };
    try {
      const { done, value } = await this.#run.next();
      if (done !== true) return { done: false, value };
      // Two pulls at once: the second finds the generator used up.
      if (this.#over) return { done: true, value: undefined };
      this.#over = true;
      this.#result.resolve(value);
      return { done: false, value: { type: 'end', outcome: value } };
    } catch (thrown) {
      this.#over = true;
      this.#result.reject(thrown);
      throw thrown;
    }
  }

  async #toTheEnd(): Promise<void> {
    try {
      while (!(await this.#next()).done);
    } catch {
      // Whoever awaits the outcome gets it.
    }
  }
}

/** What is particular to one kind of stream. `Item` is what its adapter yields. */
export interface StreamKind<Item, Outcome> {
  /** Throws for what the adapter cannot do; nothing was sent. */
  gate(): void;
  open(context: AdapterContext, watchdog: Watchdog): AsyncIterable<Item>;
  /** True for the items after which the call cannot be tried again. */
  isContent(item: Item): boolean;
  /** Reads one item; throws for one that cannot be right. True says that the answer is complete. */
  accept(item: Item): boolean;
  /** The answer is complete: throws when something that was asked for is not in it. */
  finish(): void;
  outcome(ending: Ending & CapabilityReport): Outcome;
  readonly feed?: Feed<unknown>;
}

/** A stream that has not begun: neither its timers nor its listeners are set before somebody reads. */
export function streamCall<Item extends { readonly type: string }, Outcome>(
  provider: string,
  options: StreamOptions,
  runtime: Runtime,
  kindOf: (call: Call) => StreamKind<Item, Outcome>,
): CapabilityStream<Item | RetryEvent, Outcome> {
  const stop = new AbortController();
  async function* run() {
    const call = new Call(provider, options, runtime, { stop });
    return yield* runStream(call, kindOf(call), options.idleTimeoutMs ?? 60_000);
  }
  return new CapabilityStream(run(), () => stop.abort());
}

async function* runStream<Item extends { readonly type: string }, Outcome>(
  call: Call,
  kind: StreamKind<Item, Outcome>,
  idleTimeoutMs: number,
): AsyncGenerator<Item | RetryEvent, Outcome> {
  const { context, provider } = call;
  const { signal, clock } = context;
  const watchdog = new Watchdog(clock, idleTimeoutMs, () => call.timeOut(`${provider} was silent for ${idleTimeoutMs} ms`));
  let ending: Ending = { status: 'completed' };
  try {
    signal.throwIfAborted();
    kind.gate();
    const about = { signal, clock, provider, ...(kind.feed === undefined ? {} : { noMore: kind.feed.taken }) };
    const open = () => watched(kind.open(context, watchdog), watchdog, provider);
    let complete = false;
    for await (const item of retryingStream<Item>(open, kind.isContent, call.retry, about)) {
      if (item.type !== 'retry') complete = kind.accept(item as Item);
      yield item;
      if (complete) break;
    }
    if (kind.feed?.failure) throw kind.feed.failure;
    if (!complete) throw new AdapterError('truncated', `${provider}: the answer stopped before its end.`, { provider });
    kind.finish();
  } catch (thrown) {
    ending = call.endingOf(kind.feed?.failure ?? thrown);
  } finally {
    watchdog.stop();
    kind.feed?.close(call);
  }
  return kind.outcome({ ...ending, ...call.close() });
}

/** The same items; the watchdog counts only while one is awaited, since a slow reader is nobody's fault. */
async function* watched<T extends { readonly type: string }>(
  source: AsyncIterable<T>,
  watchdog: Watchdog,
  provider: string,
): AsyncGenerator<T> {
  const iterator = source?.[Symbol.asyncIterator]?.();
  if (typeof iterator?.next !== 'function') throw malformed(provider, 'the adapter gave no stream');
  let ended = false;
  const next = async () => {
    try {
      return await iterator.next();
    } catch (thrown) {
      ended = true;
      throw thrown;
    }
  };
  try {
    for (;;) {
      watchdog.start();
      const { done, value } = await next();
      watchdog.stop();
      ended ||= done === true;
      if (done) return;
      if (typeof value?.type !== 'string') throw malformed(provider, `the adapter yielded ${shown(value)} instead of an event`);
      yield value;
    }
  } finally {
    watchdog.stop();
    if (!ended) await iterator.return?.();
  }
}
