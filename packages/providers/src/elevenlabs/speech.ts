import type { AdapterContext, JsonObject, SpeechAdapter, SpeechAdapterEvent, SpeechEnd, SpeechRequest } from '@antiphon/engine';
import { type ErrorContext, errorInAnswer } from '../http/errors.js';
import { jsonObjects } from '../http/json-objects.js';
import { ownOptions } from '../http/own-options.js';
import type { Service } from '../http/service.js';
import { SoundWriter, soundOf, wholeSpeech } from '../http/sound.js';
import { type StreamedAnswer, streamAnswer } from '../http/streamed.js';
import { DEFAULT_VOICE, FORMATS, outputOf, voiceSettings } from './output.js';
import { streamFromText } from './speech-socket.js';
import { type ElevenlabsOptions, elevenlabsService, errorIn, languageCode, OWN_NAME, withQuery } from './vendor.js';
import { WordTimes } from './words.js';

/** Longest text of one request, in code points, by the beginning of a model's name. */
const MAX_TEXT_CHARS: ReadonlyArray<readonly [model: string, chars: number]> = [
  ['eleven_v3', 5_000],
  ['eleven_multilingual_v2', 10_000],
  ['eleven_flash_v2_5', 40_000],
  ['eleven_turbo_v2_5', 40_000],
  ['eleven_flash_v2', 30_000],
  ['eleven_turbo_v2', 30_000],
];

/**
 * Speech of ElevenLabs: whole, while it is made, and from a text that is still being written (over a WebSocket), each with the times of words
 * when they are asked for. Raw `pcm` has 24 000 Hz unless a rate is asked for.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for options that cannot be right. A rate that the format does not have, and a
 * speed outside 0.7 to 1.2, are refused before a key is asked for. The key stands in a header, never in an address.
 *
 * ```ts
 * const engine = createEngine({ chat, speech: elevenlabsSpeech({ model: 'eleven_flash_v2_5' }) });
 * const speech = engine.streamSpeechFromText(engine.stream('Tell me a story.'), { format: 'pcm', timestamps: true });
 * ```
 */
export function elevenlabsSpeech(options: ElevenlabsOptions): SpeechAdapter {
  const service = elevenlabsService('elevenlabsSpeech', options);
  const { provider, model } = service;
  const limit = provider === OWN_NAME ? MAX_TEXT_CHARS.find(([name]) => model.startsWith(name))?.[1] : undefined;
  return {
    provider,
    model,
    formats: FORMATS,
    ...(limit === undefined ? {} : { maxTextChars: limit }),
    timestamps: true,
    unsupported: ['instructions'],
    speak: (request, context) => wholeSpeech(speak(service, request, context, '')),
    streamSpeech: (request, context) => speak(service, request, context, '/stream'),
    streamSpeechFromText: (settings, text, context) => streamFromText(service, settings, text, context, options.webSocket),
  };
}

async function* speak(
  service: Service,
  request: SpeechRequest,
  context: AdapterContext,
  way: '' | '/stream',
): AsyncGenerator<SpeechAdapterEvent> {
  context.signal.throwIfAborted();
  const output = outputOf(service.provider, request);
  const own = ownOptions(request, service.provider, OWN_NAME);
  const body: JsonObject = {
    ...own,
    text: request.text,
    model_id: request.model ?? service.model,
    ...(request.language === undefined ? {} : { language_code: languageCode(request.language)! }),
    ...voiceSettings(own, request.speed),
  };
  const voice = encodeURIComponent(request.voice ?? DEFAULT_VOICE);
  const timed = request.timestamps === true ? '/with-timestamps' : '';
  const path = `/text-to-speech/${voice}${way}${timed}`;
  const outgoing = await withQuery(service.outgoing(path, body, context), { output_format: output.name });
  outgoing.headers.set('accept', '*/*');
  const { about } = outgoing;
  const writer = new SoundWriter(soundOf(output.format, output.sampleRate), about);
  yield* streamAnswer(outgoing, context, async function* (answer) {
    yield* timed ? readTimed(answer, writer, about) : writer.answer(answer);
    yield endOf(answer.headers);
  });
}

/** JSON objects: sound in base64 and the times of its characters. */
async function* readTimed(answer: StreamedAnswer, writer: SoundWriter, about: ErrorContext): AsyncGenerator<SpeechAdapterEvent> {
  const times = new WordTimes(false);
  for await (const value of jsonObjects(answer, () => writer.shown, about)) {
    const error = errorIn(value);
    if (error) throw errorInAnswer(error, answer.headers, about, writer.shown);
    const sound = value.audio_base64 ?? value.audio;
    if (typeof sound !== 'string') continue;
    yield* writer.base64(sound);
    const words = times.add(value.alignment ?? value.normalized_alignment);
    if (words.length > 0) yield { type: 'words', words };
  }
  writer.end();
  const words = times.end();
  if (words.length > 0) yield { type: 'words', words };
}

function endOf(headers: Headers): SpeechEnd {
  const characters = Number(headers.get('character-cost') ?? Number.NaN);
  const responseId = headers.get('request-id');
  return {
    type: 'speech_end',
    ...(Number.isFinite(characters) ? { usage: { characters } } : {}),
    ...(responseId === null ? {} : { responseId }),
  };
}
