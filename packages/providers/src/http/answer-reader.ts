import { AdapterError, type AdapterEvent, type BlockWriter, type Warning } from '@antiphon/engine';
import { withOwnNames } from '../hand-over/tool-names.js';
import { type ErrorContext, errorInAnswer, parseJson, saysInstead } from './errors.js';
import { JsonValues } from './json-values.js';
import { findServerError, type ServerError } from './server-error.js';
import { SseParser } from './sse.js';

/** What a wire protocol makes of the values that come in an answer. */
export interface AnswerParser {
  /** An error that the server reports in the answer; nothing after it is read. */
  readonly error: ServerError | undefined;
  /** What is wrong with the order of the events. */
  readonly fault?: string | undefined;
  /** The message is closed: the rest of the bytes is of no interest. */
  readonly complete: boolean;
  /** One parsed event; `name` is its name in the stream. */
  accept(value: unknown, name: string): void;
  /**
   * Nothing more comes: the server said `[DONE]`, or the bytes have ended, which were events or bare JSON. It closes the message where that is a
   * proper end, and otherwise says what is missing; nothing said after `[DONE]` means that the mark is not of this protocol.
   */
  end(by: 'done' | 'events' | 'json'): string | undefined;
  /** An event that is no JSON was left out. */
  unreadable?(data: string, name: string): void;
}

/** What is known of an answer before its body. */
export interface AnswerHead {
  readonly headers: Headers;
  readonly about: ErrorContext;
  /** Told before anything else. */
  readonly warnings: readonly Warning[];
  /** The caller's names of tools that were sent under another one. */
  readonly ownNames?: ReadonlyMap<string, string>;
  /** The server's own events are passed on too. */
  readonly raw?: boolean | undefined;
}

const [COLON, BRACKET] = [58, 91] as const;

/**
 * The body of one answer, from bytes to events. `feed` bytes and `take` events until `over`, or `end` when the bytes end; then `failure` says
 * whether it went wrong. Nothing is thrown, so that what arrived before a failure can be passed on first. It reads event streams, and what
 * servers and proxies send instead: bare JSON in one piece or many, events without the blank line between them, errors on a line of their
 * own, web pages.
 */
