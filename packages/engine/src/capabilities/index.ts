// The capabilities beside chat: their slots in an engine, and its methods for them.
import type { Clock } from '../clock.js';
import { isRecord } from '../data/json.js';
import { ConfigurationError } from '../errors.js';
import type { KeyResolver } from '../reliability/keys.js';
import type { RetryPolicy } from '../reliability/retrying.js';
import { type ClassificationAdapter, type Classify, classifyWith } from './classification.js';
import { type Embed, type EmbeddingAdapter, embedWith } from './embeddings.js';
import { type EditImage, editImageWith, type GenerateImage, generateImageWith, type ImageAdapter } from './images.js';
import { type Moderate, type ModerationAdapter, moderateWith } from './moderation.js';
import { type Rerank, type RerankAdapter, rerankWith } from './rerank.js';
import { type Speak, type SpeechAdapter, type StreamSpeech, type StreamSpeechFromText, speakWith } from './speech.js';
import { streamSpeechFromTextWith, streamSpeechWith } from './speech-stream.js';
import { type Transcribe, type TranscriptionAdapter, transcribeWith } from './transcription.js';
import { type StreamTranscription, streamTranscriptionWith } from './transcription-stream.js';

/** One slot per capability; no slot falls back to another. */
export interface CapabilitySlots {
  readonly images?: ImageAdapter;
  readonly embeddings?: EmbeddingAdapter;
  readonly moderation?: ModerationAdapter;
  readonly classification?: ClassificationAdapter;
  readonly speech?: SpeechAdapter;
  readonly transcription?: TranscriptionAdapter;
  readonly rerank?: RerankAdapter;
}

/**
 * The engine's methods for its slots. Each resolves to an outcome (streams have it as `outcome`), and rejects or throws only for mistakes of
 * the programmer: `ConfigurationError` (`missing_adapter`) for an empty slot, `ValidationError` with every fault of the request.
 */
export interface CapabilityMethods {
  readonly embed: Embed;
  readonly generateImage: GenerateImage;
  readonly editImage: EditImage;
  readonly moderate: Moderate;
  readonly classify: Classify;
  readonly speak: Speak;
  readonly streamSpeech: StreamSpeech;
  readonly streamSpeechFromText: StreamSpeechFromText;
  readonly transcribe: Transcribe;
  readonly streamTranscription: StreamTranscription;
  readonly rerank: Rerank;
}

/** What an adapter in each slot must have: its verb, and limits that must be whole numbers. */
const SLOTS: { readonly [slot in keyof CapabilitySlots]-?: readonly [verb: string, ...limits: readonly string[]] } = {
  images: ['generateImage', 'maxImages?'],
  embeddings: ['embed', 'maxBatchSize'],
  moderation: ['moderate', 'maxBatchSize'],
  classification: ['classify', 'maxQuestions?'],
  speech: ['speak'],
  transcription: ['transcribe'],
  rerank: ['rerank'],
};

/** The names of the slots. */
export const CAPABILITY_SLOTS = Object.keys(SLOTS) as readonly (keyof CapabilitySlots)[];

/** Throws `ConfigurationError` for a slot with something else than an adapter of its kind. */
export function checkSlots(config: CapabilitySlots): void {
  for (const slot of CAPABILITY_SLOTS) {
    const adapter: unknown = config[slot];
    if (adapter === undefined) continue;
    const [verb, ...limits] = SLOTS[slot];
    const wrong = (what: string) => new ConfigurationError('invalid_option', `${slot} must be an adapter ${what}.`);
    if (!isRecord(adapter) || typeof adapter[verb] !== 'function') throw wrong(`with a ${verb} method`);
    if (typeof adapter.provider !== 'string') throw wrong('that names its provider');
    for (const limit of limits) {
      const name = limit.replace('?', '');
      const value = adapter[name];
      if (value === undefined && limit.endsWith('?')) continue;
      if (value !== Number.POSITIVE_INFINITY && !(Number.isInteger(value) && (value as number) > 0)) {
        throw wrong(`whose ${name} is a whole number above 0, not ${String(value)}`);
      }
    }
  }
}

/** Parts of an engine that hold for every capability. */
interface CapabilitySettings {
  readonly retry?: RetryPolicy | false;
  readonly keys?: KeyResolver;
  readonly context?: unknown;
}

/** The methods for these slots. */
export function capabilityMethods(config: CapabilitySlots & CapabilitySettings, clock: Clock): CapabilityMethods {
  const runtime = { clock, retry: config.retry, keys: config.keys, context: config.context };
  return {
    embed: embedWith(config.embeddings, runtime),
    generateImage: generateImageWith(config.images, runtime),
    editImage: editImageWith(config.images, runtime),
    moderate: moderateWith(config.moderation, runtime),
    classify: classifyWith(config.classification, runtime),
    speak: speakWith(config.speech, runtime),
    streamSpeech: streamSpeechWith(config.speech, runtime),
    streamSpeechFromText: streamSpeechFromTextWith(config.speech, runtime),
    transcribe: transcribeWith(config.transcription, runtime),
    streamTranscription: streamTranscriptionWith(config.transcription, runtime),
    rerank: rerankWith(config.rerank, runtime),
  };
}
