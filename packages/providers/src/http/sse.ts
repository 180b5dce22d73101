/**
 * Reads server-sent events from pieces of any size (HTML Standard § 9.2.6). A push parser without any stream machinery: `feed` what the
 * socket gave, events come through the callback. It knows nothing about the meaning of the data.
 *
 * Where it is wider than the standard: the last event counts without a blank line after it (servers forget it), white space before a
 * field is allowed, and lines that are no field at all (a bare JSON error, a page of HTML) are handed to `onStray` instead of vanishing.
 *
 * ```ts
 * const parser = new SseParser({ onEvent: (data, event) => console.log(event, data) });
 * parser.feed('data: {"a":1}\n\n');
 * parser.end();
 * ```
 */
export interface SseHandlers {
  /** `event` is the event's name, `''` when it has none. Never called with empty data and no name. */
  onEvent(data: string, event: string): void;
  /** A line that belongs to no field, without its line end. */
  onStray?(line: string): void;
  /** An event or a line outgrew `maxChars`; nothing after it is read. */
  onOverflow?(): void;
}

const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const BYTE_ORDER_MARK = 0xfeff;
const MORE = { stream: true };
/** UTF-16 code units of one event: well above any real one, so that a line without end cannot fill the memory. */
const MAX_CHARS = 64 * 1024 * 1024;

export class SseParser {
  readonly #handlers: SseHandlers;
  readonly #maxChars: number;
  // One decoder for the whole stream: characters may be split between two chunks.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /**
   * The line that has begun. Only new text is searched for line ends, and joining strings is cheap in every engine, so an event in a
   * million pieces costs no more than in one.
   */
  #line = '';
  #data: string | undefined;
  #event = '';
  #afterCr = false;
  #begun = false;
  #stopped = false;

  constructor(handlers: SseHandlers, options: { readonly maxChars?: number } = {}) {
    this.#handlers = handlers;
    this.#maxChars = options.maxChars ?? MAX_CHARS;
  }

  /** Takes the next piece: bytes as they came from the socket, or text. */
  feed(piece: Uint8Array | string): void {
    if (this.#stopped) return;
    this.#read(typeof piece === 'string' ? piece : this.#decoder.decode(piece, MORE));
  }

  /** The stream has ended: an unfinished last line and event count. */
  end(): void {
    if (this.#stopped) return;
    this.#read(this.#decoder.decode());
    if (this.#line !== '') this.#field(this.#take(''));
    this.#dispatch();
    this.#stopped = true;
  }

  /** Whatever comes after is ignored. May be called from a handler. */
  stop(): void {
    this.#stopped = true;
  }

  #read(text: string): void {
    if (text === '') return;
    let at = 0;
    if (!this.#begun) {
      this.#begun = true;
      if (text.charCodeAt(0) === BYTE_ORDER_MARK) at = 1;
    }
    if (this.#afterCr && at < text.length) {
      this.#afterCr = false;
      if (text.charCodeAt(at) === LF) at++;
    }
    // Each place is searched again only when it was passed: a chunk is scanned once for each kind of line end.
    let lf = text.indexOf('\n', at);
    let cr = text.indexOf('\r', at);
    while (!this.#stopped) {
      if (lf !== -1 && lf < at) lf = text.indexOf('\n', at);
      if (cr !== -1 && cr < at) cr = text.indexOf('\r', at);
      const end = cr === -1 ? lf : lf === -1 ? cr : Math.min(cr, lf);
      if (end === -1) break;
      if (end === at && this.#line === '') this.#dispatch();
      else this.#field(this.#take(text.slice(at, end)));
      at = end + 1;
      if (end === cr) {
        if (at === text.length) this.#afterCr = true;
        else if (text.charCodeAt(at) === LF) at++;
      }
    }
    if (this.#stopped || at >= text.length) return;
    this.#line += text.slice(at);
    this.#checkSize(this.#line.length);
  }

  #take(rest: string): string {
    if (this.#line === '') return rest;
    const line = this.#line + rest;
    this.#line = '';
    return line;
  }

  #field(line: string): void {
    // In the order of frequency; a comment begins with a colon.
    if (line.startsWith('data:')) this.#addData(value(line, 5));
    else if (line.charCodeAt(0) === COLON) return;
    else if (line.startsWith('event:')) this.#event = value(line, 6);
    else if (line === 'data') this.#addData('');
    else if (line.startsWith('id:') || line.startsWith('retry:') || line === 'id' || line === 'event' || line === 'retry') return;
    else if (isBlank(line.charCodeAt(0)) && line.trimStart().startsWith('data:')) this.#addData(value(line.trimStart(), 5));
    else this.#handlers.onStray?.(line);
  }

  #addData(text: string): void {
    this.#data = this.#data === undefined ? text : `${this.#data}\n${text}`;
    this.#checkSize(this.#data.length);
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event;
    this.#data = undefined;
    this.#event = '';
    if (data === undefined) return;
    if (data !== '' || event !== '') this.#handlers.onEvent(data, event);
  }

  #checkSize(chars: number): void {
    if (chars <= this.#maxChars) return;
    this.#stopped = true;
    this.#line = '';
    this.#data = undefined;
    this.#handlers.onOverflow?.();
  }
}

/** What stands after the colon; one space there belongs to the syntax. */
function value(line: string, from: number): string {
  return line.slice(line.charCodeAt(from) === SPACE ? from + 1 : from);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === 9 || code === CR;
}
