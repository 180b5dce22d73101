// The audio of one utterance while it grows: appended in blocks, cut at quiet places when it becomes too long to decode at once.

/** Samples of a step whose loudness is judged; and the share of the loudest one's energy (−26 dB) below which a step is quiet. */
const STEP = 160;
const QUIET = 0.0025;

/** Mono samples that grow at the end and are taken from the front, without copying everything at each block. */
export class UtteranceBuffer {
  #samples = new Float32Array(16_000 * 4);
  #length = 0;
  #judged = 0;
  #loudest = 0;
  #loudUntil = 0;

  /** Behind this position everything is quiet, measured by the loudest sound so far. */
  get loudUntil(): number {
    return this.#loudUntil;
  }

  get length(): number {
    return this.#length;
  }

  push(block: Float32Array): void {
    const needed = this.#length + block.length;
    if (needed > this.#samples.length) {
      const larger = new Float32Array(Math.max(needed, this.#samples.length * 2));
      larger.set(this.#samples.subarray(0, this.#length));
      this.#samples = larger;
    }
    // What is not a number would spoil the whole utterance.
    for (let i = 0; i < block.length; i++) this.#samples[this.#length + i] = Number.isFinite(block[i]) ? block[i]! : 0;
    this.#length = needed;
    this.#judge();
  }

  /** A copy of everything that is held. */
  snapshot(): Float32Array {
    return this.#samples.slice(0, this.#length);
  }

  /** Removes and gives the first `count` samples. */
  take(count: number): Float32Array {
    const taken = this.#samples.slice(0, count);
    this.#samples.copyWithin(0, count, this.#length);
    this.#length -= count;
    this.#judged = Math.max(0, this.#judged - count);
    this.#loudUntil = Math.max(0, this.#loudUntil - count);
    return taken;
  }

  #judge(): void {
    for (; this.#judged + STEP <= this.#length; this.#judged += STEP) {
      const energy = this.#energy(this.#judged);
      if (energy > this.#loudest) this.#loudest = energy;
      if (energy > this.#loudest * QUIET) this.#loudUntil = this.#judged + STEP;
    }
  }

  #energy(at: number): number {
    let energy = 0;
    for (let i = at; i < at + STEP; i++) energy += this.#samples[i]! ** 2;
    return energy;
  }

  /** Middle of the quietest 300 ms that lie between two positions. */
  quietestCut(from: number, to: number): number {
    const span = 30;
    const energies: number[] = [];
    for (let at = from; at + STEP <= to; at += STEP) energies.push(this.#energy(at));
    let best = 0;
    let bestEnergy = Number.POSITIVE_INFINITY;
    for (let first = 0; first + span <= energies.length; first++) {
      let energy = 0;
      for (let i = first; i < first + span; i++) energy += energies[i]!;
      if (energy < bestEnergy) {
        bestEnergy = energy;
        best = first;
      }
    }
    return from + (best + span / 2) * STEP;
  }
}
