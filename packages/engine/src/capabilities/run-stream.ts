// What the streams of speech and transcription have in common: one drive, one way to end.
import type { AdapterContext } from '../adapters/chat.js';
import { shown } from '../data/rules.js';
import { AdapterError } from '../errors.js';
import type { RetryEvent, WarningEvent } from '../events/events.js';
import { retryingStream } from '../reliability/retrying.js';
import type { CapabilityEvent } from '../telemetry/telemetry.js';
import type { Ending } from './call.js';
import { type Feed, Watchdog } from './feed.js';
import { malformed } from './refusals.js';
import { type About, Call, type Runtime } from './run-call.js';
import type { StreamOptions } from './stream.js';

/** What is particular to one kind of stream. `Item` is what its adapter yields. */
export interface StreamKind<Item> {
  /** Throws for what the adapter cannot do; nothing was sent. */
  gate(): void;
  open(context: AdapterContext, watchdog: Watchdog): AsyncIterable<Item>;
  /** True for the items after which the call cannot be tried again. */
  isContent(item: Item): boolean;
  /** Reads one item; throws for one that cannot be right. True says that the answer is complete. */
  accept(item: Exclude<Item, WarningEvent>): boolean;
  /** The answer is complete: throws when something that was asked for is not in it. */
  finish(): void;
  /** What there is of the answer at the end. */
  content(ending: Ending): object;
  readonly feed?: Feed<unknown>;
}

/** What a streamed call needs beside its request. */
export interface StreamContext {
  readonly options: StreamOptions;
  readonly runtime: Runtime;
  /** Aborts when the reader leaves. */
  readonly stop: AbortController;
}

/** Runs a streamed call: its timers and listeners are set now. */
export async function* runStream<Item extends CapabilityEvent, Outcome>(
  about: About,
  { options, runtime, stop }: StreamContext,
  kindOf: (call: Call) => StreamKind<Item>,
): AsyncGenerator<Item | RetryEvent, Outcome> {
  const { idleTimeoutMs = 60_000 } = options;
  const call = new Call(about, options, runtime, { stop });
  const kind = kindOf(call);
  const { context, provider } = call;
  const { signal, clock } = context;
  const watchdog = new Watchdog(clock, idleTimeoutMs, () => call.timeOut(`${provider} was silent for ${idleTimeoutMs} ms`));
  let ending: Ending = { status: 'completed' };
  try {
    signal.throwIfAborted();
    kind.gate();
    const retry = { signal, clock, provider, ...(kind.feed === undefined ? {} : { noMore: kind.feed.taken }) };
    const open = () => watched(kind.open(context, watchdog), watchdog, provider);
    let complete = false;
    for await (const item of retryingStream<Item>(open, kind.isContent, call.retry, retry)) {
      if (item.type === 'warning') call.warn(item.warning);
      else if (item.type !== 'retry') complete = kind.accept(item as Exclude<Item, WarningEvent>);
      call.saw(item);
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
  return call.close(ending, kind.content(ending)) as Outcome;
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
