/** Thresholds of the segmenter. Probabilities 0 to 1, times in milliseconds. */
export interface SegmenterPolicy {
  /** Speech begins at this probability … */
  readonly onThreshold: number;
  /** … and is over below this one; in between nothing changes, so a flutter does not cut a word. */
  readonly offThreshold: number;
  /** Speech this long in a row counts as a beginning. */
  readonly startMs: number;
  /** Audio kept from before the beginning. */
  readonly preRollMs: number;
  /** Less speech than this is a click or a cough and is dropped. */
  readonly minSpeechMs: number;
  /** Silence that ends an utterance. */
  readonly silenceMs: number;
  /** An utterance this long is ended by force. */
  readonly maxUtteranceMs: number;
}

export const defaultSegmenterPolicy: SegmenterPolicy = {
  onThreshold: 0.5,
  offThreshold: 0.35,
  startMs: 64,
  preRollMs: 256,
  minSpeechMs: 250,
  silenceMs: 300,
  maxUtteranceMs: 30_000,
};

/**
 * What the segmenter says. Positions are samples since the stream began. `speech_start` is a candidate: `speech_end` with `accepted: false`
 * takes it back. `audio` of an utterance comes in order, its pre-roll first; `spoken` counts
 * the samples of speech so far, silence left out.
 */
export type SegmentEvent =
  | { readonly type: 'speech_start'; readonly start: number }
  | { readonly type: 'audio'; readonly samples: Float32Array; readonly spoken: number }
  | { readonly type: 'speech_end'; readonly start: number; readonly end: number; readonly accepted: boolean; readonly forced: boolean };

/**
 * Cuts a stream of frames and their speech probabilities into utterances. Pure bookkeeping, no model and no clock: time is counted in
 * samples. Give every frame, in order.
 *
 * ```ts
 * const segmenter = new Segmenter({ sampleRate: 16_000 });
 * for (const frame of frames) for (const event of segmenter.push(frame, await vad.detect(frame))) handle(event);
 * ```
 */
export class Segmenter {
  readonly #policy: SegmenterPolicy;
  readonly #perMs: number;
  #preRoll: Float32Array[] = [];
  #preRollSamples = 0;
  /** Samples seen. */
  #position = 0;
  #state: 'quiet' | 'candidate' | 'speaking' = 'quiet';
  #candidate = 0;
  #start = 0;
  #lastSpeech = 0;
  #speechSamples = 0;

  constructor(options: { readonly sampleRate: number; readonly policy?: Partial<SegmenterPolicy> }) {
    this.#policy = { ...defaultSegmenterPolicy, ...options.policy };
    this.#perMs = options.sampleRate / 1000;
    const { onThreshold, offThreshold } = this.#policy;
    if (!(offThreshold > 0 && offThreshold <= onThreshold && onThreshold < 1)) {
      throw new RangeError(`Speech thresholds must be 0 < off (${offThreshold}) ≤ on (${onThreshold}) < 1.`);
    }
    for (const [key, value] of Object.entries(this.#policy)) {
      if (!(value >= 0)) throw new RangeError(`${key} must not be negative, but is ${value}.`);
    }
  }

  push(frame: Float32Array, probability: number): SegmentEvent[] {
    const begin = this.#position;
    this.#position += frame.length;
    const speech = probability >= (this.#state === 'speaking' ? this.#policy.offThreshold : this.#policy.onThreshold);
    if (this.#state === 'speaking') return this.#speaking(frame, speech);
    this.#keep(frame);
    if (!speech) {
      this.#state = 'quiet';
      return [];
    }
    if (this.#state === 'quiet') {
      this.#state = 'candidate';
      this.#candidate = begin;
    }
    if (this.#position - this.#candidate < this.#ms(this.#policy.startMs)) return [];
    this.#state = 'speaking';
    this.#start = this.#candidate;
    this.#lastSpeech = this.#position;
    this.#speechSamples = this.#position - this.#candidate;
    const audio = this.#preRoll;
    this.#preRoll = [];
    this.#preRollSamples = 0;
    return [
      { type: 'speech_start', start: this.#start },
      ...audio.map(samples => ({ type: 'audio' as const, samples, spoken: this.#speechSamples })),
    ];
  }

  /** The stream is over: an open utterance ends here. */
  flush(): SegmentEvent[] {
    return this.#state === 'speaking' ? [this.#end(false)] : [];
  }

  #speaking(frame: Float32Array, speech: boolean): SegmentEvent[] {
    if (speech) {
      this.#lastSpeech = this.#position;
      this.#speechSamples += frame.length;
    }
    const events: SegmentEvent[] = [{ type: 'audio', samples: frame, spoken: this.#speechSamples }];
    if (this.#position - this.#lastSpeech >= this.#ms(this.#policy.silenceMs) && !speech) {
      events.push(this.#end(false));
      this.#keep(frame);
    } else if (this.#position - this.#start >= this.#ms(this.#policy.maxUtteranceMs)) {
      events.push(this.#end(true));
    }
    return events;
  }

  #end(forced: boolean): SegmentEvent {
    this.#state = 'quiet';
    const accepted = this.#speechSamples >= this.#ms(this.#policy.minSpeechMs);
    return { type: 'speech_end', start: this.#start, end: this.#lastSpeech, accepted, forced };
  }

  #keep(frame: Float32Array): void {
    this.#preRoll.push(frame);
    this.#preRollSamples += frame.length;
    const wanted = this.#ms(this.#policy.preRollMs + this.#policy.startMs);
    while (this.#preRollSamples - (this.#preRoll[0]?.length ?? 0) >= wanted && this.#preRoll.length > 1) {
      this.#preRollSamples -= this.#preRoll.shift()?.length ?? 0;
    }
  }

  #ms(ms: number): number {
    return ms * this.#perMs;
  }
}
