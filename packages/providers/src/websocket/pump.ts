import type { Socket } from './socket.js';

/**
 * Passes input on while the answer is read: takes the next piece when the last one is on its way. A source that fails fails the socket.
 * Call the result to stop: the source is closed, and what it still gives is dropped.
 */
export function pump<T>(
  source: AsyncIterable<T>,
  socket: Socket,
  work: { send(item: T): Promise<void>; end(): Promise<void> },
): () => void {
  const iterator = source[Symbol.asyncIterator]();
  let stopped = false;
  let ended = false;
  const run = async () => {
    try {
      for (;;) {
        const { done, value } = await iterator.next();
        ended ||= done === true;
        if (stopped) return;
        if (done) break;
        await work.send(value);
        if (stopped) return;
      }
      await work.end();
    } catch (thrown) {
      ended = true;
      if (!stopped) socket.fail(thrown);
    }
  };
  void run();
  return () => {
    if (stopped) return;
    stopped = true;
    // Not awaited: a source that is waiting for its own input would answer only after it.
    if (!ended) void iterator.return?.().catch(() => {});
  };
}
