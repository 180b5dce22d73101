import { type Clock, sleep } from '../clock.js';
import { isRecord } from '../data/json.js';
import { AdapterError, ValidationError } from '../errors.js';
import {
  decodeBytes,
  describeRequest,
  type FetchLike,
  type HttpRecording,
  type RecordedFailure,
  type RecordedRequest,
  type RecordedResponse,
} from './recording.js';

/** What `replayFetch` takes beside its recordings. */
export interface ReplayOptions {
  /** Texts that are hidden in requests before they are compared, as when they were recorded. */
  readonly secrets?: readonly string[];
  /** Chunks come at their recorded times on this clock. Left out, each comes as soon as it is read. */
  readonly clock?: Clock;
}

/** A `fetch` that answers from recordings. */
export interface ReplayFetch extends FetchLike {
  /** Recordings that were not asked for yet. */
  readonly remaining: number;
}

/**
 * A `fetch` that answers from recordings and never opens a socket. Each recording answers one request, which must be what was recorded:
 * method, address, headers and body (JSON is compared as JSON); of several that fit, the first that is left. Anything else rejects with an
 * `AdapterError` that names the first difference (`invalid_request`), or says that none is left (`script_exhausted`). Chunks keep their
 * boundaries; broken connections break again, and where the recorded reader had gone away, the answer stays open until the signal aborts.
 *
 * ```ts
 * const chat = openaiChat({ model, fetch: replayFetch(JSON.parse(await readFile('hello.json', 'utf8'))) });
 * ```
 */
export function replayFetch(recordings: HttpRecording | readonly HttpRecording[], options: ReplayOptions = {}): ReplayFetch {
  const left: HttpRecording[] = checked(Array.isArray(recordings) ? recordings : [recordings]);
  const total = left.length;
  const replay = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const { request } = await describeRequest(input, init, options.secrets ?? []);
    const place = left.findIndex(recording => difference(recording.request, request) === undefined);
    const recording = left[place];
    if (!recording) throw mismatch(request, left, total);
    left.splice(place, 1);
    const { response, failure } = recording;
    if (!response) throw await failed(failure ?? { message: 'the recording holds neither an answer nor a failure' }, signal);
    if (options.clock) await sleep(options.clock, response.atMs, signal ?? undefined);
    const { status, statusText, headers } = response;
    const hasNoBody = status === 204 || status === 205 || status === 304;
    return new Response(hasNoBody ? null : bodyOf(response, signal ?? undefined, options.clock), { status, statusText, headers });
  };
  return Object.defineProperty(replay, 'remaining', { get: () => left.length }) as ReplayFetch;
}

function checked(recordings: readonly HttpRecording[]): HttpRecording[] {
  for (const [i, recording] of recordings.entries()) {
    if (!isRecord(recording) || recording.version !== 1 || !isRecord(recording.request)) {
      const version = isRecord(recording) ? `version ${String(recording.version)}` : 'no object';
      throw new ValidationError(
        'invalid_request',
        `Recording ${i} is none of version 1, but ${version}: record it again with recordFetch.`,
      );
    }
  }
  return [...recordings];
}

function bodyOf(response: RecordedResponse, signal: AbortSignal | undefined, clock: Clock | undefined): ReadableStream<Uint8Array> {
  const { chunks, end, endMs, failure } = response;
  let next = 0;
  let now = response.atMs;
  let onAbort = () => {};
  const until = async (atMs: number) => {
    if (clock) await sleep(clock, Math.max(0, atMs - now), signal);
    now = atMs;
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        onAbort = () => controller.error(signal?.reason);
        if (signal?.aborted) onAbort();
        signal?.addEventListener('abort', onAbort, { once: true });
      },
      async pull(controller) {
        const chunk = chunks[next];
        try {
          await until(chunk?.atMs ?? endMs);
        } catch {
          // The abort has ended the stream already.
          return;
        }
        if (chunk) {
          next++;
          controller.enqueue(decodeBytes(chunk));
          return;
        }
        if (end === 'left' && signal) return;
        signal?.removeEventListener('abort', onAbort);
        if (end === 'complete') controller.close();
        else controller.error(errorOf(failure ?? { message: 'The recording ends here, because its reader went away.' }));
      },
      cancel() {
        signal?.removeEventListener('abort', onAbort);
      },
    },
    { highWaterMark: 0 },
  );
}

/** As the platform tells it: a TypeError around its cause, which has the code. */
function errorOf({ message, cause, code }: RecordedFailure): TypeError {
  const inner = Object.assign(new Error(cause ?? message), code === undefined ? {} : { code });
  return cause === undefined && code === undefined ? new TypeError(message) : new TypeError(message, { cause: inner });
}

/** What the recorded call failed with. One that its caller aborted waits for this caller to abort, too. */
async function failed(failure: RecordedFailure, signal: AbortSignal | null | undefined): Promise<unknown> {
  if (!failure.aborted || !signal) return errorOf(failure);
  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
  return signal.reason;
}

function mismatch(request: RecordedRequest, left: readonly HttpRecording[], total: number): AdapterError {
  const asked = `${request.method} ${request.url}`;
  const [expected] = left;
  if (!expected) {
    const message = `replayFetch: ${asked} came after all ${total} recordings were used.`;
    return new AdapterError('script_exhausted', message);
  }
  const others = left.length > 1 ? `, and none of the ${left.length - 1} others fits` : '';
  const message = `replayFetch: ${asked} is not what was recorded: ${difference(expected.request, request)}${others}.`;
  return new AdapterError('invalid_request', message);
}

/** Where a request first differs from the recorded one; undefined when it does not. */
function difference(recorded: RecordedRequest, sent: RecordedRequest): string | undefined {
  return firstDifference(comparable(recorded), comparable(sent), '');
}

function comparable(request: RecordedRequest): unknown {
  const { body } = request;
  return { ...request, ...(body && 'text' in body ? { body: parsed(body.text) } : {}) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function firstDifference(recorded: unknown, sent: unknown, path: string): string | undefined {
  if (typeof recorded === 'object' && recorded !== null && typeof sent === 'object' && sent !== null) {
    const [a, b] = [recorded as Record<string, unknown>, sent as Record<string, unknown>];
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const [mine, yours] = [Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined];
      const found = firstDifference(mine, yours, Array.isArray(recorded) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
      if (found) return found;
    }
    return Array.isArray(recorded) === Array.isArray(sent) ? undefined : `${path} is a list in only one of them`;
  }
  return Object.is(recorded, sent) ? undefined : `${path} was ${brief(recorded)} and is ${brief(sent)}`;
}

function brief(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
