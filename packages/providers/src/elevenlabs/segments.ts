import type { CommittedTranscript, TranscriptionAdapterEvent } from '@antiphon/engine';
import { spansOf } from './spans.js';

/**
 * What the realtime socket says, from messages to events. When times are asked for, each segment comes twice, the second time with its
 * words: it is told once, as soon as both are there, or without words when the next one begins.
 */
export class Segments {
  readonly #timed: boolean;
  #held: CommittedTranscript | undefined;
  readonly events: TranscriptionAdapterEvent[] = [];

  constructor(timed: boolean) {
    this.#timed = timed;
  }

  /** A segment is held back for its times. */
  get waits(): boolean {
    return this.#held !== undefined;
  }

  /** False for a message that is none of a transcript. */
  take(type: string, message: Record<string, unknown>): boolean {
    const text = typeof message.text === 'string' ? message.text : '';
    switch (type) {
      case 'partial_transcript':
        if (text !== '') this.events.push({ type: 'partial_transcript', text });
        return true;
      case 'committed_transcript':
        this.events.push(...this.end());
        if (this.#timed && text.trim() !== '') this.#held = committed(message, text);
        else this.events.push(committed(message, text));
        return true;
      case 'committed_transcript_with_timestamps':
        this.#twin(message, text);
        return true;
      default:
        return false;
    }
  }

  /** The segment whose times never came. */
  end(): TranscriptionAdapterEvent[] {
    const held = this.#held;
    this.#held = undefined;
    return held ? [held] : [];
  }

  #twin(message: Record<string, unknown>, text: string): void {
    const held = this.#held;
    // Without one before it: that of a blank segment, which has been told already.
    if (!held) return;
    this.#held = undefined;
    const spans = held.text.trim() === text.trim() ? spansOf(message.words) : undefined;
    const { language } = committed(message, text);
    this.events.push({ ...held, ...(language === undefined ? {} : { language }), ...(spans === undefined ? {} : { spans }) });
  }
}

function committed(message: Record<string, unknown>, text: string): CommittedTranscript {
  const { language_code: language } = message;
  return { type: 'committed_transcript', text, ...(typeof language === 'string' ? { language } : {}) };
}
