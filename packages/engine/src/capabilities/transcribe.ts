// Writing down a recording, and what every transcript must be.
import { isRecord } from '../data/json.js';
import type { Rules } from '../data/rules.js';
import { AdapterError } from '../errors.js';
import { checkedRequest } from './checks.js';
import { audio, byteLength } from './nested-rules.js';
import { isOwnModel, malformed, refuseUnsupported } from './refusals.js';
import { type Call, type Runtime, runCall } from './run-call.js';
import {
  TRANSCRIPTION_RULES,
  type Transcribe,
  type Transcript,
  type TranscriptionAdapter,
  type TranscriptionRequest,
  type TranscriptionSettings,
  type TranscriptSpan,
} from './transcription.js';

const RULES: Rules = { audio, ...TRANSCRIPTION_RULES };

export function transcribeWith(adapter: TranscriptionAdapter, runtime: Runtime): Transcribe {
  return async (input, options = {}) => {
    const given = isRecord(input) && 'audio' in input ? input : { audio: input };
    const request = checkedRequest<TranscriptionRequest>('transcribe', given, options, { request: RULES, required: ['audio'] });
    let transcript: Transcript = { text: '' };
    const work = async (call: Call) => {
      const { maxAudioBytes = Number.POSITIVE_INFINITY, mediaTypes } = adapter;
      const bytes = byteLength(request.audio);
      const mediaType = (request.audio.mediaType.split(';')[0] as string).trim().toLowerCase();
      refuseTranscription(adapter, request, [
        bytes > maxAudioBytes && `the recording has ${bytes} bytes, and it takes ${maxAudioBytes}`,
        mediaTypes !== undefined && !mediaTypes.includes(mediaType) && `it cannot read ${mediaType}, only ${mediaTypes.join(', ')}`,
      ]);
      await call.send(
        context => adapter.transcribe(request, context),
        answer => {
          transcript = readTranscript(answer, request, adapter.provider);
        },
      );
      checkSpans(transcript, request, adapter.provider);
    };
    return runCall({ method: 'transcribe', adapter, request }, options, runtime, work, () => transcript);
  };
}

/** Refuses what the adapter says that it cannot do. */
export function refuseTranscription(
  adapter: TranscriptionAdapter,
  request: TranscriptionSettings,
  more: readonly (string | false)[],
): void {
  const isOwn = isOwnModel(adapter, request);
  refuseUnsupported(adapter.provider, [
    ...more,
    isOwn && request.timestamps === true && !adapter.timestamps && 'it cannot tell the times of words (timestamps)',
    isOwn && request.logprobs === true && !adapter.logprobs && 'it cannot tell how sure it is (logprobs)',
    ...(adapter.unsupported ?? []).map(setting => request[setting] !== undefined && `it has no setting for ${setting}`),
  ]);
}

function readTranscript(answer: Record<string, unknown>, request: TranscriptionSettings, provider: string): Transcript {
  const { text: words, language, durationMs, spans } = answer;
  if (typeof words !== 'string') throw malformed(provider, 'the answer has no text');
  if (durationMs !== undefined && !isNumber(durationMs)) throw malformed(provider, 'the duration is no number of milliseconds');
  const wanted = wantsSpans(request) && spans !== undefined;
  return {
    text: words,
    ...(typeof language === 'string' ? { language } : {}),
    ...(durationMs === undefined ? {} : { durationMs: durationMs as number }),
    ...(wanted ? { spans: readSpans(spans, request, provider) } : {}),
  };
}

export function wantsSpans({ timestamps, logprobs }: TranscriptionSettings): boolean {
  return timestamps === true || logprobs === true;
}

/** The spans with what was asked for, and nothing else: what comes unasked today may stay away tomorrow. */
export function readSpans(spans: unknown, { timestamps, logprobs }: TranscriptionSettings, provider: string): TranscriptSpan[] {
  if (!Array.isArray(spans)) throw malformed(provider, 'the spans are no list');
  return (spans as unknown[]).map((span, i) => {
    const { text: words, kind, startMs, endMs, logprob, speaker } = isRecord(span) ? span : {};
    if (typeof words !== 'string' || typeof kind !== 'string') throw malformed(provider, `span ${i} has no text or no kind`);
    if ([startMs, endMs, logprob].some(value => value !== undefined && !isNumber(value)))
      throw malformed(provider, `a number of span ${i} is none`);
    return {
      text: words,
      kind: kind as TranscriptSpan['kind'],
      ...(timestamps === true && startMs !== undefined ? { startMs: startMs as number } : {}),
      ...(timestamps === true && endMs !== undefined ? { endMs: endMs as number } : {}),
      ...(logprobs === true && logprob !== undefined ? { logprob: logprob as number } : {}),
      ...(typeof speaker === 'string' ? { speaker } : {}),
    };
  });
}

/** Asked for and not there is an error, with the text kept: it was paid for. Silence has no words to tell of. */
export function checkSpans(transcript: Transcript, request: TranscriptionSettings, provider: string): void {
  if (!wantsSpans(request) || transcript.text.trim() === '') return;
  const told = (transcript.spans ?? []).filter(({ kind }) => kind === 'word' || kind === 'token');
  const lacks = (key: 'startMs' | 'logprob') => told.length === 0 || told.some(span => span[key] === undefined);
  const missing = [
    ...(request.timestamps === true && lacks('startMs') ? ['times'] : []),
    ...(request.logprobs === true && lacks('logprob') ? ['log-probabilities'] : []),
  ];
  if (missing.length === 0) return;
  const message = `${provider}: ${missing.join(' and ')} were asked for, and not every word has them. The text is in the outcome.`;
  throw new AdapterError('unsupported', message, { provider });
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}
