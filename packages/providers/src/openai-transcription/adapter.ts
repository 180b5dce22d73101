import {
  type AdapterContext,
  isRecord,
  type TranscriptionAdapter,
  type TranscriptionRequest,
  type TranscriptionResponse,
} from '@antiphon/engine';
import { fetchJson, malformedAnswer } from '../http/call.js';
import { type Service, type ServiceOptions, serviceFor } from '../http/service.js';
import { readUsage } from '../openai-speech/usage.js';
import type { WebSocketConstructor } from '../websocket/runtime.js';
import { formOf, MEDIA_TYPES, PATH, refuseSettings } from './form.js';
import { SAMPLE_RATES, streamLive } from './live.js';
import { familyOf, languageIn } from './models.js';
import { spansOf } from './spans.js';
import { streamUploads } from './uploads.js';

/** Options of `openaiTranscription`. */
export interface OpenaiTranscriptionOptions extends ServiceOptions {
  /**
   * How sound is written down while it comes. `realtime` (the default): over a WebSocket, while it is spoken. `upload`: each segment is
   * uploaded when it is complete (at a `'commit'`, and at the end), and its text comes piece by piece; for servers without a socket.
   */
  readonly streaming?: 'realtime' | 'upload';
  /** Instead of `ws` or the platform's own, for tests and other runtimes. It must take headers. */
  readonly webSocket?: WebSocketConstructor;
}

/** OpenAI's limit of 25 MB, less what the form around the recording takes. */
const MAX_AUDIO_BYTES = 26_148_864;

/**
 * Transcription of OpenAI and of servers that speak like it: recordings (`POST /audio/transcriptions`) and live sound (the realtime socket,
 * or uploads). Whisper models tell the times of words, `gpt-4o-…` models log-probabilities of tokens; live sound never has times.
 * `gpt-live-transcribe` and `gpt-realtime-whisper` hear no pauses: stream with `commit: 'manual'`.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for options that cannot be right. What the model cannot tell is refused before a
 * key is asked for.
 *
 * ```ts
 * const engine = createEngine({ transcription: openaiTranscription({ model: 'gpt-transcribe' }) });
 * const { text } = completed(await engine.transcribe(audioPart(bytes, 'audio/wav')));
 * ```
 */
export function openaiTranscription(options: OpenaiTranscriptionOptions): TranscriptionAdapter {
  const service = serviceFor('openaiTranscription', options, 'https://api.openai.com/v1', [PATH, '/realtime']);
  const { provider, model } = service;
  const { streaming = 'realtime', webSocket } = options;
  const { times, logprobs } = familyOf(model);
  return {
    provider,
    model,
    ...(provider === 'openai' ? { maxAudioBytes: MAX_AUDIO_BYTES } : {}),
    mediaTypes: MEDIA_TYPES,
    ...(streaming === 'realtime' ? { sampleRates: SAMPLE_RATES } : {}),
    // Another model may be asked for in a request: what that one tells is looked at again there.
    timestamps: times,
    logprobs,
    transcribe: (request, context) => transcribe(service, request, context),
    streamTranscription: (request, audio, context) =>
      streaming === 'realtime' ? streamLive(service, request, audio, context, webSocket) : streamUploads(service, request, audio, context),
  };
}

async function transcribe(service: Service, request: TranscriptionRequest, context: AdapterContext): Promise<TranscriptionResponse> {
  context.signal.throwIfAborted();
  refuseSettings(service, request);
  const outgoing = await service.outgoing(PATH, formOf(service, request, request.audio), context);
  const { value, headers } = await fetchJson(outgoing, context);
  if (!isRecord(value) || typeof value.text !== 'string') throw malformedAnswer(outgoing.about, 'answered without a text');
  const spans = spansOf(value, request, value.text.trim() === '');
  const responseId = headers.get('x-request-id');
  return {
    text: value.text,
    ...languageIn(value),
    ...(typeof value.duration === 'number' ? { durationMs: Math.round(value.duration * 1000) } : {}),
    ...(spans === undefined ? {} : { spans }),
    usage: readUsage(value.usage),
    ...(typeof value.model === 'string' ? { model: value.model } : {}),
    ...(responseId === null ? {} : { responseId: outgoing.about.redact(responseId) }),
  };
}
