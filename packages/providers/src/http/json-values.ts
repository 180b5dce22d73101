/** Characters of one object; an answer in one piece may be long. */
const MAX_CHARS = 64 * 1024 * 1024;
const [QUOTE, BACKSLASH, OPEN, CLOSE] = [34, 92, 123, 125] as const;

/**
 * Takes the JSON objects out of text that comes in pieces: one object, several, or a list of them, each given on as soon as it is whole.
 * Each character is looked at once. What stands between the objects and is no list syntax is kept in `rest`.
 */
export class JsonValues {
  readonly #onValue: (text: string) => void;
  #text = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  rest = '';

  constructor(onValue: (text: string) => void) {
    this.#onValue = onValue;
  }

  /** An object has begun and is not whole. */
  get isOpen(): boolean {
    return this.#depth > 0;
  }

  feed(text: string): void {
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === OPEN) {
        if (this.#depth++ === 0) {
          this.keep(text.slice(from, i));
          from = i;
        }
      } else if (this.#depth === 0) {
      } else if (code === QUOTE) this.#inString = true;
      else if (code === CLOSE && --this.#depth === 0) {
        const value = this.#text + text.slice(from, i + 1);
        this.#text = '';
        from = i + 1;
        this.#onValue(value);
      }
    }
    if (this.#depth === 0) this.keep(text.slice(from));
    else if (this.#text.length < MAX_CHARS) this.#text += text.slice(from);
  }

  /** Adds to `rest`, also what was taken for an object and is none. */
  keep(text: string): void {
    const plain = text.replace(/^[\s,[\]]+|[\s,[\]]+$/g, '');
    if (plain !== '' && this.rest.length < 20_000) this.rest += this.rest === '' ? plain : `\n${plain}`;
  }
}
