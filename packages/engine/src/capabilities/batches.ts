import { AntiphonError } from '../errors.js';

/** Requests under way at once, unless the caller says otherwise. */
const CONCURRENCY = 4;

/** Cuts a list into lists of at most `size`. `chunked([1, 2, 3], 2)` → `[[1, 2], [3]]` */
export function chunked<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < list.length; at += size) chunks.push(list.slice(at, at + size));
  return chunks;
}

/**
 * Runs `work` on each batch, at most `concurrency` at a time, begun in order. After a failure no further batch begins and none is tried
 * again, but those under way may finish: they are paid for. Then the first failure is thrown.
 */
export async function inBatches<T>(
  batches: readonly T[],
  concurrency: number | undefined,
  work: (batch: T, noMore: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  let next = 0;
  let failure: { readonly thrown: unknown } | undefined;
  const worker = async () => {
    while (next < batches.length && !failure) {
      try {
        await work(batches[next++] as T, stop.signal);
      } catch (thrown) {
        failure ??= { thrown };
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency ?? CONCURRENCY, batches.length) }, worker));
  if (failure) throw (failure as { readonly thrown: unknown }).thrown;
}

/** Fills places of `list`, batch by batch: `ask` gives what belongs in some of them, in their order. */
export function fillPlaces<T>(
  list: (T | null)[],
  batches: readonly (readonly number[])[],
  concurrency: number | undefined,
  ask: (places: readonly number[], noMore: AbortSignal) => Promise<readonly T[]>,
): Promise<void> {
  return inBatches(batches, concurrency, (batch, noMore) =>
    inHalves(batch, noMore, async places => {
      const found = await ask(places, noMore);
      for (const [i, place] of places.entries()) list[place] = found[i] as T;
    }),
  );
}

/**
 * Runs `work` on a batch, and on its halves when it is too long as a whole: providers limit the tokens of a request too, and only they can
 * count them. A single member that is too long is a failure. `noMore`: no half begins any more.
 */
async function inHalves<T>(batch: readonly T[], noMore: AbortSignal, work: (part: readonly T[]) => Promise<void>): Promise<void> {
  try {
    await work(batch);
  } catch (thrown) {
    const isTooLong = AntiphonError.isInstance(thrown) && thrown.reason === 'context_length_exceeded';
    if (!isTooLong || batch.length < 2 || noMore.aborted) throw thrown;
    const middle = Math.ceil(batch.length / 2);
    await inHalves(batch.slice(0, middle), noMore, work);
    await inHalves(batch.slice(middle), noMore, work);
  }
}
