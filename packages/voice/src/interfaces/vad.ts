/** Judges, frame by frame, how likely it is that somebody speaks. It holds state between frames, so one detector hears one stream. */
export interface VoiceActivityDetector {
  readonly name: string;
  /** Hz of the frames it takes. */
  readonly sampleRate: number;
  /** Samples in each frame. */
  readonly frameSamples: number;
  /** Probability of speech in this frame, 0 to 1. Frames are mono, −1 to 1, `frameSamples` long, in order. */
  detect(frame: Float32Array): Promise<number>;
  /** Forgets what it heard, for a new stream. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
