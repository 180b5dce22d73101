/**
 * List markers. `1.` at a line's start is a marker, not a sentence (rule 4). Lists written in one line, `1. Eggs 2. Milk` or
 * `a. Eggs b. Milk`, are cut before the marker that follows the last one. Lives as long as its line.
 */
const NUMBER = /^\d{1,3}$/;

export class LineLists {
  private last = '';
  private bullet = '';

  reset(): void {
    this.last = '';
    this.bullet = '';
  }

  /** Whether `word`, the first of its piece, is a marker; if so it is remembered. */
  opens(word: string, atLineStart: boolean): boolean {
    const first = atLineStart && (NUMBER.test(word) || word === 'a');
    if (first || this.follows(word)) {
      this.last = word;
      return true;
    }
    return atLineStart && /^[A-Za-z]$/.test(word);
  }

  /** Whether `word` is the marker after the last one. */
  follows(word: string): boolean {
    if (this.last === '') return false;
    if (NUMBER.test(this.last)) return word === String(Number(this.last) + 1);
    return word.length === 1 && word.charCodeAt(0) === this.last.charCodeAt(0) + 1;
  }

  advance(word: string): void {
    this.last = word;
  }

  /** The line begins with this bullet. */
  openBullet(character: string): void {
    if (this.bullet === '') this.bullet = character;
  }

  isBullet(character: string): boolean {
    return character === this.bullet;
  }
}
