import { type Clock, systemClock } from '../clock.js';
import { describe } from '../errors.js';
import { redactor } from '../reliability/redact.js';
import {
  describeHeaders,
  describeRequest,
  encodeBytes,
  type FetchLike,
  type HttpRecording,
  masked,
  type RecordedFailure,
  type RecordedRequest,
} from './recording.js';

/** What `recordFetch` takes. */
export interface RecordOptions {
  /** What is recorded; default the platform's. */
  readonly fetch?: FetchLike;
  /** Texts that must never stand in a recording. Keys in headers, query fields and bodies are found by their names, but name yours. */
  readonly secrets?: readonly string[];
  /** Called once for each exchange, when its body has ended, failed or been left. */
  readonly onRecording: (recording: HttpRecording) => void;
  /** Default the machine's. */
  readonly clock?: Clock;
}

/**
 * A `fetch` that does what yours does and tells what passed through it, as plain JSON for `replayFetch`: each chunk of the body as it came,
 * with its time. It reads no faster than the reader.
 *
 * ```ts
 * const recordings: HttpRecording[] = [];
 * const fetch = recordFetch({ secrets: [key], onRecording: recording => recordings.push(recording) });
 * await createEngine({ chat: openaiChat({ model, fetch }) }).generate('Hello');
 * ```
 */
export function recordFetch({ fetch = globalThis.fetch, secrets: given = [], onRecording, clock = systemClock }: RecordOptions): FetchLike {
  return async (input, init) => {
    const began = clock.now();
    const { request, secrets } = await describeRequest(input, init, given);
    const hide = redactor(secrets);
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const failure = (thrown: unknown): RecordedFailure => failureFrom(thrown, hide, signal?.aborted === true);
    let response: Response;
    try {
      response = await fetch(input, init);
    } catch (thrown) {
      onRecording({ version: 1, request, failure: failure(thrown) });
      throw thrown;
    }
    const tape = new Tape(request, response, secrets, () => Math.round(clock.now() - began), onRecording);
    return tape.tapped(failure, () => signal?.aborted === true);
  };
}

/** The answer to one request on its way through. */
class Tape {
  readonly #request: RecordedRequest;
  readonly #response: Response;
  readonly #secrets: readonly string[];
  readonly #elapsedMs: () => number;
  readonly #onRecording: (recording: HttpRecording) => void;
  readonly #atMs: number;
  readonly #chunks: { readonly atMs: number; readonly bytes: Uint8Array }[] = [];
  #over = false;

  constructor(
    request: RecordedRequest,
    response: Response,
    secrets: readonly string[],
    elapsedMs: () => number,
    onRecording: (recording: HttpRecording) => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#secrets = secrets;
    this.#elapsedMs = elapsedMs;
    this.#onRecording = onRecording;
    this.#atMs = elapsedMs();
  }

  /** The same answer, which is recorded while it is read. */
  tapped(failure: (thrown: unknown) => RecordedFailure, aborted: () => boolean): Response {
    const { body, status, statusText, headers } = this.#response;
    if (!body) {
      this.#finish('complete');
      return this.#response;
    }
    const reader = body.getReader();
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          try {
            const { done, value } = await reader.read();
            if (done) {
              this.#finish('complete');
              controller.close();
            } else {
              // A copy: whoever reads may do with the bytes what he likes.
              this.#chunks.push({ atMs: this.#elapsedMs(), bytes: value.slice() });
              controller.enqueue(value);
            }
          } catch (thrown) {
            this.#finish(aborted() ? 'left' : 'lost', failure(thrown));
            controller.error(thrown);
          }
        },
        cancel: reason => {
          this.#finish('left');
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(stream, { status, statusText, headers });
  }

  #finish(end: 'complete' | 'lost' | 'left', failure?: RecordedFailure): void {
    if (this.#over) return;
    this.#over = true;
    const { status, statusText, headers } = this.#response;
    const bytes = masked(
      this.#chunks.map(chunk => chunk.bytes),
      this.#secrets,
    );
    this.#onRecording({
      version: 1,
      request: this.#request,
      response: {
        status,
        statusText,
        headers: describeHeaders(headers, redactor(this.#secrets)),
        atMs: this.#atMs,
        chunks: this.#chunks.map(({ atMs }, i) => ({ atMs, ...encodeBytes(bytes[i] as Uint8Array) })),
        end,
        endMs: this.#elapsedMs(),
        ...(failure === undefined ? {} : { failure }),
      },
    });
  }
}

function failureFrom(thrown: unknown, hide: (text: string) => string, aborted: boolean): RecordedFailure {
  const cause: unknown = thrown instanceof Error ? thrown.cause : undefined;
  const { code } = (cause ?? thrown ?? {}) as { readonly code?: unknown };
  return {
    message: hide(describe(thrown)),
    ...(cause === undefined ? {} : { cause: hide(describe(cause)) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(aborted ? { aborted } : {}),
  };
}
