// Speech from a text that is still being written: `stream-input`, a WebSocket.
import { type AdapterContext, isRecord, type JsonObject, type SpeechAdapterEvent, type SpeechSettings } from '@antiphon/engine';
import { ownOptions } from '../http/own-options.js';
import type { Service } from '../http/service.js';
import { SoundWriter, soundOf } from '../http/sound.js';
import { reported } from '../websocket/failure.js';
import { pump } from '../websocket/pump.js';
import type { WebSocketConstructor } from '../websocket/runtime.js';
import { Socket } from '../websocket/socket.js';
import { DEFAULT_VOICE, outputOf, voiceSettings } from './output.js';
import { errorIn, languageCode, OWN_NAME, withQuery } from './vendor.js';
import { WordTimes } from './words.js';

/** Seconds for which the server waits for text; the most that it allows. */
const INACTIVITY_SECONDS = 180;
/** Milliseconds without text after which a space is sent, so that a model that thinks for long does not lose its voice. */
const KEEP_ALIVE_MS = 60_000;
/** What belongs into the first message; whatever else the caller has of his own stands in the address. */
const IN_FIRST_MESSAGE = new Set(['voice_settings', 'generation_config', 'pronunciation_dictionary_locators']);

export async function* streamFromText(
  service: Service,
  settings: SpeechSettings,
  text: AsyncIterable<string>,
  context: AdapterContext,
  webSocket: WebSocketConstructor | undefined,
): AsyncGenerator<SpeechAdapterEvent> {
  context.signal.throwIfAborted();
  const output = outputOf(service.provider, settings);
  const own = ownOptions(settings, service.provider, OWN_NAME);
  const voice = encodeURIComponent(settings.voice ?? DEFAULT_VOICE);
  const outgoing = await withQuery(service.outgoing(`/text-to-speech/${voice}/stream-input`, {}, context), {
    inactivity_timeout: INACTIVITY_SECONDS,
    ...inAddress(own),
    model_id: settings.model ?? service.model,
    output_format: output.name,
    language_code: languageCode(settings.language),
    ...(settings.timestamps === true ? { sync_alignment: true } : {}),
  });
  const { about } = outgoing;
  const first = Object.fromEntries(Object.entries(own).filter(([name]) => IN_FIRST_MESSAGE.has(name)));
  const writer = new SoundWriter(soundOf(output.format, output.sampleRate), about);
  const times = new WordTimes(true);
  // Connected before the text is touched: a refused key costs none of it.
  const socket = await Socket.open(outgoing, context, webSocket);
  let stop = () => {};
  try {
    await socket.send({ text: ' ', ...first, ...voiceSettings(own, settings.speed) });
    stop = sendText(text, socket, context);
    for (;;) {
      const message = await socket.next();
      if (!message) throw socket.tooEarly();
      const error = errorIn(message);
      if (error) throw reported(error, about, writer.shown);
      if (typeof message.audio === 'string') {
        yield* writer.base64(message.audio);
        socket.shown = writer.shown;
        context.signal.throwIfAborted();
      }
      const alignment = message.alignment ?? message.normalizedAlignment ?? message.normalized_alignment;
      const words = settings.timestamps === true && isRecord(alignment) ? times.add(alignment) : [];
      if (words.length > 0) yield { type: 'words', words };
      if (message.isFinal === true || message.is_final === true) break;
    }
    writer.end();
    const last = settings.timestamps === true ? times.end() : [];
    if (last.length > 0) yield { type: 'words', words: last };
    yield { type: 'speech_end' };
  } finally {
    stop();
    socket.close();
  }
}

/**
 * Sends the text as it comes, in whole words: the server may begin to speak after any message, and half a word would sound like one. The
 * rest is flushed at the end.
 */
function sendText(text: AsyncIterable<string>, socket: Socket, { clock }: AdapterContext): () => void {
  let held = '';
  let cancel = () => {};
  const keepAlive = () => {
    cancel();
    cancel = clock.setTimer(KEEP_ALIVE_MS, () => {
      void socket.send({ text: ' ' });
      keepAlive();
    });
  };
  keepAlive();
  const stop = pump(text, socket, {
    async send(piece) {
      const [words, rest] = wholeWords(held, piece);
      held = rest;
      if (words === '') return;
      keepAlive();
      await socket.send({ text: words });
    },
    async end() {
      cancel();
      await socket.send({ text: `${held} `, flush: true });
      await socket.send({ text: '' });
    },
  });
  return () => {
    cancel();
    stop();
  };
}

/** What can be sent, and what has to wait for the rest of its word. What is held has no end of a word in it, so only `piece` is searched. */
function wholeWords(held: string, piece: string): [words: string, rest: string] {
  for (let i = piece.length - 1; i >= 0; i--) {
    // Scripts without spaces end their clauses with marks of their own.
    if (/[\s。、，！？；：…]/.test(piece[i]!)) return [held + piece.slice(0, i + 1), piece.slice(i + 1)];
  }
  return ['', held + piece];
}

function inAddress(own: JsonObject): { [name: string]: string | number | boolean } {
  const entries = Object.entries(own).filter(
    ([name, value]) => !IN_FIRST_MESSAGE.has(name) && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(entries) as { [name: string]: string | number | boolean };
}
