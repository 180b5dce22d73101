// A socket gives many events at once, and every hand that passes them on one by one makes the reader wait for a promise more. So the hands between
// the wire and the reader pass on what is there together, a burst; only the reader gets one at a time.

import { BURSTS, type Burst, type Bursts, END, OneByOne } from './one-by-one.js';

export type { Burst };

/**
 * A stream made of bursts. Who iterates it gets one item at a time, and none once `signal` has aborted: then it throws the signal's reason. The
 * engine takes the bursts as they are, at a fraction of the cost; so an adapter that reads several events at once should give them so:
 *
 * ```ts
 * stream: (request, context) => inBursts(readAnswer(request, context), context.signal), // an async generator of lists of events
 * ```
 */
export function inBursts<T>(bursts: AsyncGenerator<Burst<T>, void>, signal?: AbortSignal): AsyncIterable<T> {
  return new OneByOne(bursts, { signal });
}

/** The bursts of a stream. One that is not made of them has bursts of one item. */
export function burstsOf<T>(source: AsyncIterable<T>): Bursts<T> {
  const own = (source as { readonly [BURSTS]?: Bursts<T> })[BURSTS];
  if (own) return own;
  const items = source[Symbol.asyncIterator]();
  const single = ({ done, value }: IteratorResult<T>): IteratorResult<Burst<T>, void> =>
    done ? { done, value: undefined } : { done: false, value: [value] };
  return {
    next: async () => single(await items.next()),
    return: async () => {
      await items.return?.();
      return END;
    },
    throw: async error => {
      if (items.throw) return single(await items.throw(error));
      await items.return?.();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
