// Fetches one address into a file, taking up where an earlier attempt stopped. Whether the bytes are right is the caller's question.

import { open, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileSize } from './files.js';

export interface DownloadOptions {
  readonly fetch: typeof fetch;
  /** Size if known: more than that is refused, and the progress total is known from the start. */
  readonly bytes?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (receivedBytes: number, totalBytes: number | undefined) => void;
  /** Milliseconds without a byte after which a connection counts as dead. */
  readonly stallMs?: number;
  /** Connections that may fail in a row without bringing a single byte. */
  readonly attempts?: number;
}

/** Something that the same request will not cure. */
class Refused extends Error {}

/** Downloads into `partial`, which may hold a beginning. Rejects with a plain Error of one line, or the signal's reason. */
export async function download(url: string, partial: string, options: DownloadOptions): Promise<void> {
  const attempts = options.attempts ?? 4;
  let failures = 0;
  for (;;) {
    const before = (await fileSize(partial)) ?? 0;
    try {
      await attempt(url, partial, options);
      return;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof Refused || isDiskError(error)) throw error;
      failures = ((await fileSize(partial)) ?? 0) > before ? 1 : failures + 1;
      if (failures >= attempts) throw error;
      await delay(100 * 3 ** (failures - 1), undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  }
}

async function attempt(url: string, partial: string, options: DownloadOptions): Promise<void> {
  const had = (await fileSize(partial)) ?? 0;
  if (options.bytes !== undefined && had === options.bytes) return;
  if (options.bytes !== undefined && had > options.bytes) {
    await rm(partial, { force: true });
    return attempt(url, partial, options);
  }
  const watchdog = createWatchdog(options.stallMs ?? 30_000, options.signal);
  try {
    // Without "identity" a server may compress, and a range of compressed bytes is no range of the file.
    const response = await options.fetch(url, {
      headers: { 'accept-encoding': 'identity', ...(had > 0 ? { range: `bytes=${had}-` } : {}) },
      signal: watchdog.signal,
    });
    const start = startOf(response, had);
    if (start === undefined) {
      await response.body?.cancel();
      await rm(partial, { force: true });
      if (had > 0) return await attempt(url, partial, options);
      throw refusal(response.status);
    }
    if (response.body === null) throw new Error('the server sent no body.');
    await store(response, response.body, partial, start, options, watchdog.touch);
  } catch (error) {
    if (watchdog.stalled()) throw new Error('the connection stalled.', { cause: error });
    throw error;
  } finally {
    watchdog.stop();
  }
}

/** Offset at which the body belongs, undefined when the answer is no use for it. */
function startOf(response: Response, had: number): number | undefined {
  if (response.status === 200) return 0;
  if (response.status === 206) {
    const from = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
    return from !== undefined && Number(from) === had ? had : undefined;
  }
  if (response.status === 416) return undefined;
  throw refusal(response.status);
}

function refusal(status: number): Error {
  const text = `the server answered ${status}.`;
  return status === 408 || status === 429 || status >= 500 ? new Error(text) : new Refused(text);
}

async function store(
  response: Response,
  body: ReadableStream<Uint8Array>,
  partial: string,
  start: number,
  options: DownloadOptions,
  touch: () => void,
): Promise<void> {
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  const total = options.bytes ?? (Number.isFinite(length) ? start + length : undefined);
  const file = await open(partial, start > 0 ? 'r+' : 'w');
  let position = start;
  try {
    options.onProgress?.(position, total);
    for await (const chunk of body) {
      touch();
      if (total !== undefined && position + chunk.length > total)
        throw new Refused(`the server sent more than the expected ${total} bytes.`);
      await file.write(chunk, 0, chunk.length, position);
      position += chunk.length;
      options.onProgress?.(position, total);
    }
  } finally {
    await file.close();
  }
  if (total !== undefined && position < total) throw new Error(`the connection ended after ${position} of ${total} bytes.`);
}

function isDiskError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EACCES' || code === 'EROFS' || code === 'EPERM' || code === 'EDQUOT' || code === 'ENOENT';
}

function createWatchdog(stallMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let stalled = false;
  const fire = () => {
    stalled = true;
    controller.abort(new Error('stalled'));
  };
  let timer = setTimeout(fire, stallMs);
  const onAbort = () => controller.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  outer?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    stalled: () => stalled,
    touch() {
      clearTimeout(timer);
      timer = setTimeout(fire, stallMs);
    },
    stop() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
}
