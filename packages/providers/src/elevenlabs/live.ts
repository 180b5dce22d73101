// Live sound over the socket of realtime transcription.
import type { AdapterContext, StreamTranscriptionRequest, TranscriptionAdapterEvent } from '@antiphon/engine';
import { base64Of } from '../http/bytes.js';
import { ownOptions } from '../http/own-options.js';
import type { Service } from '../http/service.js';
import { pcmDurationMs } from '../http/sound.js';
import { reported } from '../websocket/failure.js';
import { pump } from '../websocket/pump.js';
import type { WebSocketConstructor } from '../websocket/runtime.js';
import { Socket } from '../websocket/socket.js';
import { Segments } from './segments.js';
import { errorIn, languageCode, OWN_NAME, withQuery } from './vendor.js';

export const SAMPLE_RATES = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000] as const;
/** Milliseconds of quiet after the last sound, once a segment came, until the transcript counts as complete: nothing on the wire says so. */
const QUIET_MS = 700;
/** Types of messages that are failures, whatever else stands in them. */
const FAILURE = /error|exceeded|limited|exhausted|throttled|overflow|unaccepted|insufficient|invalid/;

export async function* streamLive(
  service: Service,
  request: StreamTranscriptionRequest,
  audio: AsyncIterable<Uint8Array | 'commit'>,
  context: AdapterContext,
  webSocket: WebSocketConstructor | undefined,
): AsyncGenerator<TranscriptionAdapterEvent> {
  const { signal, clock } = context;
  signal.throwIfAborted();
  const { sampleRate, commit, language } = request;
  const timed = request.timestamps === true || request.logprobs === true;
  const outgoing = await withQuery(service.outgoing('/speech-to-text/realtime', {}, context), {
    ...ownOptions(request, service.provider, OWN_NAME),
    model_id: request.model ?? service.model,
    audio_format: `pcm_${sampleRate}`,
    commit_strategy: commit,
    language_code: languageCode(language),
    ...(timed ? { include_timestamps: true } : {}),
  });
  const segments = new Segments(timed);
  const socket = await Socket.open(outgoing, context, webSocket);
  let [stop, cancel] = [() => {}, () => {}];
  let heardBytes = 0;
  /** Commits whose segment is still to come. */
  let unanswered = 0;
  let over = false;
  const append = async (bytes: Uint8Array, ends: boolean) => {
    if (ends) unanswered++;
    await socket.send({ message_type: 'input_audio_chunk', audio_base_64: base64Of(bytes), commit: ends, sample_rate: sampleRate });
  };
  const work = {
    async send(piece: Uint8Array | 'commit') {
      if (piece === 'commit') return append(new Uint8Array(), true);
      heardBytes += piece.length;
      // A message of at most one second.
      for (let at = 0; at < piece.length; at += sampleRate * 2) await append(piece.subarray(at, at + sampleRate * 2), false);
    },
    async end() {
      over = true;
      await append(new Uint8Array(), true);
    },
  };
  const isComplete = () => over && unanswered === 0 && !segments.waits;
  try {
    for (;;) {
      const message = await socket.next();
      if (!message) {
        if (isComplete()) break;
        throw socket.tooEarly();
      }
      const type = String(message.message_type);
      const isEnd = type === 'committed_transcript';
      if (type === 'session_started') {
        yield { type: 'transcription_start' };
        // Only now: a key that is refused costs none of the sound.
        stop = pump(audio, socket, work);
      } else if (isNothingLeft(type) && over) {
        unanswered = Math.max(0, unanswered - 1);
      } else {
        // A pause that the server heard by itself answers no commit of ours.
        if (isEnd && (commit === 'manual' || over)) unanswered = Math.max(0, unanswered - 1);
        const known = segments.take(type, message);
        const error = known ? undefined : errorIn(message, FAILURE.test(type) ? type : undefined);
        if (error) throw reported(error, outgoing.about, socket.shown);
      }
      for (const event of segments.events.splice(0)) {
        socket.shown = true;
        yield event;
        signal.throwIfAborted();
      }
      cancel();
      if (!isComplete()) continue;
      // Each manual commit has its answer. A pause that the server heard by itself may have come between the last one and ours.
      if (commit === 'manual') break;
      cancel = clock.setTimer(QUIET_MS, () => socket.finish());
    }
    yield* segments.end();
    yield { type: 'transcription_end', durationMs: pcmDurationMs(heardBytes, sampleRate) };
  } finally {
    cancel();
    stop();
    socket.close();
  }
}

/** The last commit found next to nothing to write down. */
function isNothingLeft(type: string): boolean {
  return type === 'commit_throttled' || type === 'insufficient_audio_activity';
}
