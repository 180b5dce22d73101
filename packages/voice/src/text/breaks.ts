/**
 * Where a piece may be cut for its length alone (rules 8 and 9): the last weak mark, else the last space, else the last grapheme.
 * Only places within `maxChars` of the piece's start are kept.
 */
export class Breaks {
  private weak = -1;
  private space = -1;
  /** A space within a number, or behind "and", "the", "of": only when there is no better one. */
  private poorSpace = -1;
  private grapheme = -1;

  constructor(private readonly maxChars: number) {}

  noteWeak(at: number, start: number): void {
    if (at - start <= this.maxChars) this.weak = at;
  }

  noteSpace(at: number, start: number, good: boolean): void {
    if (at - start > this.maxChars) return;
    if (good) this.space = at;
    else this.poorSpace = at;
  }

  /** A grapheme or atom that alone is too long is followed by a break all the same. */
  noteGrapheme(at: number, start: number): void {
    if (at - start <= this.maxChars || this.best(start) < 0) this.grapheme = at;
  }

  /** What began here turns out to be an atom: no break inside. */
  joinSince(at: number): void {
    if (this.grapheme > at) this.grapheme = at;
  }

  lastWeak(start: number): number {
    return this.weak > start ? this.weak : -1;
  }

  /** The best place behind `start`, or -1. */
  best(start: number): number {
    for (const at of [this.weak, this.space, this.poorSpace, this.grapheme]) if (at > start) return at;
    return -1;
  }
}
