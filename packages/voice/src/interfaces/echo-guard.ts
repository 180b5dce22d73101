/**
 * Tells the user from the echo of the agent's own voice, which a microphone near a loudspeaker hears too. It follows one conversation: what is
 * played and what is heard, each in order. It is not needed where an echo canceller stands before the source, as in a browser.
 */
export interface EchoGuard {
  readonly name: string;
  /** The loudspeaker is given this: mono, −1 to 1, at the sink's rate. */
  playing(samples: Float32Array): void;
  /** What the loudspeaker was given and has not played will not be played. */
  flushed(): void;
  /**
   * How much of what is heard cannot be the echo, 0 to 1; 1 while nothing is played. The probability of speech is multiplied by it. Frames are
   * those of voice activity detection: mono, −1 to 1, at the source's rate.
   */
  judge(frame: Float32Array): number;
}
