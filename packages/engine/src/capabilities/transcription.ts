import type { AdapterContext } from '../adapters/chat.js';
import type { JsonObject } from '../data/json.js';
import type { AudioPart } from '../data/parts.js';
import { flag, oneOf, positive, providerOptions, type Rules, shown, text, wholeNumber } from '../data/rules.js';
import type { RetryEvent, WarningEvent } from '../events/events.js';
import type { CapabilityOptions, CapabilityOutcome, CapabilityResponse } from './call.js';
import { checkedRequest, isIterable } from './checks.js';
import type { CapabilityEnd, CapabilityStream, StreamOptions } from './stream.js';

/** How something is to be written down. */
export interface TranscriptionSettings {
  /** Overrides the adapter's model. */
  readonly model?: string;
  /** BCP 47 tag of the expected language. */
  readonly language?: string;
  /** Words and names that may occur. */
  readonly prompt?: string;
  /** Ask for the time of each word. An adapter that cannot tell refuses before anything is sent. */
  readonly timestamps?: boolean;
  /** Ask how sure the model was of each word, as the natural logarithm of its probability. Refused like `timestamps`. */
  readonly logprobs?: boolean;
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

/** A recording to be written down, as plain data. */
export interface TranscriptionRequest extends TranscriptionSettings {
  readonly audio: AudioPart;
}

/** Sound that comes while it is spoken: raw 16-bit little-endian mono samples. */
export interface StreamTranscriptionRequest extends TranscriptionSettings {
  /** Hz of the sound; default 16 000. */
  readonly sampleRate: number;
  /** Who ends a segment: the provider when it hears a pause (`vad`, the default), or `'commit'` in the sound and its end (`manual`). */
  readonly commit: 'vad' | 'manual';
}

/** A piece of the transcript. Times are in milliseconds from the beginning of the sound; a log-probability may be slightly above 0. */
export interface TranscriptSpan {
  readonly text: string;
  readonly kind: 'word' | 'spacing' | 'sound' | 'token' | 'other';
  readonly startMs?: number;
  readonly endMs?: number;
  readonly logprob?: number;
  /** Who said it, where the provider tells speakers apart; its own name for them. */
  readonly speaker?: string;
}

export interface Transcript {
  /** Empty for silence. */
  readonly text: string;
  readonly language?: string;
  readonly durationMs?: number;
  /** Present when, and only when, times or log-probabilities were asked for; empty for silence. */
  readonly spans?: readonly TranscriptSpan[];
}
export interface TranscriptionResponse extends CapabilityResponse, Transcript {}

/** The provider listens. */
export interface TranscriptionStart {
  readonly type: 'transcription_start';
}
/** What the open segment seems to say; it replaces the partial before it. */
export interface PartialTranscript {
  readonly type: 'partial_transcript';
  readonly text: string;
}
/** A segment that will not change any more. */
export interface CommittedTranscript {
  readonly type: 'committed_transcript';
  readonly text: string;
  readonly language?: string;
  readonly spans?: readonly TranscriptSpan[];
}
/** Everything was written down. */
export interface TranscriptionEnd extends Omit<CapabilityResponse, 'warnings'> {
  readonly type: 'transcription_end';
  readonly durationMs?: number;
}

/** What an adapter yields: one `transcription_start`, partial and committed transcripts, one `transcription_end`. */
export type TranscriptionAdapterEvent = TranscriptionStart | PartialTranscript | CommittedTranscript | TranscriptionEnd | WarningEvent;
/** The closed union of what a stream of transcription says. */
export type TranscriptionStreamEvent = TranscriptionAdapterEvent | RetryEvent | CapabilityEnd<TranscriptionOutcome>;

/** The contract of a transcriber; its verbs behave as those of a `SpeechAdapter`. */
export interface TranscriptionAdapter {
  readonly provider: string;
  readonly model: string;
  /** The largest recording, in bytes. */
  readonly maxAudioBytes?: number;
  /** The media types that it reads; others are refused. Left out, the provider is asked. */
  readonly mediaTypes?: readonly string[];
  /** Sample rates (Hz) of streamed sound; others are refused. */
  readonly sampleRates?: readonly number[];
  /** True when its own model can tell the times of words. What another one can that a request names, only `transcribe` itself can refuse. */
  readonly timestamps?: boolean;
  /** The same for log-probabilities. */
  readonly logprobs?: boolean;
  /** Settings that it cannot express; a request with one is refused. */
  readonly unsupported?: readonly ('language' | 'prompt')[];
  transcribe(request: TranscriptionRequest, context: AdapterContext): Promise<TranscriptionResponse>;
  /** `audio` comes in pieces of whole samples, with `'commit'` between them when the request says `manual`. */
  streamTranscription?(
    request: StreamTranscriptionRequest,
    audio: AsyncIterable<Uint8Array | 'commit'>,
    context: AdapterContext,
  ): AsyncIterable<TranscriptionAdapterEvent>;
}

/** Options of one call; they win over the request. */
export interface TranscribeOptions extends TranscriptionSettings, CapabilityOptions {}
export interface StreamTranscriptionOptions extends Partial<StreamTranscriptionRequest>, StreamOptions {}

/** How transcription ended. A failed or stopped one has what was written down for good, and the open segment's last guess as `partial`. */
export type TranscriptionOutcome = CapabilityOutcome<Transcript, Transcript & { readonly partial?: string }>;
export type TranscriptionStream = CapabilityStream<TranscriptionAdapterEvent | RetryEvent, TranscriptionOutcome>;

/**
 * Writes down a recording; the method of the engine.
 *
 * ```ts
 * const { text } = completed(await engine.transcribe(audioPart(bytes, 'audio/wav'), { language: 'en' }));
 * ```
 */
export type Transcribe = (input: AudioPart | TranscriptionRequest, options?: TranscribeOptions) => Promise<TranscriptionOutcome>;

/**
 * Writes down what is said while it is said; the method of the engine.
 *
 * `audio` yields raw 16-bit little-endian mono samples in pieces of any length. With `commit: 'manual'`, a `'commit'` between them ends a
 * segment.
 *
 * ```ts
 * for await (const event of engine.streamTranscription(microphone, { sampleRate: 16_000 })) {
 *   if (event.type === 'committed_transcript') console.log(event.text);
 * }
 * ```
 */
export type StreamTranscription = (
  audio: AsyncIterable<Uint8Array | 'commit'> | Iterable<Uint8Array | 'commit'>,
  options?: StreamTranscriptionOptions,
) => TranscriptionStream;

export const TRANSCRIPTION_RULES: Rules = { model: text, language: text, prompt: text, timestamps: flag, logprobs: flag, providerOptions };
const STREAM_RULES: Rules = { ...TRANSCRIPTION_RULES, sampleRate: wholeNumber, commit: oneOf('vad', 'manual') };

/** The request of a streamed call. Throws `ValidationError`, for a `source` that is no iterable too. */
export function streamTranscriptionRequest(source: unknown, options: StreamTranscriptionOptions): StreamTranscriptionRequest {
  const given = checkedRequest<Partial<StreamTranscriptionRequest>>('streamTranscription', {}, options, {
    request: STREAM_RULES,
    required: [],
    options: { idleTimeoutMs: positive },
    together: () => (isIterable(source) ? [] : [{ path: 'audio', reason: `must be an iterable of bytes, not ${shown(source)}` }]),
  });
  return { ...given, sampleRate: given.sampleRate ?? 16_000, commit: given.commit ?? 'vad' };
}
