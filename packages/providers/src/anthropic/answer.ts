import { AdapterError, type AdapterEvent, BlockWriter, type Warning } from '@antiphon/engine';
import { findServerError } from '../http/classify.js';
import { type ErrorContext, errorInAnswer, htmlTitle, isHtml, parseJson } from '../http/errors.js';
import { SseParser } from '../http/sse.js';
import { MessageReader } from './stream.js';

/** Characters kept of a body that is no event stream; an answer that was not streamed may be long. */
const MAX_STRAY_CHARS = 16 * 1024 * 1024;

/**
 * The body of one answer, from bytes to events. `feed` bytes and `take` events until `over`, or `end` when the bytes end; then `failure`
 * says whether it went wrong. Nothing is thrown, so that what arrived before a failure can be passed on first.
 */
export class AnswerReader {
  readonly #about: ErrorContext;
  readonly #headers: Headers;
  readonly #raw: boolean;
  readonly #blocks = new BlockWriter();
  readonly #message: MessageReader;
  readonly #sse = new SseParser({
    onEvent: (data, event) => this.#event(data, event),
    onStray: line => this.#stray(line),
    onOverflow: () => this.#fail('malformed_response', 'sent an event of more than 64 million characters.'),
  });
  /** A body that is no event stream: a JSON answer, an error, a page of HTML. */
  #body = '';
  #events = 0;
  #done = false;
  failure: AdapterError | undefined;

  /** `raw`: the server's own events are passed on too. */
  constructor(messagesURL: URL, headers: Headers, about: ErrorContext, warnings: readonly Warning[], raw = false) {
    this.#about = about;
    this.#headers = headers;
    this.#raw = raw;
    this.#message = new MessageReader(this.#blocks, messagesURL);
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
    if (this.#events === 0) this.#fail('truncated', 'sent an empty answer.', true);
    else
      this.#fail(
        'truncated',
        `ended the stream without ${this.#message.finished ? 'message_stop' : 'a stop reason'}: the answer is not whole.`,
        true,
      );
  }

  #event(data: string, name: string): void {
    // Keep-alives: no data, or a comment that a proxy has wrapped as data.
    if (data.trim() === '' || data.startsWith(':')) return;
    // Not of this protocol, but gateways end their streams with it.
    if (data.trim() === '[DONE]') {
      if (this.#message.finished) this.#complete();
      return;
    }
    this.#events++;
    const value = parseJson(data);
    if (value !== undefined) {
      this.#accept(value, name);
      if (name === 'error' && !this.over) this.#serverError(findServerError(value) ?? { message: data, codes: [] });
    } else if (name === 'error') this.#serverError({ message: data, codes: [] });
    else {
      const excerpt = this.#about.redact(data).slice(0, 80);
      this.#blocks.warn({ code: 'malformed_event', message: `An event that is not valid JSON was left out: ${excerpt}` });
    }
  }

  #accept(value: unknown, name: string): void {
    if (this.#raw) this.#blocks.raw(JSON.parse(this.#about.redact(JSON.stringify(value))));
    this.#message.accept(value, name);
    const { error, fault, complete } = this.#message;
    if (error) this.#serverError(error);
    else if (fault !== undefined) this.#fail('malformed_response', `sent a broken answer: ${fault}.`, true);
    else if (complete) this.#complete();
  }

  #complete(): void {
    this.#done = true;
    this.#sse.stop();
    this.#message.finish();
  }

  /** A line without `data:`. An error is reported as soon as it stands there; anything else waits for the end. */
  #stray(line: string): void {
    const value = line.startsWith('{') ? parseJson(line) : undefined;
    const error = value === undefined ? undefined : findServerError(value);
    if (error) this.#serverError(error);
    else if (this.#body.length < MAX_STRAY_CHARS) this.#body += this.#body === '' ? line : `\n${line}`;
  }

  #readBody(): void {
    const value = this.#events === 0 ? parseJson(this.#body) : undefined;
    if (value !== undefined) {
      this.#accept(value, '');
      const error = this.over ? undefined : findServerError(value);
      if (error) this.#serverError(error);
      if (this.over) return;
    }
    const excerpt = this.#about.redact(this.#body).slice(0, 200);
    if (this.#events > 0) {
      this.#blocks.warn({ code: 'malformed_event', message: `Lines that belong to no event were left out: ${excerpt}` });
    } else if (isHtml(this.#body)) {
      const title = htmlTitle(this.#body);
      const named = title === undefined ? '' : ` ("${this.#about.redact(title)}")`;
      const hint = `is ${this.#about.address} the right base URL, and is there a login before it?`;
      this.#fail('malformed_response', `answered with a web page${named} instead of an answer: ${hint}`);
    } else this.#fail('malformed_response', `answered with something else than an event stream: ${excerpt}`);
  }

  #serverError(error: Parameters<typeof errorInAnswer>[0]): void {
    this.failure = errorInAnswer(error, this.#headers, this.#about, this.shown);
    this.#sse.stop();
  }

  #fail(reason: 'malformed_response' | 'truncated', what: string, retryable = false): void {
    const { provider } = this.#about;
    this.failure = new AdapterError(reason, `${provider} ${what}`, { provider, retryable: retryable && !this.shown });
    this.#sse.stop();
  }
}
