import type { Clock } from '../clock.js';

/** Milliseconds that a source has to stop by itself once it was told to. */
const STOP_GRACE_MS = 500;

/**
 * The same items, but ended by the signal: once it aborts, the next pull rejects with its reason. A source that heeds the signal gets the
 * time to close what it holds; one that does not is left alone after half a second, so that nobody waits for it. Leaving early closes the
 * source.
 */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal, clock: Clock): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  let state: 'running' | 'ended' | 'stuck' = 'running';
  let giveUp = () => {};
  let cancelGrace = () => {};
  const onAbort = () => {
    cancelGrace = clock.setTimer(STOP_GRACE_MS, giveUp);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const pull = () =>
    new Promise<IteratorResult<T, unknown>>((resolve, reject) => {
      giveUp = () => {
        state = 'stuck';
        reject(signal.reason);
      };
      iterator.next().then(resolve, error => {
        state = 'ended';
        reject(error);
      });
    });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await pull();
      if (done) {
        state = 'ended';
        return;
      }
      signal.throwIfAborted();
      yield value;
    }
  } finally {
    cancelGrace();
    signal.removeEventListener('abort', onAbort);
    const closing = state === 'ended' ? undefined : iterator.return?.();
    closing?.catch(() => {});
    // What is stuck in `next` would answer only after it.
    if (closing && (state as string) !== 'stuck') await within(clock, closing);
  }
}

/** Waits for `work`, but not longer than the grace. */
async function within(clock: Clock, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const tooLong = new Promise<void>(resolve => {
    cancel = clock.setTimer(STOP_GRACE_MS, resolve);
  });
  await Promise.race([work, tooLong]).finally(cancel);
}
