/** Centres of the bands, Hz: where speech has its energy. */
const CENTRES = [250, 400, 550, 750, 1000, 1300, 1700, 2200, 2800, 3500];
/** Width of a band, as its centre over this. */
const Q = 4;

export const BANDS = CENTRES.length;

/** How loud a stream of sound is in each band of hearing, in slots of 10 ms. A bank of band-pass filters: any sample rate will do. */
export class BandLevels {
  readonly #slotSamples: number;
  /** Of each band: b0, a1, a2 of its filter, and its two last inputs and outputs. */
  readonly #filters: readonly { readonly b0: number; readonly a1: number; readonly a2: number; y1: number; y2: number }[];
  #x1 = 0;
  #x2 = 0;
  #sums = new Float64Array(BANDS);
  #count = 0;

  constructor(sampleRate: number) {
    this.#slotSamples = sampleRate / 100;
    this.#filters = CENTRES.map(hz => {
      const w = (2 * Math.PI * Math.min(hz, sampleRate * 0.45)) / sampleRate;
      const alpha = Math.sin(w) / (2 * Q);
      return { b0: alpha / (1 + alpha), a1: (-2 * Math.cos(w)) / (1 + alpha), a2: (1 - alpha) / (1 + alpha), y1: 0, y2: 0 };
    });
  }

  /** The slots that these samples complete: root mean squares by band. */
  push(samples: Float32Array): Float32Array[] {
    const slots: Float32Array[] = [];
    for (const x of samples) {
      const d = x - this.#x2;
      this.#x2 = this.#x1;
      this.#x1 = x;
      for (let band = 0; band < BANDS; band++) {
        const filter = this.#filters[band]!;
        const y = filter.b0 * d - filter.a1 * filter.y1 - filter.a2 * filter.y2;
        filter.y2 = filter.y1;
        filter.y1 = y;
        this.#sums[band]! += y * y;
      }
      this.#count++;
      if (this.#count < this.#slotSamples) continue;
      slots.push(Float32Array.from(this.#sums, sum => Math.sqrt(sum / this.#count)));
      this.#sums.fill(0);
      this.#count -= this.#slotSamples;
    }
    return slots;
  }
}
