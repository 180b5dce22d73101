// Sound that is like speech to a guard: syllables of a changing pitch and colour, with gaps between them; and the way from loudspeaker to microphone.

/** Numbers from 0 to 1, the same ones each time. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function babble(seed: number, seconds: number, sampleRate = 16_000): Float32Array {
  const next = numbers(seed);
  const sound = new Float32Array(Math.round(seconds * sampleRate));
  for (let at = 0; at < sound.length; ) {
    const length = Math.round((0.1 + 0.15 * next()) * sampleRate);
    const pitch = 90 + 120 * next();
    const formants = [300 + 500 * next(), 900 + 1300 * next(), 2300 + 900 * next()];
    const loudness = 0.08 + 0.08 * next();
    for (let harmonic = 1; harmonic * pitch < 3800; harmonic++) {
      const hz = harmonic * pitch;
      const strength = loudness * Math.max(...formants.map((formant, i) => Math.exp(-Math.abs(hz - formant) / 150) / (i + 1)));
      for (let i = 0; i < length && at + i < sound.length; i++)
        sound[at + i]! += strength * Math.sin((2 * Math.PI * hz * i) / sampleRate) * Math.sin((Math.PI * i) / length) ** 2;
    }
    at += length + Math.round((next() < 0.2 ? 0.25 : 0.04) * next() * sampleRate);
  }
  return sound;
}

export interface Room {
  readonly delayMs: number;
  readonly gainDb: number;
}

/** What a microphone hears of what a loudspeaker plays: later, softer, with walls around. */
export function heardIn({ delayMs, gainDb }: Room, played: Float32Array, sampleRate = 16_000): Float32Array {
  const next = numbers(5);
  const gain = 10 ** (gainDb / 20);
  const heard = new Float32Array(played.length);
  for (let tail = 0; tail < 0.15; tail += 0.0021 + 0.001 * next()) {
    const from = Math.round((delayMs / 1000 + tail) * sampleRate);
    const strength = gain * (tail === 0 ? 1 : 0.35 * (2 * next() - 1) * Math.exp(-tail / 0.05));
    for (let i = from; i < heard.length; i++) heard[i]! += strength * played[i - from]!;
  }
  return heard;
}

export function level(sound: Float32Array): number {
  let sum = 0;
  for (const sample of sound) sum += sample * sample;
  return Math.sqrt(sum / sound.length);
}
