import { AdapterError, type AdapterEvent, type Warning } from '@antiphon/engine';
import { findServerError, type ServerError } from '../http/classify.js';
import { type ErrorContext, errorInAnswer, htmlTitle, isHtml, parseJson } from '../http/errors.js';
import { SseParser } from '../http/sse.js';
import { truncated } from '../openai-chat/stream.js';
import { ResponseReader } from './response-reader.js';

/** What an answer's reader has to know of its request. */
export interface AnswerAbout {
  readonly about: ErrorContext;
  readonly headers: Headers;
  readonly warnings: readonly Warning[];
  /** Tools that the request offers, for calls that wrap others. */
  readonly toolNames: ReadonlySet<string>;
  /** The tools that the caller runs, where other calls may be the server's own. */
  readonly callable?: ReadonlySet<string>;
  /** The server's own events are passed on too. */
  readonly raw: boolean;
}

/** Characters kept of a body that is no event stream. */
const MAX_BODY_CHARS = 16 * 1024 * 1024;

/**
 * The body of one answer, from bytes to events: `feed` bytes and `take` events until it is `over`, or `end` it when the bytes end. Nothing is
 * thrown, so that what arrived before a failure can be passed on first; the failure stands in `failure`.
 */
export class AnswerBody {
  readonly #request: AnswerAbout;
  readonly #reader: ResponseReader;
  readonly #sse: SseParser;
  /** Lines outside of events: a JSON answer, an error, a web page. */
  #lines: string[] = [];
  #chars = 0;
  #events = 0;
  failure: AdapterError | undefined;

  constructor(request: AnswerAbout) {
    this.#request = request;
    this.#reader = new ResponseReader(request.about.provider, request.toolNames, request.callable);
    for (const warning of request.warnings) this.#reader.blocks.warn(warning);
    this.#sse = new SseParser({
      onEvent: (data, name) => this.#event(data, name),
      onStray: line => this.#line(line),
      onOverflow: () => this.#fail('malformed_response', 'sent an event of more than 64 million characters.'),
    });
  }

  /** A part of the answer has been passed on. */
  get shown(): boolean {
    return this.#reader.blocks.hasContent;
  }

  /** The answer is complete or has failed; the rest of the body is of no interest. */
  get over(): boolean {
    return this.#reader.done || this.failure !== undefined;
  }

  feed(bytes: Uint8Array): void {
    this.#sse.feed(bytes);
  }

  take(): AdapterEvent[] {
    return this.#reader.take();
  }

  end(): void {
    this.#sse.end();
    if (!this.over && this.#lines.length > 0) this.#readBody(this.#lines.join('\n'));
    if (this.over) return;
    // What came of the last item is passed on before the failure.
    this.#reader.flush();
    const { provider } = this.#request.about;
    if (this.#events === 0) this.#fail('truncated', 'sent an empty answer.', true);
    else this.failure = truncated(provider, 'the stream ended before the response was complete.', this.shown);
  }

  #event(data: string, name: string): void {
    if (data === '' || data.startsWith(':') || data === '[DONE]') return;
    this.#events++;
    const value = parseJson(data);
    if (value !== undefined) this.#accept(value, name);
    else if (name === 'error') this.#serverError({ message: data, codes: [] });
    else if (!this.#acceptLines(data)) this.#badEvent(data, name);
  }

  #accept(value: unknown, name = ''): void {
    const { raw, about } = this.#request;
    if (raw) this.#reader.blocks.raw(JSON.parse(about.redact(JSON.stringify(value))));
    this.#reader.accept(value, name);
    if (this.#reader.error) this.#serverError(this.#reader.error);
    else if (this.#reader.done) this.#sse.stop();
  }

  /** Events without the blank line between them. False, and nothing taken, unless each line is JSON. */
  #acceptLines(text: string): boolean {
    const lines = text.split('\n').filter(line => line.trim() !== '' && line !== '[DONE]');
    const values = lines.map(parseJson);
    if (values.length < 2 || values.includes(undefined)) return false;
    for (const value of values) if (!this.over) this.#accept(value);
    return true;
  }

  #badEvent(data: string, name: string): void {
    const message = `An event that is not valid JSON was left out: ${this.#request.about.redact(data).slice(0, 80)}`;
    this.#reader.blocks.warn({ code: 'malformed_event', message });
    const type = name === '' ? /^\s*\{\s*"type"\s*:\s*"([a-z_.]+)"/.exec(data.slice(0, 200))?.[1] : name;
    // The end was announced, only its account is unreadable.
    if (type !== 'response.completed') return;
    this.#reader.complete();
    this.#sse.stop();
  }

  /** An error is reported as soon as it stands there; any other line waits for the end. */
  #line(line: string): void {
    const error = line.startsWith('{') ? findServerError(parseJson(line)) : undefined;
    if (error) this.#serverError(error);
    else if (this.#chars < MAX_BODY_CHARS) {
      this.#chars += line.length;
      this.#lines.push(line);
    }
  }

  #readBody(body: string): void {
    const value = parseJson(body);
    if (value !== undefined) {
      this.#accept(value);
      if (this.over) return;
    } else if (this.#acceptLines(body)) {
      this.#events++;
      return;
    }
    const { redact, address } = this.#request.about;
    const excerpt = redact(body).slice(0, 200);
    if (this.#events > 0) {
      this.#reader.blocks.warn({ code: 'malformed_event', message: `Lines that belong to no event were left out: ${excerpt}` });
    } else if (isHtml(body)) {
      const title = htmlTitle(body);
      const page = title === undefined ? 'a web page' : `a web page ("${redact(title)}")`;
      this.#fail('malformed_response', `answered with ${page}: is ${address} the right base URL, and is there a login before it?`);
    } else this.#fail('malformed_response', `answered with something else than the events of a response: ${excerpt}`);
  }

  #serverError(error: ServerError): void {
    const { headers, about } = this.#request;
    this.failure = errorInAnswer(error, headers, about, this.shown);
    this.#sse.stop();
  }

  #fail(reason: 'malformed_response' | 'truncated', what: string, retryable = false): void {
    const { provider } = this.#request.about;
    this.failure = new AdapterError(reason, `${provider} ${what}`, { provider, retryable: retryable && !this.shown });
    this.#sse.stop();
  }
}
