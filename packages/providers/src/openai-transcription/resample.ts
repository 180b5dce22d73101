/**
 * Raises the rate of 16-bit little-endian mono samples by drawing straight lines between them; pieces of one sound are joined without a
 * seam. Only upwards: going down would need a filter.
 *
 * ```ts
 * const up = new Upsampler(16_000, 24_000);
 * const samples = up.feed(piece);
 * ```
 */
export class Upsampler {
  readonly #step: number;
  /** The last sample of the piece before, at place -1. */
  #last = 0;
  /** Place of the next output sample, counted in input samples of the next piece. */
  #at = 0;
  readonly #same: boolean;

  constructor(fromHz: number, toHz: number) {
    this.#step = fromHz / toHz;
    this.#same = fromHz === toHz;
  }

  feed(piece: Uint8Array): Uint8Array {
    const count = piece.length >> 1;
    if (this.#same || count === 0) return piece;
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    const sample = (i: number) => (i < 0 ? this.#last : view.getInt16(i * 2, true));
    // Output lies between place -1 and the last sample of this piece.
    const places = Math.max(0, Math.ceil((count - 1 - this.#at) / this.#step - 1e-9));
    const out = new Uint8Array(places * 2);
    const to = new DataView(out.buffer);
    for (let n = 0; n < places; n++) {
      const place = this.#at + n * this.#step;
      const left = Math.floor(place + 1e-9);
      const a = sample(left);
      const b = sample(Math.min(left + 1, count - 1));
      to.setInt16(n * 2, Math.round(a + (b - a) * Math.max(0, place - left)), true);
    }
    this.#at += places * this.#step - count;
    this.#last = sample(count - 1);
    return out;
  }
}
