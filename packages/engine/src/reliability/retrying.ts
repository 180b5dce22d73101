// When something that failed is sent again. The one retry loop of the house; it knows nothing of what is sent.

import { abortable } from '../async/abortable.js';
import { follow } from '../async/signals.js';
import { type Clock, sleep } from '../clock.js';
import { isRecord } from '../data/json.js';
import { isFunction, type Rule } from '../data/rules.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';
import type { RetryEvent } from '../events/events.js';

/** When a model call that failed is sent again. Waits double from `baseMs`, with jitter; a provider's own wait is obeyed up to `capMs`. */
export interface RetryPolicy {
  /** Further tries after the first; default 2. */
  readonly maxRetries?: number;
  /** Milliseconds before the first retry; default 500. */
  readonly baseMs?: number;
  /** The longest wait; a provider that asks for more fails the call at once. Default 60 000. */
  readonly capMs?: number;
  /** A number from 0 up to 1 for the jitter of each wait; by default one that depends on the clock and the number of the failure. */
  readonly random?: () => number;
}

/** What a policy must be so that it can work. */
export const retryPolicy: Rule = [
  'false or { maxRetries, baseMs, capMs } with numbers that are not negative, and perhaps a function random',
  value => value === false || (isRecord(value) && Object.entries(value).every(isPolicyPart)),
];

function isPolicyPart([key, value]: readonly [string, unknown]): boolean {
  if (value === undefined) return true;
  if (key === 'random') return isFunction(value);
  return ['maxRetries', 'baseMs', 'capMs'].includes(key) && typeof value === 'number' && value >= 0;
}

/** What a retry needs beside its policy. */
export interface RetryContext {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** For messages. */
  readonly provider: string;
  /** Once it aborts, no further try begins: the failure at hand is final. */
  readonly noMore?: AbortSignal;
  /**
   * Asked about each failure whether there may be another try: an object says yes, and its keys go into the `retry` event. By default a failure
   * after content is final; who allows another try then opens a source that begins where the shown part ends.
   */
  readonly again?: (error: AntiphonError, shown: boolean) => Pick<RetryEvent, 'continued'> | undefined;
}

/** What a stream of tries may need to do when it is over. */
export interface RetryStreamContext<T> extends RetryContext {
  /** Told before a final failure, but not before an abort. */
  readonly lastWords?: () => Iterable<T>;
  /** Called once at the end, whichever it is. */
  readonly close?: () => void;
}

/** Runs `work` until it succeeds or its failure is final. Rejects with an `AntiphonError`, or with the signal's reason as soon as it aborts. */
export async function retrying<T>(
  work: () => Promise<T>,
  policy: RetryPolicy | false,
  context: RetryContext,
  onRetry: (event: RetryEvent) => void,
): Promise<T> {
  async function* once() {
    yield { type: 'answer' as const, value: await work() };
  }
  for await (const item of retryingStream(once, () => true, policy, context)) {
    if (item.type === 'answer') return item.value;
    onRetry(item);
  }
  throw new AdapterError('malformed_response', `${context.provider}: there was no answer.`);
}

/**
 * The items of what `open` gives. A failure is followed by another try as long as no item was content, since a second answer would begin
 * in the middle of the first; items before the content are held back, so that a failed try leaves no trace. Throws an `AntiphonError`, or
 * the signal's reason. Leaving early closes the source.
 */
export async function* retryingStream<T>(
  open: () => AsyncIterable<T>,
  isContent: (item: T) => boolean,
  policy: RetryPolicy | false,
  context: RetryStreamContext<T>,
): AsyncGenerator<T | RetryEvent> {
  const { signal, clock, provider, noMore } = context;
  const mayGoOn = context.again ?? ((_, shown) => (shown ? undefined : {}));
  try {
    for (let attempt = 1; ; attempt++) {
      let shown = false;
      const held: T[] = [];
      try {
        for await (const item of abortable(open(), signal, clock)) {
          if (shown) {
            yield item;
            continue;
          }
          held.push(item);
          if (!isContent(item)) continue;
          shown = true;
          for (const early of held) {
            yield early;
            signal.throwIfAborted();
          }
        }
        if (!shown) yield* held;
        return;
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        const error = asAntiphonError(thrown, provider);
        const again = mayGoOn(error, shown);
        const delayMs = again === undefined || noMore?.aborted ? undefined : retryDelayMs(error, attempt, policy, clock, shown);
        if (delayMs === undefined) {
          yield* context.lastWords?.() ?? [];
          throw error;
        }
        yield { type: 'retry', attempt, delayMs, error: error.toJSON(), ...again };
        await pause(delayMs, error, context);
      }
    }
  } finally {
    context.close?.();
  }
}

/**
 * Milliseconds to wait before another try after failure number `attempt`; undefined when that failure is final. `allowed`: it was decided
 * elsewhere that the failure may be tried again.
 */
function retryDelayMs(
  error: AntiphonError,
  attempt: number,
  policy: RetryPolicy | false,
  clock: Clock,
  allowed = false,
): number | undefined {
  const { maxRetries = 2, baseMs = 500, capMs = 60_000, random = () => spread(clock.wallTime() + attempt) } = policy || { maxRetries: 0 };
  // An empty account does not fill up by waiting, whatever the server says.
  if (attempt > maxRetries || error.reason === 'insufficient_quota' || !(error.retryable || allowed)) return undefined;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= capMs ? error.retryAfterMs : undefined;
  const full = Math.min(capMs, baseMs * 2 ** (attempt - 1));
  return full / 2 + (random() * full) / 2;
}

/** A number from 0 up to 1 that looks random but is the same for the same seed (the mixing step of Mulberry32). */
function spread(seed: number): number {
  let mixed = (Math.floor(seed * 1000) + 0x6d2b79f5) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/** What was thrown, as an error of the family. */
export function asAntiphonError(thrown: unknown, provider: string): AntiphonError {
  if (AntiphonError.isInstance(thrown)) return thrown;
  return new AdapterError('unknown', `${provider}: ${describe(thrown)}`, { cause: thrown, provider });
}

async function pause(delayMs: number, error: AntiphonError, { clock, signal, noMore }: RetryContext): Promise<void> {
  if (!noMore) return sleep(clock, delayMs, signal);
  const either = new AbortController();
  const releases = [follow(either, signal), follow(either, noMore)];
  try {
    await sleep(clock, delayMs, either.signal);
  } catch {
    signal.throwIfAborted();
    throw error;
  } finally {
    for (const release of releases) release();
  }
}
