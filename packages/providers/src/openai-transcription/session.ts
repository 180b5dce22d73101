import {
  AdapterError,
  type CapabilityUsage,
  isRecord,
  type StreamTranscriptionRequest,
  type TranscriptionAdapterEvent,
} from '@antiphon/engine';
import type { ErrorContext } from '../http/errors.js';
import { findServerError } from '../http/server-error.js';
import { addUsage, readUsage } from '../openai-speech/usage.js';
import { reported } from '../websocket/failure.js';
import { tokensOf } from './spans.js';

/** One segment of the sound, from its commit to its text. */
interface Segment {
  readonly id: string;
  /** The server heard somebody speak in it; what it makes of noise is no transcript. */
  readonly spoken: boolean;
  partial: string;
  text?: string;
  logprobs?: unknown;
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription.';

/**
 * What the server of a realtime session says, from messages to events. Segments are transcribed side by side and may be done in any order:
 * they are told in the order in which they were spoken.
 */
export class LiveSession {
  readonly #request: StreamTranscriptionRequest;
  readonly #about: ErrorContext;
  readonly #segments: Segment[] = [];
  readonly events: TranscriptionAdapterEvent[] = [];
  usage: CapabilityUsage = {};
  ready = false;
  /** The last commit is on its way. */
  ending = false;
  #cleared = false;
  #speaking = false;

  constructor(request: StreamTranscriptionRequest, about: ErrorContext) {
    this.#request = request;
    this.#about = about;
  }

  get complete(): boolean {
    return this.#cleared && this.#segments.length === 0;
  }

  take(message: Record<string, unknown>, shown: boolean): void {
    const { type } = message;
    switch (type) {
      case 'input_audio_buffer.speech_started':
        this.#speaking = true;
        return;
      case 'input_audio_buffer.committed':
        this.#segment(message.item_id);
        this.#speaking = false;
        return;
      case 'input_audio_buffer.cleared':
        this.#cleared = true;
        return;
      case `${TRANSCRIPTION}delta`:
        this.#delta(message);
        return;
      case `${TRANSCRIPTION}completed`:
        this.#completed(message);
        return;
      case `${TRANSCRIPTION}failed`:
        if (isRecord(message.error) && message.error.code === 'audio_unintelligible') this.#unintelligible(message);
        else this.#failed(message, shown);
        return;
      case 'error':
        this.#failed(message, shown);
        return;
      default:
        // Accounts of the session and of its items tell nothing that is asked for here.
        return;
    }
  }

  #segment(id: unknown): Segment {
    const known = this.#segments.find(segment => segment.id === id);
    if (known) return known;
    const spoken = this.#speaking || this.#request.commit === 'manual' || !this.ending;
    const segment: Segment = { id: String(id), spoken, partial: '' };
    this.#segments.push(segment);
    return segment;
  }

  #delta({ item_id: id, delta }: Record<string, unknown>): void {
    const segment = this.#segment(id);
    if (typeof delta !== 'string' || delta === '') return;
    segment.partial += delta;
    // The one after it may already have begun; it is told when its turn comes.
    if (segment === this.#segments[0] && segment.spoken) this.events.push({ type: 'partial_transcript', text: segment.partial });
  }

  #completed({ item_id: id, transcript, logprobs, usage }: Record<string, unknown>): void {
    const segment = this.#segment(id);
    segment.text = typeof transcript === 'string' ? transcript : segment.partial;
    segment.logprobs = logprobs;
    this.usage = addUsage(this.usage, readUsage(usage));
    while (this.#segments[0]?.text !== undefined) {
      const { text, logprobs: told, spoken } = this.#segments.shift() as Segment & { text: string };
      if (!spoken) continue;
      const spans = this.#request.logprobs === true ? tokensOf(told) : undefined;
      this.events.push({ type: 'committed_transcript', text, ...(spans === undefined ? {} : { spans }) });
      const next = this.#segments[0];
      if (next?.spoken && next.text === undefined && next.partial !== '')
        this.events.push({ type: 'partial_transcript', text: next.partial });
    }
  }

  /** Noise is no reason to lose what is said before and after it. */
  #unintelligible(message: Record<string, unknown>): void {
    this.events.push({ type: 'warning', warning: { code: 'other', message: 'A part of the sound could not be understood.' } });
    this.#completed({ ...message, transcript: '' });
  }

  #failed(message: Record<string, unknown>, shown: boolean): void {
    // A commit of next to nothing: the sound ended together with a segment.
    const isEmpty = isRecord(message.error) && message.error.code === 'input_audio_buffer_commit_empty';
    if (isEmpty && (this.ending || this.#request.commit === 'manual')) return;
    const error = findServerError({ error: message.error });
    if (error) throw reported(error, this.#about, shown);
    const { provider } = this.#about;
    throw new AdapterError('unknown', `${provider} reported an error without saying which.`, { provider });
  }
}
