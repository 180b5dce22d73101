const FADE_MS = 150;

/** A sound that is played over and over while somebody waits. It fades in and out, and goes on where it stopped. */
export class HoldSound {
  readonly #sound: Float32Array;
  readonly #fade: number;
  #at = 0;
  /** Samples since it began, as far as that matters. */
  #since = 0;
  plays = false;

  constructor(sound: Float32Array, sampleRate: number) {
    this.#sound = sound;
    this.#fade = Math.round((FADE_MS * sampleRate) / 1000);
  }

  start(): void {
    if (this.plays || this.#sound.length === 0) return;
    this.plays = true;
    this.#since = 0;
  }

  /** The next samples. */
  next(count: number): Float32Array {
    return Float32Array.from({ length: count }, () => {
      const gain = Math.min(1, ++this.#since / this.#fade);
      return this.#sample() * gain;
    });
  }

  /** Ends it; returns its last, fading samples. */
  stop(): Float32Array | undefined {
    if (!this.plays) return undefined;
    this.plays = false;
    const from = Math.min(1, this.#since / this.#fade);
    return Float32Array.from({ length: this.#fade }, (_, i) => this.#sample() * from * (1 - i / this.#fade));
  }

  #sample(): number {
    const sample = this.#sound[this.#at] ?? 0;
    this.#at = (this.#at + 1) % this.#sound.length;
    return sample;
  }
}
