const FADE_MS = 150;

/** Where a hold sound stands: the sample that comes next, and how far it has faded in, in samples. */
export interface HoldPosition {
  readonly at: number;
  readonly level: number;
}

/** A sound that is played over and over while somebody waits. It fades in and out, and goes on where it stopped. */
export class HoldSound {
  readonly #sound: Float32Array;
  readonly #fade: number;
  /** Set back when samples were not played after all. */
  position: HoldPosition = { at: 0, level: 0 };

  /** `sound` must not be empty. */
  constructor(sound: Float32Array, sampleRate: number) {
    this.#sound = sound;
    this.#fade = Math.max(1, Math.round((FADE_MS * sampleRate) / 1000));
  }

  get isSilent(): boolean {
    return this.position.level === 0;
  }

  /** The next samples: as many when it rises, fewer when it falls and is silent before. */
  next(count: number, rises: boolean): Float32Array {
    let { at, level } = this.position;
    const samples = new Float32Array(rises ? count : Math.min(count, level));
    for (let i = 0; i < samples.length; i++) {
      level = rises ? Math.min(this.#fade, level + 1) : level - 1;
      samples[i] = ((this.#sound[at] ?? 0) * level) / this.#fade;
      at = (at + 1) % this.#sound.length;
    }
    this.position = { at, level };
    return samples;
  }

  /** After a stop it fades in again. */
  cut(): void {
    this.position = { at: this.position.at, level: 0 };
  }
}
