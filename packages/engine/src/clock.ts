/** The only source of time. A virtual one (`@antiphon/engine/testing`) makes every run exact and instant. */
export interface Clock {
  /** Milliseconds since a fixed but arbitrary moment; never goes back. */
  now(): number;
  /** Milliseconds since 1970, for data that people read. */
  wallTime(): number;
  /** Calls `fire` once after `ms`; the returned function takes it back. */
  setTimer(ms: number, fire: () => void): () => void;
}

/** The machine's clock. A pending timer keeps the process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  setTimer(ms, fire) {
    // Longer waits overflow the platform's 32-bit timer and would fire at once.
    const timer = setTimeout(fire, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. No listener and no timer is left behind. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
