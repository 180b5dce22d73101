/** Where the agent's audio goes. It is kept only some tens of milliseconds ahead, so that a flush is cheap; the rest waits in the session. */
export interface AudioSink {
  readonly name: string;
  /** Hz of what it takes. */
  readonly sampleRate: number;
  /** Appends mono samples, −1 to 1, to what it has to play. */
  write(samples: Float32Array): void;
  /** Samples that were really played since it was opened. Never falls. */
  readonly played: number;
  /** Drops what was written and not played yet, and returns how many samples that were. */
  flush(): number;
  close(): Promise<void>;
}
