import type { AdapterContext } from '../adapters/chat.js';
import type { CapabilityUsage } from '../capabilities/call.js';
import {
  SPEECH_FORMATS,
  type SpeechAdapter,
  type SpeechAdapterEvent,
  type SpeechFormat,
  type SpeechRequest,
  type SpeechSettings,
  type SpokenWord,
} from '../capabilities/speech.js';
import { sleep } from '../clock.js';
import { audioPart } from '../data/parts.js';
import { Script, type Scripted, type Turns } from './scripted-turns.js';

/** What a scripted voice says once. Everything is optional: by default it is silent for as many samples as the text has characters. */
export interface ScriptedVoice {
  /** The sound, in the pieces in which it comes. Default one piece per word (or per piece of a text that is being written). */
  readonly chunks?: readonly Uint8Array[];
  /** Default, when asked for: the words of the text, one after another, 100 ms each. */
  readonly words?: readonly SpokenWord[];
  readonly usage?: CapabilityUsage;
  /** Thrown after the sound. */
  readonly error?: Error;
  /** Milliseconds on the engine's clock before the first piece, and before every further one. */
  readonly firstAudioMs?: number;
  readonly perChunkMs?: number;
}
export interface ScriptedSpeech extends SpeechAdapter, Scripted<SpeechSettings & { readonly text?: string }> {
  /** The whole of each text, as far as it was heard, in order. */
  readonly heard: readonly string[];
}

/**
 * A voice for tests; its three verbs use the same turns. One call more than there are turns fails with `script_exhausted`. Raw `pcm` of
 * 24 000 Hz is the default format.
 *
 * ```ts
 * const speech = scriptedSpeech([{ chunks: [new Uint8Array([1, 2])] }]);
 * for await (const event of createEngine({ speech }).streamSpeech('Hi')) console.log(event.type);
 * ```
 */
export function scriptedSpeech(
  turns: Turns<SpeechSettings & { readonly text?: string }, ScriptedVoice>,
  options: Pick<SpeechAdapter, 'maxTextChars' | 'unsupported'> & {
    readonly model?: string;
    readonly formats?: readonly SpeechFormat[];
    readonly timestamps?: boolean;
  } = {},
): ScriptedSpeech {
  const { model = 'scripted', formats = SPEECH_FORMATS, timestamps = true, maxTextChars = 4096, unsupported = [] } = options;
  const script = new Script(turns);
  const heard: string[] = [];
  const begin = (request: SpeechSettings & { readonly text?: string }, context: AdapterContext) =>
    script.answer(request, context, [
      request.text?.trim() === '' && 'there is no text',
      (request.text?.length ?? 0) > maxTextChars && [...(request.text ?? '')].length > maxTextChars && 'the text is too long',
      request.format !== undefined && !formats.includes(request.format) && `there is no format ${request.format}`,
      request.timestamps === true && !timestamps && 'there are no times of words',
      unsupported.some(setting => request[setting] !== undefined) && 'there is a setting that it does not know',
    ]);

  async function* play(
    voice: ScriptedVoice,
    settings: SpeechSettings,
    pieces: AsyncIterable<string> | Iterable<string>,
    context: AdapterContext,
  ): AsyncGenerator<SpeechAdapterEvent> {
    const { clock, signal } = context;
    const pause = async (ms: number | undefined) => {
      if (ms) await sleep(clock, ms, signal);
      signal.throwIfAborted();
    };
    const format = settings.format ?? (formats[0] as SpeechFormat);
    yield { type: 'speech_start', ...about(format, settings.sampleRate) };
    await pause(voice.firstAudioMs);
    const place = heard.push('') - 1;
    let chunks = 0;
    const chunk = async (bytes: Uint8Array): Promise<SpeechAdapterEvent> => {
      if (chunks++ > 0) await pause(voice.perChunkMs);
      return { type: 'audio_delta', bytes };
    };
    for await (const piece of pieces) {
      signal.throwIfAborted();
      heard[place] += piece;
      if (voice.chunks === undefined && piece.length > 0) yield await chunk(new Uint8Array(piece.length * 2));
    }
    for (const bytes of voice.chunks ?? []) yield await chunk(bytes);
    if (voice.error) throw voice.error;
    if (settings.timestamps) yield { type: 'words', words: voice.words ?? evenly(heard[place] ?? '') };
    yield { type: 'speech_end', usage: voice.usage ?? {}, model: settings.model ?? model };
  }

  return {
    provider: 'scripted',
    model,
    formats,
    timestamps,
    maxTextChars,
    unsupported,
    heard,
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    async speak(request: SpeechRequest, context) {
      const voice = await begin(request, context);
      const bytes: number[] = [];
      let words: readonly SpokenWord[] | undefined;
      for await (const event of play(voice, request, [request.text], context)) {
        if (event.type === 'audio_delta') for (const byte of event.bytes) bytes.push(byte);
        if (event.type === 'words') words = event.words;
      }
      const { mediaType, ...known } = about(request.format ?? (formats[0] as SpeechFormat), request.sampleRate);
      const usage = voice.usage ?? {};
      return {
        audio: audioPart(Uint8Array.from(bytes), mediaType),
        ...known,
        ...(words === undefined ? {} : { words }),
        usage,
        model: request.model ?? model,
      };
    },
    async *streamSpeech(request, context) {
      yield* play(await begin(request, context), request, request.text.match(/\s*\S+\s*$|\s*\S+/g) ?? [], context);
    },
    async *streamSpeechFromText(settings, text, context) {
      yield* play(await begin(settings, context), settings, text, context);
    },
  };
}

function about(format: SpeechFormat, sampleRate: number | undefined) {
  const raw = format === 'pcm' || format === 'ulaw' || format === 'alaw';
  const rate = sampleRate ?? (raw ? (format === 'pcm' ? 24_000 : 8_000) : undefined);
  return { mediaType: `audio/${format === 'mp3' ? 'mpeg' : format}`, format, ...(rate === undefined ? {} : { sampleRate: rate }) };
}

function evenly(text: string): SpokenWord[] {
  return (text.match(/\S+/g) ?? []).map((word, i) => ({ text: word, startMs: i * 100, endMs: (i + 1) * 100 }));
}
