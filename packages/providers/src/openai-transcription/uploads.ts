// Live sound for servers without a socket: each segment is uploaded when it is complete, and its text is streamed.
import {
  type AdapterContext,
  AdapterError,
  audioPart,
  type CapabilityUsage,
  type StreamTranscriptionRequest,
  type TranscriptionAdapterEvent,
} from '@antiphon/engine';
import { type ErrorContext, errorInAnswer } from '../http/errors.js';
import { jsonObjects } from '../http/json-objects.js';
import { findServerError } from '../http/server-error.js';
import type { Service } from '../http/service.js';
import { pcmDurationMs } from '../http/sound.js';
import { type StreamedAnswer, streamAnswer } from '../http/streamed.js';
import { addUsage, readUsage } from '../openai-speech/usage.js';
import { formOf, PATH, refuseSettings } from './form.js';
import { languageIn } from './models.js';
import { tokensOf } from './spans.js';
import { wavOf } from './wav.js';

export async function* streamUploads(
  service: Service,
  request: StreamTranscriptionRequest,
  audio: AsyncIterable<Uint8Array | 'commit'>,
  context: AdapterContext,
): AsyncGenerator<TranscriptionAdapterEvent> {
  const { signal } = context;
  signal.throwIfAborted();
  refuseSettings(service, request, true);
  const total = { bytes: 0, usage: {} as CapabilityUsage, begun: false };
  let pieces: Uint8Array[] = [];
  async function* upload(): AsyncGenerator<TranscriptionAdapterEvent> {
    if (pieces.length === 0) return;
    const sound = audioPart(wavOf(pieces, request.sampleRate), 'audio/wav');
    pieces = [];
    const outgoing = await service.outgoing(PATH, formOf(service, request, sound, true), context);
    yield* streamAnswer(outgoing, context, answer => readSegment(answer, request, outgoing.about, total));
  }
  for await (const piece of audio) {
    signal.throwIfAborted();
    if (piece === 'commit') yield* upload();
    else {
      pieces.push(piece);
      total.bytes += piece.length;
    }
  }
  yield* upload();
  if (!total.begun) yield { type: 'transcription_start' };
  yield { type: 'transcription_end', usage: total.usage, durationMs: pcmDurationMs(total.bytes, request.sampleRate) };
}

/** `transcript.text.delta` events, and `transcript.text.done` with the whole; or a JSON answer of a server that does not stream. */
async function* readSegment(
  answer: StreamedAnswer,
  request: StreamTranscriptionRequest,
  about: ErrorContext,
  total: { usage: CapabilityUsage; begun: boolean },
): AsyncGenerator<TranscriptionAdapterEvent> {
  let partial = '';
  for await (const value of jsonObjects(answer, () => total.begun, about)) {
    const error = findServerError(value);
    if (error) throw errorInAnswer(error, answer.headers, about, total.begun);
    const isDone = value.type === 'transcript.text.done' || (value.type === undefined && typeof value.text === 'string');
    if (!isDone && value.type !== 'transcript.text.delta') continue;
    if (!total.begun) yield { type: 'transcription_start' };
    total.begun = true;
    if (isDone) {
      const spans = request.logprobs === true ? tokensOf(value.logprobs) : undefined;
      total.usage = addUsage(total.usage, readUsage(value.usage));
      yield {
        type: 'committed_transcript',
        text: String(value.text ?? partial),
        ...languageIn(value),
        ...(spans === undefined ? {} : { spans }),
      };
      return;
    }
    partial += typeof value.delta === 'string' ? value.delta : '';
    yield { type: 'partial_transcript', text: partial };
  }
  const { provider } = about;
  throw new AdapterError('truncated', `${provider}: the transcript stopped before its end.`, { provider, retryable: !total.begun });
}
