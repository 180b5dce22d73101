// Live sound over the realtime socket, in a session that only transcribes.
import type { AdapterContext, JsonObject, StreamTranscriptionRequest, TranscriptionAdapterEvent } from '@antiphon/engine';
import { base64Of } from '../http/bytes.js';
import { refuse } from '../http/call.js';
import { ownOptions } from '../http/own-options.js';
import type { Service } from '../http/service.js';
import { pcmDurationMs } from '../http/sound.js';
import { pump } from '../websocket/pump.js';
import type { WebSocketConstructor } from '../websocket/runtime.js';
import { Socket } from '../websocket/socket.js';
import { refuseSettings } from './form.js';
import { familyOf, languageOf } from './models.js';
import { Upsampler } from './resample.js';
import { LiveSession } from './session.js';

/** Hz that the socket takes; slower sound is raised to it. */
const WIRE_RATE = 24_000;
export const SAMPLE_RATES = [8_000, 16_000, WIRE_RATE] as const;
/** Bytes of one message: well below the server's limit, and short enough to be stopped in between. */
const MAX_PIECE_BYTES = 96_000;

export async function* streamLive(
  service: Service,
  request: StreamTranscriptionRequest,
  audio: AsyncIterable<Uint8Array | 'commit'>,
  context: AdapterContext,
  webSocket: WebSocketConstructor | undefined,
): AsyncGenerator<TranscriptionAdapterEvent> {
  const { signal } = context;
  signal.throwIfAborted();
  refuseSettings(service, request, true);
  const model = request.model ?? service.model;
  refuse(service.provider, [request.commit === 'vad' && !familyOf(model).pauses && `${model} hears no pauses: say commit: 'manual'`]);
  const outgoing = await service.outgoing('/realtime', {}, context);
  outgoing.url.searchParams.set('intent', 'transcription');
  const socket = await Socket.open(outgoing, context, webSocket);
  const session = new LiveSession(request, outgoing.about);
  let heardBytes = 0;
  let stop = () => {};
  const up = new Upsampler(request.sampleRate, WIRE_RATE);
  const commit = () => socket.send({ type: 'input_audio_buffer.commit' });
  const send = async (piece: Uint8Array | 'commit') => {
    if (piece === 'commit') return commit();
    heardBytes += piece.length;
    const samples = up.feed(piece);
    for (let at = 0; at < samples.length; at += MAX_PIECE_BYTES) {
      await socket.send({ type: 'input_audio_buffer.append', audio: base64Of(samples.subarray(at, at + MAX_PIECE_BYTES)) });
    }
  };
  const end = async () => {
    session.ending = true;
    await commit();
    // The server works in order: once it says that the buffer is cleared, every segment is known.
    await socket.send({ type: 'input_audio_buffer.clear' });
  };
  try {
    while (!session.complete) {
      const message = await socket.next();
      if (!message) throw socket.tooEarly();
      const { type } = message;
      if (type === 'session.created') await socket.send({ type: 'session.update', session: sessionOf(service, request) });
      if (type === 'session.updated' && !session.ready) {
        session.ready = true;
        yield { type: 'transcription_start' };
        // Only now: a session that is refused costs none of the sound.
        stop = pump(audio, socket, { send, end });
      }
      session.take(message, socket.shown);
      for (const event of session.events.splice(0)) {
        socket.shown = true;
        yield event;
        signal.throwIfAborted();
      }
    }
    yield { type: 'transcription_end', usage: session.usage, durationMs: pcmDurationMs(heardBytes, request.sampleRate) };
  } finally {
    stop();
    socket.close();
  }
}

function sessionOf(service: Service, request: StreamTranscriptionRequest): JsonObject {
  const { language, prompt, commit, logprobs } = request;
  const model = request.model ?? service.model;
  const { turn_detection, noise_reduction, ...own } = ownOptions(request, service.provider, 'openai');
  return {
    type: 'transcription',
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: WIRE_RATE },
        ...(noise_reduction === undefined ? {} : { noise_reduction }),
        transcription: {
          ...own,
          model,
          ...(language === undefined ? {} : languageField(model, languageOf(language))),
          ...(prompt === undefined ? {} : { prompt }),
        },
        turn_detection: commit === 'manual' ? null : (turn_detection ?? { type: 'server_vad' }),
      },
    },
    ...(logprobs === true ? { include: ['item.input_audio_transcription.logprobs'] } : {}),
  };
}

function languageField(model: string, language: string): JsonObject {
  return familyOf(model).language === 'languages' ? { languages: [language] } : { language };
}
