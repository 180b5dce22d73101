import { parseJson } from './errors.js';
import { SseParser } from './sse.js';

/** The lines of a body, whether or not they are wrapped as events. A pretty-printed body of one object is one line. */
export class JsonLines {
  readonly #lines: string[] = [];
  #stray = '';
  readonly #sse = new SseParser({
    onEvent: data => this.#lines.push(data),
    onStray: line => {
      const whole = this.#stray + line;
      // Only what can be an end is tried: a long object in many lines is not parsed again for each of them.
      const complete = /[}\]]\s*$/.test(line) && (this.#stray === '' || !/^\s/.test(line)) && parseJson(whole) !== undefined;
      if (complete) this.#lines.push(whole);
      this.#stray = complete ? '' : whole;
    },
  });

  feed(bytes: Uint8Array): string[] {
    this.#sse.feed(bytes);
    return this.#lines.splice(0);
  }

  end(): string[] {
    this.#sse.end();
    if (this.#stray.trim() !== '') this.#lines.push(this.#stray);
    this.#stray = '';
    return this.#lines.splice(0);
  }
}
