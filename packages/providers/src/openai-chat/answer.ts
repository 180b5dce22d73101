import { AdapterError, type AdapterEvent, BlockWriter, type Warning } from '@antiphon/engine';
import { findServerError } from '../http/classify.js';
import { type ErrorContext, errorInAnswer, htmlTitle, isHtml, parseJson } from '../http/errors.js';
import { SseParser } from '../http/sse.js';
import type { Profile } from './profiles.js';
import { ChunkReader, truncated } from './stream.js';

/** Characters kept of a body that is no event stream; an answer that was not streamed may be long. */
const MAX_STRAY_CHARS = 16 * 1024 * 1024;
const COLON = 58;
const BRACKET = 91;

/**
 * The body of one answer, from bytes to events. `feed` bytes and `take` events until `over`, or `end` when the bytes end; then `failure`
 * says whether it went wrong. Nothing is thrown, so that what arrived before a failure can be passed on first.
 */
export class AnswerReader {
  readonly #about: ErrorContext;
  readonly #headers: Headers;
  readonly #blocks = new BlockWriter();
  readonly #chunks: ChunkReader;
  readonly #sse = new SseParser({
    onEvent: (data, event) => this.#event(data, event),
    onStray: line => this.#stray(line),
    onOverflow: () => this.#fail('malformed_response', `${this.#about.provider} sent an event of more than 64 million characters.`),
  });
  /** A body that is no event stream: a JSON answer, an error, a page of HTML. */
  #body = '';
  readonly #raw: boolean;
  #events = 0;
  #done = false;
  failure: AdapterError | undefined;

  /** `raw`: the server's own events are passed on too. */
  constructor(profile: Profile, headers: Headers, about: ErrorContext, warnings: readonly Warning[], raw = false) {
    this.#about = about;
    this.#raw = raw;
    this.#headers = headers;
    this.#chunks = new ChunkReader(this.#blocks, profile);
    for (const warning of warnings) this.#blocks.warn(warning);
  }

  /** A part of the answer has been passed on. */
  get shown(): boolean {
    return this.#blocks.hasContent;
  }

  /** The answer is complete or has failed: the rest of the body is of no interest. */
  get over(): boolean {
    return this.#done || this.failure !== undefined;
  }

  feed(bytes: Uint8Array): void {
    this.#sse.feed(bytes);
  }

  take(): AdapterEvent[] {
    return this.#blocks.take();
  }

  /** The bytes have ended. */
  end(): void {
    this.#sse.end();
    if (!this.over && this.#body !== '') this.#readBody();
    if (this.over) return;
    const { provider } = this.#about;
    if (this.#chunks.finished) this.#complete();
    else if (this.#events === 0) this.#fail('truncated', `${provider} sent an empty answer.`, true);
    else this.failure = truncated(provider, 'the stream ended without a finish reason.', this.shown);
  }

  #event(data: string, event: string): void {
    // Keep-alives: no data, or a comment that a proxy has wrapped as data.
    if (data === '' || data.charCodeAt(0) === COLON) return;
    if (data.charCodeAt(0) === BRACKET && data.trim() === '[DONE]') {
      this.#doneMark();
      return;
    }
    this.#events++;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      this.#badData(data, event);
      return;
    }
    this.#accept(value);
    if (event === 'error' && !this.over) this.#serverError(findServerError(value) ?? { message: data, codes: [] });
  }

  #accept(value: unknown): void {
    if (this.#raw) this.#blocks.raw(JSON.parse(this.#about.redact(JSON.stringify(value))));
    this.#chunks.accept(value);
    if (this.#chunks.error) this.#serverError(this.#chunks.error);
  }

  #doneMark(): void {
    if (this.#chunks.answered) this.#complete();
    else this.#fail('truncated', `${this.#about.provider} ended the stream without an answer.`, true);
  }

  #complete(): void {
    this.#done = true;
    this.#sse.stop();
    this.#chunks.finish();
  }

  #badData(data: string, event: string): void {
    if (event === 'error') this.#serverError({ message: data, codes: [] });
    // Two events without the blank line between them.
    else if (!this.#acceptLines(data)) {
      const excerpt = this.#about.redact(data).slice(0, 80);
      this.#blocks.warn({ code: 'malformed_event', message: `An event that is not valid JSON was left out: ${excerpt}` });
    }
  }

  /** Takes each line as a chunk of its own; false, and nothing taken, unless all are JSON. */
  #acceptLines(text: string): boolean {
    if (!text.includes('\n')) return false;
    const lines = text.split('\n').filter(line => line.trim() !== '');
    const marked = lines.at(-1)?.trim() === '[DONE]';
    const values = (marked ? lines.slice(0, -1) : lines).map(parseJson);
    if (values.includes(undefined)) return false;
    for (const value of values) if (!this.over) this.#accept(value);
    if (marked && !this.over) this.#doneMark();
    return true;
  }

  /** A line without `data:`. An error is reported as soon as it stands there; anything else waits for the end. */
  #stray(line: string): void {
    const value = line.startsWith('{') ? parseJson(line) : undefined;
    const error = value === undefined ? undefined : findServerError(value);
    if (error) this.#serverError(error);
    else if (this.#body.length < MAX_STRAY_CHARS) this.#body += this.#body === '' ? line : `\n${line}`;
  }

  #readBody(): void {
    const value = parseJson(this.#body);
    if (value !== undefined) this.#accept(value);
    if (value !== undefined || this.#acceptLines(this.#body)) {
      // The server answered in one piece. Without a finish reason it is complete all the same: the JSON is.
      if (!this.over && this.#chunks.answered) this.#complete();
      if (this.over) return;
    }
    if (this.#events > 0) {
      this.#blocks.warn({ code: 'malformed_event', message: `Lines that belong to no event were left out: ${this.#excerpt()}` });
      return;
    }
    const { provider, address } = this.#about;
    if (isHtml(this.#body)) {
      const title = htmlTitle(this.#body);
      const named = title === undefined ? '' : ` ("${this.#about.redact(title)}")`;
      this.#fail(
        'malformed_response',
        `${provider} answered with a web page${named} instead of an answer: is ${address} the right base URL, and is there a login before it?`,
      );
    } else this.#fail('malformed_response', `${provider} answered with something else than an event stream: ${this.#excerpt()}`);
  }

  #excerpt(): string {
    return this.#about.redact(this.#body).slice(0, 200);
  }

  #serverError(error: Parameters<typeof errorInAnswer>[0]): void {
    this.failure = errorInAnswer(error, this.#headers, this.#about, this.shown);
    this.#sse.stop();
  }

  #fail(reason: 'malformed_response' | 'truncated', message: string, retryable = false): void {
    this.failure = new AdapterError(reason, message, { provider: this.#about.provider, retryable: retryable && !this.shown });
    this.#sse.stop();
  }
}
