// What a media type says of the bytes: whether they are text, the format of a sound, the ending of a name.
import type { FilePart } from '@antiphon/engine';
import { bytesOf } from '../http/bytes.js';

/** A media type without its parameters: `Audio/WAV; rate=8000` → `audio/wav`. */
export function bareMediaType(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase();
}

/** The words behind the bytes, where they are text; undefined for anything else. */
export function textIn(mediaType: string, data: string | undefined): string | undefined {
  const isText = /^(text\/|application\/(json|xml)$)/.test(mediaType);
  const bytes = isText && data !== undefined ? bytesOf(data) : undefined;
  return bytes && new TextDecoder().decode(bytes);
}

/** The words of a file under its name, for models that take no files: every model reads text. Undefined for a file that is none. */
export function fileText({ mediaType, data, name }: FilePart): string | undefined {
  const text = textIn(mediaType, data);
  return text === undefined || name === undefined ? text : `File ${name}:\n${text}`;
}

const SOUNDS: ReadonlyMap<string, string> = new Map([
  ['x-wav', 'wav'],
  ['wave', 'wav'],
  ['vnd.wave', 'wav'],
  ['mpeg', 'mp3'],
  ['x-flac', 'flac'],
]);

/** The format that a media type means, in OpenAI's words: `audio/mpeg` → `mp3`. */
export function soundFormat(mediaType: string): string {
  const subtype = bareMediaType(mediaType).slice('audio/'.length).trim();
  return SOUNDS.get(subtype) ?? subtype;
}

/** A name for a file that has none; the ending decides how it is read. */
export function fileName({ name, mediaType }: FilePart): string {
  return name ?? `file.${mediaType.split('/')[1] ?? 'bin'}`;
}
