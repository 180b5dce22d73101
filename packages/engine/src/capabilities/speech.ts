import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type JsonObject } from '../data/json.js';
import type { AudioPart } from '../data/parts.js';
import { flag, oneOf, positive, providerOptions, type Rules, shown, text, wholeNumber } from '../data/rules.js';
import type { RetryEvent, WarningEvent } from '../events/events.js';
import type { CapabilityOptions, CapabilityOutcome, CapabilityResponse } from './call.js';
import { checkedRequest, isIterable } from './checks.js';
import type { CapabilityEnd, CapabilityStream, StreamOptions } from './stream.js';

/** File formats, and raw samples: `pcm` is 16-bit little-endian mono; `ulaw` and `alaw` are the telephone's. */
export const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm', 'ulaw', 'alaw'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** How something is to be spoken. */
export interface SpeechSettings {
  /** Overrides the adapter's model. */
  readonly model?: string;
  /** The provider's own name of a voice. */
  readonly voice?: string;
  /** Left out, the provider chooses; the answer says what it is. */
  readonly format?: SpeechFormat;
  /** Hz */
  readonly sampleRate?: number;
  /** BCP 47 tag, such as `de-AT`. */
  readonly language?: string;
  /** How to speak, in words. */
  readonly instructions?: string;
  /** 1 is the voice's own speed. */
  readonly speed?: number;
  /** Ask for the time of each word. An adapter that cannot tell refuses before anything is sent. */
  readonly timestamps?: boolean;
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

/** A text to be spoken, as plain data. */
export interface SpeechRequest extends SpeechSettings {
  readonly text: string;
}

/** When a word sounds, in milliseconds from the beginning of the audio. */
export interface SpokenWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** What is known of the sound. A raw format has its sample rate. */
export interface SpeechAbout {
  readonly mediaType: string;
  readonly format?: SpeechFormat;
  /** Hz */
  readonly sampleRate?: number;
}

export interface SpeechResponse extends CapabilityResponse, Omit<SpeechAbout, 'mediaType'> {
  readonly audio: AudioPart;
  /** Present when, and only when, `timestamps` was asked for. */
  readonly words?: readonly SpokenWord[];
}

/** The sound begins. */
export interface SpeechStart extends SpeechAbout {
  readonly type: 'speech_start';
}
/** The next bytes of the sound; a raw sample may be cut in two. */
export interface AudioDelta {
  readonly type: 'audio_delta';
  readonly bytes: Uint8Array;
}
/** Times of the next words. */
export interface WordsEvent {
  readonly type: 'words';
  readonly words: readonly SpokenWord[];
}
/** The sound is complete. */
export interface SpeechEnd extends Omit<CapabilityResponse, 'warnings'> {
  readonly type: 'speech_end';
}

/** What an adapter yields: one `speech_start`, audio and words, one `speech_end`. */
export type SpeechAdapterEvent = SpeechStart | AudioDelta | WordsEvent | SpeechEnd | WarningEvent;
/** The closed union of what a stream of speech says. */
export type SpeechStreamEvent = SpeechAdapterEvent | RetryEvent | CapabilityEnd<SpeechOutcome>;

/**
 * The contract of a speech synthesizer. Each verb sends one request, the streaming ones when their iteration begins: they pull, and leaving
 * the iteration closes the request. A failure of the world is thrown as an `AdapterError` (`truncated` when the sound stops before its end),
 * an abort throws the signal's reason. Adapters do not retry and keep no timers.
 */
export interface SpeechAdapter {
  readonly provider: string;
  readonly model: string;
  /** The formats that it gives; others are refused. Left out, the provider is asked. */
  readonly formats?: readonly SpeechFormat[];
  /** The longest text of its own model, in Unicode code points. */
  readonly maxTextChars?: number;
  /** True when it can tell the times of words. */
  readonly timestamps?: boolean;
  /** Settings that it cannot express; a request with one is refused. */
  readonly unsupported?: readonly ('voice' | 'sampleRate' | 'language' | 'instructions' | 'speed')[];
  speak(request: SpeechRequest, context: AdapterContext): Promise<SpeechResponse>;
  streamSpeech?(request: SpeechRequest, context: AdapterContext): AsyncIterable<SpeechAdapterEvent>;
  /** `text` comes in pieces of any length, and ends. */
  streamSpeechFromText?(settings: SpeechSettings, text: AsyncIterable<string>, context: AdapterContext): AsyncIterable<SpeechAdapterEvent>;
}

/** Options of one call; they win over the request. */
export interface SpeakOptions extends SpeechSettings, CapabilityOptions {}
export interface StreamSpeechOptions extends SpeechSettings, StreamOptions {}

/** The sound, what is known of it, and the times of its words when they were asked for. */
export interface Speech {
  readonly audio: AudioPart;
  readonly format?: SpeechFormat;
  /** Hz */
  readonly sampleRate?: number;
  readonly words?: readonly SpokenWord[];
}
/** How speaking ended; a failure keeps the sound that came before it. */
export type SpeechOutcome = CapabilityOutcome<Speech, Partial<Speech>>;
export type SpeechStream = CapabilityStream<SpeechAdapterEvent | RetryEvent, SpeechOutcome>;

/**
 * Speaks a text; the method of the engine.
 *
 * ```ts
 * const { audio } = completed(await engine.speak('Good evening.', { voice: 'alloy', format: 'wav' }));
 * ```
 */
export type Speak = (input: string | SpeechRequest, options?: SpeakOptions) => Promise<SpeechOutcome>;
/** Speaks a text, piece by piece; the method of the engine. */
export type StreamSpeech = (input: string | SpeechRequest, options?: StreamSpeechOptions) => SpeechStream;
/** A text in pieces, or a run of the engine, of which the text is spoken. */
export type TextInPieces = AsyncIterable<string> | Iterable<string> | AsyncIterable<{ readonly type: string }>;
/**
 * Speaks a text while it is written; the method of the engine. A source that fails fails the call, and so does a run that fails or is stopped:
 * half an answer is no success. (A run's `textStream` only ends then; give the run itself.)
 *
 * ```ts
 * const speech = engine.streamSpeechFromText(engine.stream('Tell me a story.'));
 * ```
 */
export type StreamSpeechFromText = (text: TextInPieces, options?: StreamSpeechOptions) => SpeechStream;

const RULES: Rules = {
  text: ['a text that is not blank', value => typeof value === 'string' && value.trim() !== ''],
  model: text,
  voice: text,
  format: oneOf(...SPEECH_FORMATS),
  sampleRate: wholeNumber,
  language: text,
  instructions: text,
  speed: positive,
  timestamps: flag,
  providerOptions,
};

/** The request of a call that speaks a text. Throws `ValidationError`. */
export function speechRequest(method: string, input: unknown, options: StreamSpeechOptions): SpeechRequest {
  const rules = { request: RULES, required: ['text'], options: { idleTimeoutMs: positive } };
  return checkedRequest(method, isRecord(input) ? input : { text: input }, options, rules);
}

/** The settings of a call that speaks a text while it is written. Throws `ValidationError`, for a `source` that is no iterable too. */
export function speechSettings(source: unknown, options: StreamSpeechOptions): SpeechSettings {
  const { text: _, ...request } = RULES;
  return checkedRequest<SpeechSettings>('streamSpeechFromText', {}, options, {
    request,
    required: [],
    options: { idleTimeoutMs: positive },
    together: () => (isIterable(source) ? [] : [{ path: 'text', reason: `must be an iterable of texts, not ${shown(source)}` }]),
  });
}
