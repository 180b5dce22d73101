import {
  type AdapterContext,
  AdapterError,
  type JsonObject,
  type SpeechAdapter,
  type SpeechAdapterEvent,
  type SpeechFormat,
  type SpeechRequest,
} from '@antiphon/engine';
import { refuse } from '../http/call.js';
import { type ErrorContext, errorInAnswer } from '../http/errors.js';
import { jsonObjects } from '../http/json-objects.js';
import { ownOptions } from '../http/own-options.js';
import { findServerError } from '../http/server-error.js';
import { type Service, type ServiceOptions, serviceFor } from '../http/service.js';
import { mediaTypeOf, SoundWriter, soundOf, wholeSpeech } from '../http/sound.js';
import { type StreamedAnswer, streamAnswer } from '../http/streamed.js';
import { readUsage } from './usage.js';

/** Options of `openaiSpeech`. */
export interface OpenaiSpeechOptions extends ServiceOptions {}

const PATH = '/audio/speech';
const FORMATS: readonly SpeechFormat[] = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
/** Hz of its raw samples; there is no other. */
const SAMPLE_RATE = 24_000;
/** OpenAI's own limit, in code points; a server of one's own has none that we know of. */
const MAX_TEXT_CHARS = 4096;

/**
 * Speech of OpenAI and of servers that speak like it (`POST /audio/speech`), whole or while it is made. Times of words are not told there.
 * `providerOptions: { openai: { stream_format: 'sse' } }` streams events instead of bytes; only those report usage.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for options that cannot be right. A sample rate other than 24 000 Hz, a speed outside
 * 0.25 to 4 and instructions for `tts-1` are refused before a key is asked for.
 *
 * ```ts
 * const engine = createEngine({ speech: openaiSpeech({ model: 'gpt-4o-mini-tts' }) });
 * const { audio } = completed(await engine.speak('Good evening.', { voice: 'alloy', format: 'wav' }));
 * ```
 */
export function openaiSpeech(options: OpenaiSpeechOptions): SpeechAdapter {
  const service = serviceFor('openaiSpeech', options, 'https://api.openai.com/v1', [PATH]);
  const { provider, model } = service;
  return {
    provider,
    model,
    formats: FORMATS,
    ...(provider === 'openai' ? { maxTextChars: MAX_TEXT_CHARS } : {}),
    unsupported: ['language'],
    speak: (request, context) => wholeSpeech(streamSpeech(service, request, context)),
    streamSpeech: (request, context) => streamSpeech(service, request, context),
  };
}

async function* streamSpeech(service: Service, request: SpeechRequest, context: AdapterContext): AsyncGenerator<SpeechAdapterEvent> {
  context.signal.throwIfAborted();
  const body = bodyOf(service, request);
  const asked = FORMATS.find(format => format === body.response_format);
  const outgoing = await service.outgoing(PATH, body, context);
  outgoing.headers.set('accept', body.stream_format === 'sse' ? 'text/event-stream' : '*/*');
  yield* streamAnswer(outgoing, context, answer => readAnswer(answer, asked, outgoing.about));
}

function bodyOf({ provider, model }: Service, request: SpeechRequest): JsonObject {
  const own = ownOptions(request, provider, 'openai');
  const { text, format, sampleRate, instructions, speed } = request;
  const asked = request.model ?? model;
  refuse(provider, [
    sampleRate !== undefined && sampleRate !== SAMPLE_RATE && `it has no sample rate but ${SAMPLE_RATE} Hz`,
    speed !== undefined && (speed < 0.25 || speed > 4) && `its speed is 0.25 to 4, not ${speed}`,
    instructions !== undefined && asked.startsWith('tts-1') && `${asked} takes no instructions`,
  ]);
  return {
    ...own,
    model: asked,
    input: text,
    // A voice of one's own is an object there: `{ id }`.
    voice: request.voice ?? own.voice ?? 'alloy',
    ...(format === undefined ? {} : { response_format: format }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(speed === undefined ? {} : { speed }),
  };
}

async function* readAnswer(
  answer: StreamedAnswer,
  asked: SpeechFormat | undefined,
  about: ErrorContext,
): AsyncGenerator<SpeechAdapterEvent> {
  const mediaType = mediaTypeOf(answer.headers);
  const isEvents = mediaType === 'text/event-stream';
  const format = (isEvents ? undefined : formatOf(mediaType)) ?? asked ?? 'mp3';
  const sound = soundOf(format, format === 'pcm' ? SAMPLE_RATE : undefined);
  const writer = new SoundWriter(sound, about);
  if (isEvents) return yield* readEvents(answer, writer, about);
  yield* writer.answer(answer);
  yield { type: 'speech_end' };
}

/** `speech.audio.delta` events with base64, and `speech.audio.done` with the account. */
async function* readEvents(answer: StreamedAnswer, writer: SoundWriter, about: ErrorContext): AsyncGenerator<SpeechAdapterEvent> {
  for await (const value of jsonObjects(answer, () => writer.shown, about)) {
    const error = findServerError(value);
    if (error) throw errorInAnswer(error, answer.headers, about, writer.shown);
    if (value.type === 'speech.audio.delta') yield* writer.base64(value.audio);
    else if (value.type === 'speech.audio.done') {
      writer.end();
      yield { type: 'speech_end', usage: readUsage(value.usage) };
      return;
    }
  }
  const { provider } = about;
  throw new AdapterError('truncated', `${provider}: the sound stopped before its end.`, { provider, retryable: !writer.shown });
}

function formatOf(mediaType: string): SpeechFormat | undefined {
  switch (mediaType) {
    case 'audio/mpeg':
    case 'audio/mp3':
      return 'mp3';
    case 'audio/ogg':
    case 'audio/opus':
      return 'opus';
    case 'audio/aac':
      return 'aac';
    case 'audio/flac':
    case 'audio/x-flac':
      return 'flac';
    case 'audio/wav':
    case 'audio/x-wav':
    case 'audio/wave':
      return 'wav';
    case 'audio/pcm':
    case 'audio/l16':
      return 'pcm';
    default:
      return undefined;
  }
}
