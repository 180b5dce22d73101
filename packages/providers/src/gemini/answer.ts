import { AdapterError, type AdapterEvent, BlockWriter, type Warning } from '@antiphon/engine';
import { findServerError } from '../http/classify.js';
import { type ErrorContext, errorInAnswer, htmlTitle, isHtml, parseJson } from '../http/errors.js';
import { SseParser } from '../http/sse.js';
import { isInteraction } from './interactions/events.js';
import { StepReader } from './interactions/step-reader.js';
import { JsonValues } from './json-values.js';
import { ChunkReader } from './stream.js';

const COLON = 58;

/**
 * The body of one answer, from bytes to events. `feed` bytes and `take` events until `over`, or `end` when the bytes end; then `failure`
 * says whether it went wrong. Nothing is thrown, so that what arrived before a failure can be passed on first. It reads event streams, and
 * the list of JSON objects that the API sends when a proxy drops `alt=sse`. Which of Google's two APIs answers is seen in each event.
 */
export class AnswerReader {
  readonly #about: ErrorContext;
  readonly #headers: Headers;
  readonly #raw: boolean;
  readonly #blocks = new BlockWriter();
  readonly #chunks = new ChunkReader(this.#blocks);
  readonly #steps = new StepReader(this.#blocks);
  readonly #sse = new SseParser({
    onEvent: (data, event) => this.#event(data, event),
    onStray: line => this.#bare.feed(`${line}\n`),
    onOverflow: () => this.#fail('malformed_response', 'sent an event of more than 64 million characters'),
  });
  /** JSON without `data:` before it. */
  readonly #bare = new JsonValues(text => this.#accept(text));
  #events = 0;
  #ended = false;
  failure: AdapterError | undefined;

  /** `raw`: the server's own events are passed on too. */
  constructor(headers: Headers, about: ErrorContext, warnings: readonly Warning[], raw = false) {
    this.#headers = headers;
    this.#about = about;
    this.#raw = raw;
    for (const warning of warnings) this.#blocks.warn(warning);
  }

  /** A part of the answer has been passed on. */
  get shown(): boolean {
    return this.#blocks.hasContent;
  }

  /** The answer is complete or has failed; the rest of the bytes is of no interest. */
  get over(): boolean {
    return this.#ended || this.failure !== undefined;
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
    if (this.over) return;
    this.#ended = true;
    this.#steps.breakOff();
    const { rest } = this.#bare;
    if (this.#chunks.finished) {
      if (rest !== '') this.#warnOf(rest);
      this.#chunks.finish();
    } else if (this.#steps.error) this.#serverError(this.#steps.error);
    else if (this.#events > 0 || this.#bare.isOpen) {
      const message = `The answer of ${this.#about.provider} is not whole: the stream ended without a finish reason.`;
      this.failure = new AdapterError('truncated', message, { provider: this.#about.provider, retryable: !this.shown });
    } else if (rest === '') this.#fail('truncated', 'sent an empty answer', true);
    else if (isHtml(rest)) {
      const title = htmlTitle(rest);
      const named = title === undefined ? '' : ` ("${title}")`;
      const where = `is ${this.#about.address} the right base URL, and is there a login before it?`;
      this.#fail('malformed_response', `answered with a web page${named} instead of an answer: ${where}`);
    } else this.#fail('malformed_response', `answered with something else than an event stream: ${rest.slice(0, 200)}`);
  }

  #event(data: string, event: string): void {
    // Keep-alives: no data, or a comment that a proxy has wrapped as data. Some gateways end with the mark of another dialect.
    if (this.over || data === '' || data.charCodeAt(0) === COLON || data.trim() === '[DONE]') return;
    this.#accept(data);
    if (event === 'error' && !this.failure) this.#serverError(findServerError(parseJson(data)) ?? { message: data, codes: [] });
  }

  #accept(text: string): void {
    if (this.over) return;
    this.#events++;
    const value = parseJson(text);
    if (value === undefined) {
      // Two events without the blank line between them.
      const lines = text.split('\n').map(parseJson);
      if (lines.length > 1 && !lines.includes(undefined)) for (const line of lines) this.#acceptValue(line);
      else this.#warnOf(text);
    } else this.#acceptValue(value);
  }

  #acceptValue(value: unknown): void {
    if (this.over) return;
    if (this.#raw) this.#blocks.raw(JSON.parse(this.#about.redact(JSON.stringify(value))));
    for (const event of Array.isArray(value) ? value : [value]) {
      if (isInteraction(event)) this.#steps.accept(event);
      else this.#chunks.accept(event);
    }
    const error = this.#steps.error ?? this.#chunks.error;
    if (error) this.#serverError(error);
    else if (this.#steps.finished) {
      // Its last event is marked as such, while a chunk of generateContent may always be followed by another.
      this.#steps.finish();
      this.#ended = true;
      this.#sse.stop();
    }
  }

  #warnOf(text: string): void {
    const excerpt = this.#about.redact(text).slice(0, 80);
    this.#blocks.warn({ code: 'malformed_event', message: `An event that is not valid JSON was left out: ${excerpt}` });
  }

  #serverError(error: Parameters<typeof errorInAnswer>[0]): void {
    this.failure = errorInAnswer(error, this.#headers, this.#about, this.shown);
    this.#sse.stop();
  }

  #fail(reason: 'malformed_response' | 'truncated', what: string, retryable = false): void {
    const { provider, redact } = this.#about;
    this.failure = new AdapterError(reason, redact(`${provider} ${what}.`), { provider, retryable });
    this.#sse.stop();
  }
}
