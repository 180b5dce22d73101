/** Where a word of the clause sounds: character span in the text, and the sample (from the clause's first) at which it starts. */
export interface WordMark {
  readonly start: number;
  readonly end: number;
  readonly sample: number;
}

export interface SpeechAudio {
  /** Mono, −1 to 1, at the synthesizer's sample rate. */
  readonly samples: Float32Array;
  /** Marks for the whole clause as far as known; engines without word timings leave them out. */
  readonly words?: readonly WordMark[];
}

export interface SynthesizeOptions {
  /** Ends the work in bounded time; the iteration then throws the signal's reason. */
  readonly signal?: AbortSignal;
  readonly voice?: string;
}

export interface TextToSpeech {
  readonly name: string;
  /** Hz of the audio it gives. */
  readonly sampleRate: number;
  /** Speaks one clause, in one or more pieces as they are ready. */
  synthesize(text: string, options?: SynthesizeOptions): AsyncIterable<SpeechAudio>;
  close(): Promise<void>;
}
