import {
  type AdapterContext,
  isRecord,
  type TranscriptionAdapter,
  type TranscriptionRequest,
  type TranscriptionResponse,
} from '@antiphon/engine';
import { bytesOf } from '../http/bytes.js';
import { fetchJson, malformedAnswer } from '../http/call.js';
import { appendFields } from '../http/form-fields.js';
import { ownOptions } from '../http/own-options.js';
import type { Service } from '../http/service.js';
import { SAMPLE_RATES, streamLive } from './live.js';
import { spansOf } from './spans.js';
import { type ElevenlabsOptions, elevenlabsService, languageCode, OWN_NAME } from './vendor.js';

const PATH = '/speech-to-text';

/**
 * Transcription of ElevenLabs: recordings (`scribe_v2`) and live sound over a WebSocket (`scribe_v2_realtime`), with times and
 * log-probabilities of words when they are asked for. `providerOptions: { elevenlabs: { diarize: true } }` tells speakers apart; their names
 * stand as `speaker` in the adapter's own spans.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for options that cannot be right.
 *
 * ```ts
 * const engine = createEngine({ transcription: elevenlabsTranscription({ model: 'scribe_v2_realtime' }) });
 * for await (const event of engine.streamTranscription(microphone)) if (event.type === 'committed_transcript') console.log(event.text);
 * ```
 */
export function elevenlabsTranscription(options: ElevenlabsOptions): TranscriptionAdapter {
  const service = elevenlabsService('elevenlabsTranscription', options);
  const { provider, model } = service;
  return {
    provider,
    model,
    maxAudioBytes: 3_000_000_000,
    sampleRates: SAMPLE_RATES,
    timestamps: true,
    logprobs: true,
    unsupported: ['prompt'],
    transcribe: (request, context) => transcribe(service, request, context),
    streamTranscription: (request, audio, context) => streamLive(service, request, audio, context, options.webSocket),
  };
}

async function transcribe(service: Service, request: TranscriptionRequest, context: AdapterContext): Promise<TranscriptionResponse> {
  context.signal.throwIfAborted();
  const outgoing = await service.outgoing(PATH, formOf(service, request), context);
  const { value, headers } = await fetchJson(outgoing, context);
  if (!isRecord(value) || typeof value.text !== 'string') throw malformedAnswer(outgoing.about, 'answered without a text');
  const spans = request.timestamps === true || request.logprobs === true ? spansOf(value.words) : undefined;
  const seconds = value.audio_duration_secs;
  const responseId = typeof value.transcription_id === 'string' ? value.transcription_id : headers.get('request-id');
  return {
    text: value.text,
    ...(typeof value.language_code === 'string' ? { language: value.language_code } : {}),
    ...(typeof seconds === 'number' ? { durationMs: Math.round(seconds * 1000) } : {}),
    ...(spans === undefined ? {} : { spans }),
    usage: typeof seconds === 'number' ? { audioSeconds: seconds } : {},
    ...(responseId === null ? {} : { responseId: outgoing.about.redact(responseId) }),
  };
}

function formOf(service: Service, { audio, language, timestamps, ...request }: TranscriptionRequest): FormData {
  const form = new FormData();
  appendFields(form, ownOptions(request, service.provider, OWN_NAME), name => name);
  form.set('model_id', request.model ?? service.model);
  form.set('file', new Blob([bytesOf(audio.data)!], { type: audio.mediaType }), 'audio');
  if (language !== undefined) form.set('language_code', languageCode(language)!);
  if (timestamps === true || request.logprobs === true) form.set('timestamps_granularity', 'word');
  return form;
}
