// The form of an upload: which fields say what was asked for.
import type { AudioPart, TranscriptionSettings } from '@antiphon/engine';
import { bytesOf } from '../http/bytes.js';
import { refuse } from '../http/call.js';
import { ownOptions, type Service } from '../http/service.js';

export const PATH = '/audio/transcriptions';

/** The server chooses its decoder by the file's name, so each type needs an ending that it knows. */
const ENDINGS: { readonly [mediaType: string]: string } = {
  'audio/wav': 'wav',
  'audio/wave': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/mp4': 'mp4',
  'audio/m4a': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/ogg': 'ogg',
  'audio/opus': 'ogg',
  'audio/flac': 'flac',
  'audio/x-flac': 'flac',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

export const MEDIA_TYPES: readonly string[] = Object.keys(ENDINGS);

/** Only Whisper aligns its words. A server of one's own mostly runs a Whisper, whatever its name is. */
export function tellsTimes(model: string): boolean {
  return !model.startsWith('gpt-');
}

export function tellsLogprobs(model: string): boolean {
  return model.startsWith('gpt-') && model.includes('transcribe') && !model.includes('diarize');
}

/** Refuses what the model of this very request cannot tell. `live`: times are not told there by any model. */
export function refuseSpans({ provider, model }: Service, request: TranscriptionSettings, live = false): void {
  const asked = request.model ?? model;
  refuse(provider, [
    request.timestamps === true &&
      (live || !tellsTimes(asked)) &&
      `${live ? 'live, ' : ''}${asked} cannot tell the times of words (timestamps)`,
    request.logprobs === true && !tellsLogprobs(asked) && `${asked} cannot tell how sure it is (logprobs)`,
  ]);
}

/** ISO 639-1: it knows languages, not regions. */
export function languageOf(tag: string): string {
  return tag.split('-')[0]!.toLowerCase();
}

export function formOf(service: Service, request: TranscriptionSettings, audio: AudioPart, stream = false): FormData {
  const { timestamps, logprobs, language, prompt } = request;
  const mediaType = audio.mediaType.split(';')[0]!.trim();
  const ending = ENDINGS[mediaType];
  refuse(service.provider, [ending === undefined && `it cannot read ${mediaType}, only ${MEDIA_TYPES.join(', ')}`]);
  const form = new FormData();
  form.set('file', new Blob([bytesOf(audio.data)!], { type: mediaType }), `audio.${ending}`);
  // The caller's own fields stand below those that were asked for by name.
  for (const [field, value] of Object.entries(ownOptions(request, service.provider, 'openai'))) {
    if (Array.isArray(value)) for (const item of value) form.append(field, String(item));
    else form.set(field, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  form.set('model', request.model ?? service.model);
  if (language !== undefined) form.set('language', languageOf(language));
  if (prompt !== undefined) form.set('prompt', prompt);
  if (timestamps === true) {
    form.set('response_format', 'verbose_json');
    form.append('timestamp_granularities[]', 'word');
  } else if (!form.has('response_format')) form.set('response_format', 'json');
  // With brackets: without them the field is ignored in silence.
  if (logprobs === true) form.append('include[]', 'logprobs');
  if (stream) form.set('stream', 'true');
  return form;
}
