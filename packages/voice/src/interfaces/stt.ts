/** What speech to text says about an utterance. Partials replace each other; exactly one final comes last. */
export interface Transcript {
  readonly type: 'partial' | 'final';
  readonly text: string;
  /** Of a partial: all that was said so far, behind which nothing more was heard; it will be the final if the utterance ends here. */
  readonly stable?: boolean;
}

export interface TranscribeOptions {
  /** Ends the work in bounded time; the iteration then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** BCP 47 tag of the expected language. */
  readonly language?: string;
}

export interface SpeechToText {
  readonly name: string;
  /** Hz of the audio it takes. */
  readonly sampleRate: number;
  /**
   * Transcribes one utterance. `audio` yields mono blocks of any length as they are heard and ends with the utterance.
   * Silence gives a final with an empty text.
   */
  transcribe(audio: AsyncIterable<Float32Array>, options?: TranscribeOptions): AsyncIterable<Transcript>;
  close(): Promise<void>;
}
