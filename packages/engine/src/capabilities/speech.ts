import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type JsonObject } from '../data/json.js';
import type { AudioPart } from '../data/parts.js';
import { AdapterError } from '../errors.js';
import type { RetryEvent, WarningEvent } from '../events/events.js';
import { adapterIn, type CapabilityOptions, type CapabilityOutcome, type CapabilityResponse, type Runtime, runCall } from './call.js';
import {
  audio,
  checkedRequest,
  flag,
  malformed,
  oneOf,
  positive,
  providerOptions,
  type Rules,
  refuseUnsupported,
  text,
  wholeNumber,
} from './checks.js';
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
  /** The longest text, in Unicode code points. */
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

export const SPEECH_RULES: Rules = {
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

export function speakWith(adapterOrNone: SpeechAdapter | undefined, runtime: Runtime): Speak {
  return async (input, options = {}) => {
    const adapter = speechAdapter(adapterOrNone);
    const request = speechRequest('speak', input, options);
    let speech: Partial<Speech> = {};
    const ending = await runCall(adapter.provider, options, runtime, async call => {
      refuseSpeech(adapter, request);
      await call.send(
        context => adapter.speak(request, context),
        answer => {
          speech = readSpeech(answer, adapter.provider, request.timestamps === true);
          checkWords(speech, request, adapter.provider);
        },
      );
    });
    return { ...ending, ...speech } as SpeechOutcome;
  };
}

export function speechAdapter(adapter: SpeechAdapter | undefined): SpeechAdapter {
  return adapterIn('speech', adapter, 'openaiSpeech({ model: … })');
}

export function speechRequest(method: string, input: unknown, options: StreamSpeechOptions): SpeechRequest {
  const rules = { request: SPEECH_RULES, required: ['text'], options: { idleTimeoutMs: positive } };
  return checkedRequest(method, isRecord(input) ? input : { text: input }, options, rules);
}

/** Refuses what the adapter says that it cannot do. */
export function refuseSpeech(
  adapter: SpeechAdapter,
  request: SpeechSettings & { readonly text?: string },
  more: readonly (string | false)[] = [],
): void {
  const { formats, maxTextChars = Number.POSITIVE_INFINITY, unsupported = [], provider } = adapter;
  const { format } = request;
  // A UTF-16 length is never below the number of code points, so that most texts need no count.
  const long = request.text !== undefined && request.text.length > maxTextChars ? [...request.text].length : 0;
  if (long > maxTextChars) {
    const message = `${provider}: the text has ${long} characters, and it takes ${maxTextChars} at once. Nothing was sent.`;
    throw new AdapterError('context_length_exceeded', message, { provider });
  }
  refuseUnsupported(provider, [
    ...more,
    format !== undefined && formats !== undefined && !formats.includes(format) && `it cannot give ${format}, only ${formats.join(', ')}`,
    request.timestamps === true && !adapter.timestamps && 'it cannot tell the times of words (timestamps)',
    ...unsupported.map(setting => request[setting] !== undefined && `it has no setting for ${setting}`),
  ]);
}

function readSpeech(answer: Record<string, unknown>, provider: string, timestamps: boolean): Speech {
  const { format, sampleRate, words } = answer;
  const fault = audio[1](answer.audio);
  if (fault !== true && (fault === false || fault.length > 0)) throw malformed(provider, 'the answer has no audio part with sound in it');
  const part = answer.audio as AudioPart;
  checkAbout({ mediaType: part.mediaType, format, sampleRate }, provider);
  return {
    audio: part,
    ...(format === undefined ? {} : { format: format as SpeechFormat }),
    ...(sampleRate === undefined ? {} : { sampleRate: sampleRate as number }),
    // Times that were not asked for are left out, so that nobody comes to rely on them.
    ...(timestamps && words !== undefined ? { words: readWords(words, provider) } : {}),
  };
}

/** Throws for a description of sound that cannot be right, or that does not say what is needed to play it. */
export function checkAbout(about: Record<string, unknown>, provider: string): void {
  const { mediaType, format, sampleRate } = about;
  if (typeof mediaType !== 'string' || mediaType === '') throw malformed(provider, 'the sound has no media type');
  if (format !== undefined && !SPEECH_FORMATS.includes(format as SpeechFormat))
    throw malformed(provider, 'the sound has an unknown format');
  if (sampleRate !== undefined && wholeNumber[1](sampleRate) !== true) throw malformed(provider, 'the sample rate is no number of Hz');
  const raw = format === 'pcm' || format === 'ulaw' || format === 'alaw';
  if (raw && sampleRate === undefined) throw malformed(provider, `the sample rate of the ${format} sound is not told`);
}

export function readWords(words: unknown, provider: string): SpokenWord[] {
  const isWord = (word: unknown) =>
    isRecord(word) &&
    typeof word.text === 'string' &&
    isTime(word.startMs) &&
    isTime(word.endMs) &&
    (word.endMs as number) >= (word.startMs as number);
  if (!Array.isArray(words) || !words.every(isWord)) throw malformed(provider, 'the times of words are not { text, startMs, endMs }');
  return words as SpokenWord[];
}

/** Asked for and not there is an error, with the sound kept: it was paid for. */
export function checkWords(speech: Partial<Speech>, request: SpeechSettings, provider: string): void {
  if (request.timestamps === true && speech.words === undefined) {
    throw new AdapterError('unsupported', `${provider}: the times of words were asked for and did not come.`, { provider });
  }
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}
