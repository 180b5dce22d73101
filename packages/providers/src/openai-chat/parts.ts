import type { FilePart, UserPart, Warning } from '@antiphon/engine';
import { warnOnce } from '../hand-over/left-behind.js';
import { withPartOptions } from '../http/own-options.js';
import type { Profile } from './profiles.js';
import type { WireObject } from './wire.js';

/** One part of a user message. A kind that the server does not take becomes a note for the model, and a warning for the caller. */
export function partToWire(part: UserPart, profile: Profile, warnings: Warning[]): WireObject {
  const wire = plainPart(part, profile, warnings);
  return wire.type === 'text' && part.type !== 'text' ? wire : withPartOptions(wire, part, profile.name, 'openai');
}

function plainPart(part: UserPart, profile: Profile, warnings: Warning[]): WireObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return profile.images ? imageToWire(dataUrl(part.mediaType, part), part.detail) : note('image', part.mediaType, profile, warnings);
    case 'audio':
      return profile.audio
        ? { type: 'input_audio', input_audio: { data: part.data, format: audioFormat(part.mediaType) } }
        : note('audio', part.mediaType, profile, warnings);
    case 'file':
      return fileToWire(part, profile, warnings);
  }
}

/** The words of a file that is text; undefined for any other. Text needs no support for files: every model reads it. */
export function fileText({ mediaType, data, name }: FilePart): string | undefined {
  if (!isText(mediaType) || data === undefined) return undefined;
  return `${name === undefined ? '' : `File ${name}:\n`}${decodeText(data)}`;
}

function fileToWire(part: FilePart, profile: Profile, warnings: Warning[]): WireObject {
  const { mediaType, data, name } = part;
  if (mediaType.startsWith('image/') && profile.images) return imageToWire(dataUrl(mediaType, part), undefined);
  if (mediaType.startsWith('audio/') && profile.audio && data !== undefined) {
    return { type: 'input_audio', input_audio: { data, format: audioFormat(mediaType) } };
  }
  const text = fileText(part);
  if (text !== undefined) return { type: 'text', text };
  if (!profile.files || (data === undefined && !profile.fileUrls)) return note('file', mediaType, profile, warnings);
  return { type: 'file', file: { filename: name ?? `file.${mediaType.split('/')[1] ?? 'bin'}`, file_data: dataUrl(mediaType, part) } };
}

function imageToWire(url: string, detail: string | undefined): WireObject {
  return { type: 'image_url', image_url: { url, detail } };
}

function note(kind: string, mediaType: string, profile: Profile, warnings: Warning[]): WireObject {
  warnOnce(warnings, 'other', `${profile.name} takes no ${kind} input; the ${kind} (${mediaType}) was replaced by a note.`);
  return { type: 'text', text: `[${kind} (${mediaType}) that cannot be shown]` };
}

function dataUrl(mediaType: string, source: { readonly data?: string; readonly url?: string }): string {
  return source.data === undefined ? (source.url ?? '') : `data:${mediaType};base64,${source.data}`;
}

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['x-wav', 'wav'],
  ['wave', 'wav'],
  ['vnd.wave', 'wav'],
  ['mpeg', 'mp3'],
  ['x-flac', 'flac'],
]);

function audioFormat(mediaType: string): string {
  const subtype = (mediaType.split(';')[0] ?? '').slice('audio/'.length).trim().toLowerCase();
  return AUDIO_FORMATS.get(subtype) ?? subtype;
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json' || mediaType === 'application/xml';
}

function decodeText(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), char => char.charCodeAt(0)));
}
