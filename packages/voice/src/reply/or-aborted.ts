/** Waits for the work, but not longer than the signal allows; leaves no listener. */
export function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', done, { once: true });
    void work.then(done);
  });
}
