export interface TrimOptions {
  /** Silence to leave in front, in milliseconds. */
  readonly leadMs: number;
  /** Silence to leave behind, in milliseconds. */
  readonly tailMs: number;
}

/** −50 dB below the clip's own peak counts as silence: soft consonants stay. */
const FLOOR = 10 ** (-50 / 20);

/** Cuts the silence at both ends of a clip and fades the last 5 ms on each side, so that clips join without a click. */
export function trimSilence(samples: Float32Array, sampleRate: number, { leadMs, tailMs }: TrimOptions): Float32Array {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  if (peak === 0) return new Float32Array(0);
  const floor = peak * FLOOR;
  const first = samples.findIndex(sample => Math.abs(sample) > floor);
  const last = samples.findLastIndex(sample => Math.abs(sample) > floor);
  const from = Math.max(0, first - Math.round((leadMs / 1000) * sampleRate));
  const to = Math.min(samples.length, last + 1 + Math.round((tailMs / 1000) * sampleRate));
  const trimmed = samples.slice(from, to);
  const fade = Math.min(Math.round(0.005 * sampleRate), trimmed.length >> 1);
  for (let i = 0; i < fade; i++) {
    const gain = (i + 0.5) / fade;
    trimmed[i]! *= gain;
    trimmed[trimmed.length - 1 - i]! *= gain;
  }
  return trimmed;
}
