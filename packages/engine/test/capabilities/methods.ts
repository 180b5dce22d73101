// Every method of the capabilities, with a good request, a good answer and an adapter around any verb: for the rules that hold for all.
import { audioPart, type CapabilitySlots, choiceQuestion, createEngine, type Engine, type EngineConfig, imagePart } from '@antiphon/engine';

/** What the adapter's verb does when it is called. */
export type Verb = (request: Record<string, unknown>, ...rest: readonly unknown[]) => unknown;
type AnyOutcome = Record<string, unknown> & { readonly status: string; readonly error?: Error & { reason: string } };

export interface Method {
  readonly name: string;
  readonly slot: keyof CapabilitySlots;
  /** An adapter whose verb does this. */
  adapter(verb: Verb): unknown;
  /** What a good verb gives for the good request: an answer, or a list of events. */
  readonly answer: unknown;
  /** Calls the method with a good request. */
  call(engine: Engine, options?: object): Promise<AnyOutcome>;
  readonly streams: boolean;
}

const SOUND = audioPart(new Uint8Array([1, 0, 2, 0]), 'audio/wav');
const PICTURE = imagePart(new Uint8Array([1, 2, 3]), 'image/png');
const BYTES = new Uint8Array([1, 0, 2, 0]);
const about = { provider: 'mine', model: 'm' };
const options = (given: object | undefined) => given as never;
const outcomeOf = async (promise: Promise<unknown>) => (await promise) as AnyOutcome;

export const METHODS: readonly Method[] = [
  {
    name: 'embed',
    slot: 'embeddings',
    adapter: embed => ({ ...about, maxBatchSize: 10, embed }),
    answer: { embeddings: [{ index: 0, vector: [1, 2] }] },
    call: (engine, more) => outcomeOf(engine.embed('one', options(more))),
    streams: false,
  },
  {
    name: 'generateImage',
    slot: 'images',
    adapter: generateImage => ({ ...about, generateImage }),
    answer: { images: [PICTURE] },
    call: (engine, more) => outcomeOf(engine.generateImage('a boat', options(more))),
    streams: false,
  },
  {
    name: 'editImage',
    slot: 'images',
    adapter: editImage => ({ ...about, generateImage: async () => ({}), editImage }),
    answer: { images: [PICTURE] },
    call: (engine, more) => outcomeOf(engine.editImage(PICTURE, { prompt: 'at night', ...(more as object) })),
    streams: false,
  },
  {
    name: 'moderate',
    slot: 'moderation',
    adapter: moderate => ({ ...about, maxBatchSize: 10, moderate }),
    answer: { results: [{ index: 0, flagged: false, categories: {}, scores: {} }] },
    call: (engine, more) => outcomeOf(engine.moderate('hello', options(more))),
    streams: false,
  },
  {
    name: 'classify',
    slot: 'classification',
    adapter: classify => ({ ...about, classify }),
    answer: { answers: { mood: { type: 'choice', choice: 'glad', probabilities: { glad: 1, sad: 0 } } } },
    call: (engine, more) =>
      outcomeOf(engine.classify('hello', { questions: { mood: choiceQuestion('Which?', ['glad', 'sad']) }, ...(more as object) })),
    streams: false,
  },
  {
    name: 'rerank',
    slot: 'rerank',
    adapter: rerank => ({ ...about, rerank }),
    answer: { results: [{ index: 0, score: 1 }] },
    call: (engine, more) => outcomeOf(engine.rerank('storms', { documents: ['Hail'], ...(more as object) })),
    streams: false,
  },
  {
    name: 'speak',
    slot: 'speech',
    adapter: speak => ({ ...about, speak }),
    answer: { audio: SOUND, format: 'wav' },
    call: (engine, more) => outcomeOf(engine.speak('hello', options(more))),
    streams: false,
  },
  {
    name: 'transcribe',
    slot: 'transcription',
    adapter: transcribe => ({ ...about, transcribe }),
    answer: { text: 'hello' },
    call: (engine, more) => outcomeOf(engine.transcribe(SOUND, options(more))),
    streams: false,
  },
  {
    name: 'streamSpeech',
    slot: 'speech',
    adapter: streamSpeech => ({ ...about, speak: async () => ({}), streamSpeech }),
    answer: [
      { type: 'speech_start', mediaType: 'audio/wav' },
      { type: 'audio_delta', bytes: BYTES },
      { type: 'speech_end', usage: {} },
    ],
    call: (engine, more) => outcomeOf(engine.streamSpeech('hello', options(more)).outcome),
    streams: true,
  },
  {
    name: 'streamSpeechFromText',
    slot: 'speech',
    adapter: streamSpeechFromText => ({ ...about, speak: async () => ({}), streamSpeechFromText }),
    answer: [
      { type: 'speech_start', mediaType: 'audio/wav' },
      { type: 'audio_delta', bytes: BYTES },
      { type: 'speech_end', usage: {} },
    ],
    call: (engine, more) => outcomeOf(engine.streamSpeechFromText(['hel', 'lo'], options(more)).outcome),
    streams: true,
  },
  {
    name: 'streamTranscription',
    slot: 'transcription',
    adapter: streamTranscription => ({ ...about, transcribe: async () => ({}), streamTranscription }),
    answer: [{ type: 'transcription_start' }, { type: 'committed_transcript', text: 'hello' }, { type: 'transcription_end', usage: {} }],
    call: (engine, more) => outcomeOf(engine.streamTranscription([BYTES], options(more)).outcome),
    streams: true,
  },
];

/** A verb that answers well: with the answer itself, or with its events. */
export function goodVerb(method: Method, calls: unknown[] = []): Verb {
  if (!method.streams) {
    return async request => {
      calls.push(request);
      return method.answer;
    };
  }
  return async function* (request) {
    calls.push(request);
    yield* method.answer as Iterable<unknown>;
  };
}

export function engineOf(method: Method, verb: Verb, config: EngineConfig = {}): Engine {
  return createEngine({ [method.slot]: method.adapter(verb), ...config } as EngineConfig);
}
