/** Where the user's audio comes from: a microphone, a file, a socket. */
export interface AudioSource {
  readonly name: string;
  /** Hz. A voice session takes 16 000. */
  readonly sampleRate: number;
  /** Mono blocks, −1 to 1, of any length, paced by the source; ends when the source ends or the signal aborts. */
  frames(signal: AbortSignal): AsyncIterable<Float32Array>;
}