export class AnswerReader {
  readonly #blocks: BlockWriter;
  readonly #parser: AnswerParser & { take?(): AdapterEvent[] };
  readonly #head: AnswerHead;
  readonly #sse = new SseParser({
    onEvent: (data, name) => this.#event(data, name),
    onStray: line => (line.trim() === '[DONE]' ? this.#done() : this.#bare.feed(`${line}\n`)),
    onOverflow: () => this.#fail('malformed_response', 'sent an event of more than 64 million characters.'),
  });
  /** What stands outside of events. */
  readonly #bare = new JsonValues(text => this.#bareValue(text));
  #events = 0;
  /** The first JSON value outside of events. */
  #firstBare: string | undefined;
  failure: AdapterError | undefined;

  /** `parser` writes into `blocks`; it has a `take` of its own when it holds events back. */
  constructor(blocks: BlockWriter, parser: AnswerParser & { take?(): AdapterEvent[] }, head: AnswerHead) {
    this.#blocks = blocks;
    this.#parser = parser;
    this.#head = head;
    for (const warning of head.warnings) blocks.warn(warning);
  }

  /** A part of the answer was passed on. */
  get shown(): boolean {
    return this.#blocks.hasContent;
  }

  /** The answer is complete or has failed: the rest of the bytes is of no interest. */
  get over(): boolean {
    return this.#parser.complete || this.failure !== undefined;
  }

  feed(bytes: Uint8Array): void {
    this.#sse.feed(bytes);
  }

  /** The events since the last call. */
  take(): AdapterEvent[] {
    const events = this.#parser.take?.() ?? this.#blocks.take();
    return this.#head.ownNames === undefined ? events : withOwnNames(events, this.#head.ownNames);
  }

  /** The bytes have ended: `over` from now on. */
  end(): void {
    this.#sse.end();
    if (this.over) return;
    const { rest } = this.#bare;
    if (rest !== '' && (this.#events > 0 || this.#firstBare !== undefined))
      this.#warn('Lines that belong to no event were left out', rest, 200);
    else if (rest !== '') return this.#notAnAnswer(rest);
    const missing = this.#parser.end(this.#events > 0 || this.#bare.isOpen ? 'events' : 'json');
    if (this.#parser.error) return this.#serverError(this.#parser.error);
    if (this.over) return;
    if (this.#events > 0 || this.#bare.isOpen || this.shown) this.#notWhole(missing);
    else if (this.#firstBare === undefined) this.#fail('truncated', 'sent an empty answer.', true);
    else this.#notAnAnswer(this.#firstBare);
  }

  #event(data: string, name: string): void {
    // Keep-alives: no data, or a comment that a proxy has wrapped as data.
    if (this.over || data === '' || data.charCodeAt(0) === COLON) return;
    if (data.charCodeAt(0) === BRACKET && data.trim() === '[DONE]') return this.#done();
    this.#events++;
    const value = parseJson(data);
    if (value !== undefined) {
      this.#accept(value, name);
      if (name === 'error' && !this.over) this.#serverError(findServerError(value) ?? { message: data, codes: [] });
    } else if (name === 'error') this.#serverError({ message: data, codes: [] });
    else if (!this.#acceptLines(data)) this.#unreadable(data, name);
  }

  #accept(value: unknown, name = ''): void {
    if (this.#head.raw) this.#blocks.raw(JSON.parse(this.#head.about.redact(JSON.stringify(value))));
    this.#parser.accept(value, name);
    const { error, fault, complete } = this.#parser;
    if (error) this.#serverError(error);
    else if (fault !== undefined) this.#fail('malformed_response', `sent a broken answer: ${fault}.`, true);
    else if (complete) this.#sse.stop();
  }

  /** Events without the blank line between them. False, and nothing taken, unless each line is JSON. */
  #acceptLines(text: string): boolean {
    const lines = text.split('\n').filter(line => line.trim() !== '');
    const isDone = lines.at(-1)?.trim() === '[DONE]';
    const values = (isDone ? lines.slice(0, -1) : lines).map(parseJson);
    if (lines.length < 2 || values.includes(undefined)) return false;
    for (const value of values) if (!this.over) this.#accept(value);
    if (isDone && !this.over) this.#done();
    return true;
  }

  #done(): void {
    const missing = this.#parser.end('done');
    if (this.#parser.complete) this.#sse.stop();
    else if (missing !== undefined) this.#notWhole(missing);
  }

  #unreadable(data: string, name: string): void {
    this.#warn('An event that is not valid JSON was left out', data, 80);
    this.#parser.unreadable?.(data, name);
    if (this.over) this.#sse.stop();
  }

  /** JSON without `data:` before it. */
  #bareValue(text: string): void {
    if (this.over) return;
    const value = parseJson(text);
    // The braces of a web page's style.
    if (value === undefined) return this.#bare.keep(text);
    this.#firstBare ??= text;
    this.#accept(value);
    const error = this.over ? undefined : findServerError(value);
    if (error) this.#serverError(error);
  }

  #notAnAnswer(body: string): void {
    this.#fail('malformed_response', saysInstead(body, 'an event stream', this.#head.about));
  }

  #warn(what: string, text: string, chars: number): void {
    this.#blocks.warn({ code: 'malformed_event', message: `${what}: ${this.#head.about.redact(text).slice(0, chars)}` });
  }

  #serverError(error: ServerError): void {
    this.failure = errorInAnswer(error, this.#head.headers, this.#head.about, this.shown);
    this.#sse.stop();
  }

  #fail(reason: 'malformed_response' | 'truncated', what: string, retryable = false): void {
    const { provider } = this.#head.about;
    this.failure = new AdapterError(reason, `${provider} ${what}`, { provider, retryable: retryable && !this.shown });
    this.#sse.stop();
  }

  /** It may be asked for again as long as nobody has seen a part of it. */
  #notWhole(missing = 'the stream ended too soon'): void {
    const { provider } = this.#head.about;
    const message = `The answer of ${provider} is not whole: ${missing}.`;
    this.failure = new AdapterError('truncated', message, { provider, retryable: !this.shown });
    this.#sse.stop();
  }
}
