import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import { sleep } from '../clock.js';
import type { RetryPolicy } from '../contract.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';
import type { AdapterEvent, RetryEvent } from '../events/events.js';
import { abortable } from './abortable.js';

/**
 * One model call. Retries it as long as nothing of the answer was shown; a failure after that is thrown, since a second answer would begin
 * in the middle of the first. Whatever an adapter throws leaves as an `AntiphonError`, or as the signal's reason.
 */
export async function* callModel(
  adapter: ChatAdapter,
  request: ChatRequest,
  context: AdapterContext,
  policy: RetryPolicy | false,
): AsyncGenerator<AdapterEvent | RetryEvent> {
  const { signal, clock } = context;
  const maxRetries = policy === false ? 0 : (policy.maxRetries ?? 2);
  for (let attempt = 1; ; attempt++) {
    let shown = false;
    // Held back until the answer really begins, so that a retried try leaves no trace.
    const held: AdapterEvent[] = [];
    try {
      let ended = false;
      for await (const event of abortable(adapter.stream(request, context), signal, clock)) {
        if (event.type === 'message_end') ended = true;
        if (!shown) {
          held.push(event);
          if (event.type === 'message_start' || event.type === 'warning' || event.type === 'raw') continue;
          shown = true;
          for (const early of held) {
            yield early;
            signal.throwIfAborted();
          }
        } else {
          yield event;
        }
      }
      if (!shown) throw new AdapterError('malformed_response', `${adapter.provider}: the answer held nothing at all.`, { retryable: true });
      if (!ended) throw new AdapterError('truncated', `${adapter.provider}: the answer stopped before its end.`, { retryable: true });
      return;
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = asAntiphonError(thrown, adapter.provider);
      const delayMs = waitBefore(error, attempt, policy || {});
      if (shown || attempt > maxRetries || delayMs === undefined) {
        yield* shown ? [] : held.filter(event => event.type === 'warning');
        throw error;
      }
      yield { type: 'retry', attempt, delayMs, error: error.toJSON() };
      await sleep(clock, delayMs, signal);
    }
  }
}

function waitBefore(error: AntiphonError, attempt: number, { baseMs = 500, capMs = 60_000 }: RetryPolicy): number | undefined {
  if (!error.retryable) return undefined;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= capMs ? error.retryAfterMs : undefined;
  const full = Math.min(capMs, baseMs * 2 ** (attempt - 1));
  return full / 2 + (Math.random() * full) / 2;
}

function asAntiphonError(thrown: unknown, provider: string): AntiphonError {
  if (AntiphonError.isInstance(thrown)) return thrown;
  return new AdapterError('unknown', `${provider}: ${describe(thrown)}`, { cause: thrown, provider });
}
