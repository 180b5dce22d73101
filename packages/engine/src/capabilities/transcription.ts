import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type JsonObject } from '../data/json.js';
import type { AudioPart } from '../data/parts.js';
import { AdapterError } from '../errors.js';
import type { RetryEvent, WarningEvent } from '../events/events.js';
import {
  adapterIn,
  type CapabilityOptions,
  type CapabilityOutcome,
  type CapabilityReport,
  type CapabilityResponse,
  type Ending,
  type Runtime,
  runCall,
} from './call.js';
import { audio, byteLength, checkedRequest, flag, malformed, providerOptions, type Rules, refuseUnsupported, text } from './checks.js';
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
  /** True when it can tell the times of words. */
  readonly timestamps?: boolean;
  /** True when it can tell log-probabilities. */
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

const RULES: Rules = { audio, model: text, language: text, prompt: text, timestamps: flag, logprobs: flag, providerOptions };
const { audio: _, ...settings } = RULES;
export const TRANSCRIPTION_RULES: Rules = settings;

export function transcribeWith(adapterOrNone: TranscriptionAdapter | undefined, runtime: Runtime): Transcribe {
  return async (input, options = {}) => {
    const adapter = transcriptionAdapter(adapterOrNone);
    const given = isRecord(input) && 'audio' in input ? input : { audio: input };
    const request = checkedRequest<TranscriptionRequest>('transcribe', given, options, { request: RULES, required: ['audio'] });
    let transcript: Transcript = { text: '' };
    const ending = await runCall(adapter.provider, options, runtime, async call => {
      const { maxAudioBytes = Number.POSITIVE_INFINITY, mediaTypes } = adapter;
      const bytes = byteLength(request.audio);
      const mediaType = request.audio.mediaType.split(';')[0] as string;
      refuseTranscription(adapter, request, [
        bytes > maxAudioBytes && `the recording has ${bytes} bytes, and it takes ${maxAudioBytes}`,
        mediaTypes !== undefined && !mediaTypes.includes(mediaType) && `it cannot read ${mediaType}, only ${mediaTypes.join(', ')}`,
      ]);
      await call.send(
        context => adapter.transcribe(request, context),
        answer => {
          transcript = readTranscript(answer, request, adapter.provider);
        },
      );
      checkSpans(transcript, request, adapter.provider);
    });
    return { ...ending, ...transcript } as CapabilityReport & Ending & Transcript;
  };
}

export function transcriptionAdapter(adapter: TranscriptionAdapter | undefined): TranscriptionAdapter {
  return adapterIn('transcription', adapter, 'openaiTranscription({ model: … })');
}

/** Refuses what the adapter says that it cannot do. */
export function refuseTranscription(
  adapter: TranscriptionAdapter,
  request: TranscriptionSettings,
  more: readonly (string | false)[],
): void {
  refuseUnsupported(adapter.provider, [
    ...more,
    request.timestamps === true && !adapter.timestamps && 'it cannot tell the times of words (timestamps)',
    request.logprobs === true && !adapter.logprobs && 'it cannot tell how sure it is (logprobs)',
    ...(adapter.unsupported ?? []).map(setting => request[setting] !== undefined && `it has no setting for ${setting}`),
  ]);
}

function readTranscript(answer: Record<string, unknown>, request: TranscriptionSettings, provider: string): Transcript {
  const { text: words, language, durationMs, spans } = answer;
  if (typeof words !== 'string') throw malformed(provider, 'the answer has no text');
  if (durationMs !== undefined && !isNumber(durationMs)) throw malformed(provider, 'the duration is no number of milliseconds');
  const wanted = wantsSpans(request) && spans !== undefined;
  return {
    text: words,
    ...(typeof language === 'string' ? { language } : {}),
    ...(durationMs === undefined ? {} : { durationMs: durationMs as number }),
    ...(wanted ? { spans: readSpans(spans, request, provider) } : {}),
  };
}

export function wantsSpans({ timestamps, logprobs }: TranscriptionSettings): boolean {
  return timestamps === true || logprobs === true;
}

/** The spans with what was asked for, and nothing else: what comes unasked today may stay away tomorrow. */
export function readSpans(spans: unknown, { timestamps, logprobs }: TranscriptionSettings, provider: string): TranscriptSpan[] {
  if (!Array.isArray(spans)) throw malformed(provider, 'the spans are no list');
  return (spans as unknown[]).map((span, i) => {
    const { text: words, kind, startMs, endMs, logprob, speaker } = isRecord(span) ? span : {};
    if (typeof words !== 'string' || typeof kind !== 'string') throw malformed(provider, `span ${i} has no text or no kind`);
    if ([startMs, endMs, logprob].some(value => value !== undefined && !isNumber(value)))
      throw malformed(provider, `a number of span ${i} is none`);
    return {
      text: words,
      kind: kind as TranscriptSpan['kind'],
      ...(timestamps === true && startMs !== undefined ? { startMs: startMs as number } : {}),
      ...(timestamps === true && endMs !== undefined ? { endMs: endMs as number } : {}),
      ...(logprobs === true && logprob !== undefined ? { logprob: logprob as number } : {}),
      ...(typeof speaker === 'string' ? { speaker } : {}),
    };
  });
}

/** Asked for and not there is an error, with the text kept: it was paid for. Silence has no words to tell of. */
export function checkSpans(transcript: Transcript, request: TranscriptionSettings, provider: string): void {
  if (!wantsSpans(request) || transcript.text.trim() === '') return;
  const told = (transcript.spans ?? []).filter(({ kind }) => kind === 'word' || kind === 'token');
  const lacks = (key: 'startMs' | 'logprob') => told.length === 0 || told.some(span => span[key] === undefined);
  const missing = [
    ...(request.timestamps === true && lacks('startMs') ? ['times'] : []),
    ...(request.logprobs === true && lacks('logprob') ? ['log-probabilities'] : []),
  ];
  if (missing.length === 0) return;
  const message = `${provider}: ${missing.join(' and ')} were asked for, and not every word has them. The text is in the outcome.`;
  throw new AdapterError('unsupported', message, { provider });
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}
