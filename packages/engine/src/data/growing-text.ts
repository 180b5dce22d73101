const BLOCK = 8192;

/** A string that grows by small pieces in linear time, and takes little more memory than its characters even after millions of them. */
export class GrowingText {
  #head = '';
  #tail = '';
  #pieces: string[] = [];
  /** Half a surrogate pair, kept back until its other half comes. */
  #half = '';
  #grew = false;

  get value(): string {
    return this.#head + this.#tail;
  }

  /** True once after it became longer. */
  grew(): boolean {
    const grew = this.#grew;
    this.#grew = false;
    return grew;
  }

  clear(): void {
    this.#head = this.#tail = this.#half = '';
    this.#pieces = [];
    this.#grew = false;
  }

  add(piece: string): void {
    const whole = this.#half + piece;
    const last = whole.charCodeAt(whole.length - 1);
    this.#half = last >= 0xd800 && last < 0xdc00 ? whole.slice(-1) : '';
    this.#append(this.#half === '' ? whole : whole.slice(0, -1));
  }

  /** The string is closed: half a pair is all there is. */
  release(): void {
    this.#append(this.#half);
    this.#half = '';
  }

  #append(piece: string): void {
    if (piece === '') return;
    this.#grew = true;
    this.#tail += piece;
    this.#pieces.push(piece);
    if (this.#tail.length < BLOCK) return;
    // Joining makes one flat string of the many: a chain of millions of tiny links would take ten times the memory.
    this.#head += this.#pieces.join('');
    this.#tail = '';
    this.#pieces = [];
  }
}
