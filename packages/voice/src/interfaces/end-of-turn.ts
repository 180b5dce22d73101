/** Judges whether somebody has finished: by the words, for which the house has simple rules of its own, or by a model. */
export interface EndOfTurnDetector {
  readonly name: string;
  /** True when the words look like the end of a turn. Asked once for each utterance, with its words; answer soon, since the turn waits. */
  isFinished(text: string): boolean | Promise<boolean>;
}
