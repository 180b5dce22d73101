// The form of an upload: which fields say what was asked for.
import type { AudioPart, TranscriptionSettings } from '@antiphon/engine';
import { bytesOf } from '../http/bytes.js';
import { refuse } from '../http/call.js';
import { appendFields, bracketed } from '../http/form-fields.js';
import { ownOptions } from '../http/own-options.js';
import type { Service } from '../http/service.js';
import { bareMediaType } from '../media/media-type.js';
import { familyOf, languageOf } from './models.js';

export const PATH = '/audio/transcriptions';

/** The server chooses its decoder by the file's name, so each type needs an ending that it knows. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
  ['audio/mp4', 'mp4'],
  ['audio/m4a', 'm4a'],
  ['audio/x-m4a', 'm4a'],
  ['audio/ogg', 'ogg'],
  ['audio/opus', 'ogg'],
  ['audio/flac', 'flac'],
  ['audio/x-flac', 'flac'],
  ['audio/webm', 'webm'],
  ['video/mp4', 'mp4'],
  ['video/webm', 'webm'],
]);

/** Formats of an answer that are no JSON. */
const PLAIN: readonly string[] = ['text', 'srt', 'vtt'];

export const MEDIA_TYPES: readonly string[] = [...ENDINGS.keys()];

/** Refuses what the model of this very request cannot do. `live`: times are not told there by any model. */
export function refuseSettings({ provider, model }: Service, request: TranscriptionSettings, live = false): void {
  const asked = request.model ?? model;
  const { times, logprobs, prompt } = familyOf(asked);
  refuse(provider, [
    request.timestamps === true && (live || !times) && `${live ? 'live, ' : ''}${asked} cannot tell the times of words (timestamps)`,
    request.logprobs === true && !logprobs && `${asked} cannot tell how sure it is (logprobs)`,
    request.prompt !== undefined && !prompt && `${asked} takes no prompt`,
  ]);
}

export function formOf(service: Service, request: TranscriptionSettings, audio: AudioPart, stream = false): FormData {
  const { timestamps, logprobs, language, prompt } = request;
  const mediaType = bareMediaType(audio.mediaType);
  const ending = ENDINGS.get(mediaType);
  const own = ownOptions(request, service.provider, 'openai');
  refuse(service.provider, [
    ending === undefined && `it cannot read ${mediaType}, only ${MEDIA_TYPES.join(', ')}`,
    PLAIN.includes(String(own.response_format)) && timestamps !== true && `the answer is read as JSON, not as ${own.response_format}`,
  ]);
  const form = new FormData();
  form.set('file', new Blob([bytesOf(audio.data)!], { type: mediaType }), `audio.${ending}`);
  // The caller's own fields stand below those that were asked for by name.
  appendFields(form, own, bracketed);
  const model = request.model ?? service.model;
  form.set('model', model);
  if (language !== undefined) form.set(familyOf(model).language === 'languages' ? 'languages[]' : 'language', languageOf(language));
  if (prompt !== undefined) form.set('prompt', prompt);
  if (timestamps === true) {
    form.set('response_format', 'verbose_json');
    form.append('timestamp_granularities[]', 'word');
  } else if (!form.has('response_format')) form.set('response_format', 'json');
  if (logprobs === true) form.append('include[]', 'logprobs');
  if (stream) form.set('stream', 'true');
  return form;
}
