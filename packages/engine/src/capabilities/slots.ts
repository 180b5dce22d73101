// The capabilities beside chat: their slots in an engine, and its methods for them.
import { isRecord } from '../data/json.js';
import { ConfigurationError } from '../errors.js';
import { invalidOption } from '../invalid-option.js';
import type { ClassificationAdapter, Classify } from './classification.js';
import type { Embed, EmbeddingAdapter } from './embeddings.js';
import type { EditImage, GenerateImage, ImageAdapter } from './images.js';
import type { Moderate, ModerationAdapter } from './moderation.js';
import type { Rerank, RerankAdapter } from './rerank.js';
import type { Speak, SpeechAdapter, StreamSpeech, StreamSpeechFromText } from './speech.js';
import type { StreamTranscription, Transcribe, TranscriptionAdapter } from './transcription.js';

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
    const wrong = (what: string) => invalidOption(`${slot} must be an adapter ${what}.`);
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

/** An adapter for each slot, for the message about an empty one. */
const EXAMPLES: { readonly [slot in keyof CapabilitySlots]-?: string } = {
  images: 'openaiImages({ model: … })',
  embeddings: 'openaiEmbeddings({ model: … })',
  moderation: 'openaiModeration({ model: … })',
  classification: 'an adapter of your own, or scriptedClassification([…])',
  speech: 'openaiSpeech({ model: … })',
  transcription: 'openaiTranscription({ model: … })',
  rerank: 'voyageRerank({ model: … })',
};

/** The adapter in a slot. Throws `ConfigurationError` (`missing_adapter`) that names an empty slot and an adapter for it. */
export function adapterIn<Slot extends keyof CapabilitySlots>(slot: Slot, slots: CapabilitySlots): NonNullable<CapabilitySlots[Slot]> {
  const adapter = slots[slot];
  if (adapter) return adapter;
  throw new ConfigurationError('missing_adapter', `This engine has no ${slot} model: createEngine({ ${slot}: ${EXAMPLES[slot]} }).`);
}
