import type { AudioPart, FilePart, ImagePart, ToolResultPart, UserPart, Warning } from '@antiphon/engine';
import { warnOnce } from '../hand-over/left-behind.js';
import { withPartOptions } from '../http/own-options.js';
import type { Profile } from '../openai-chat/profiles.js';
import type { WireJson, WireObject } from '../openai-chat/wire.js';

/** Servers whose Responses API has no sound, whatever their chat API takes. */
const SOUNDLESS: ReadonlySet<string> = new Set(['openai', 'azure']);
/** Files that the model reads as text, whether or not the server takes files. */
const TEXT = /^(text\/|application\/(json|xml)$)/;

type Part = UserPart | ToolResultPart;

/** Content of a user message: text alone as it is, anything else as a list. A kind that the server does not take becomes a note and a warning. */
export function userContent(content: string | readonly UserPart[], profile: Profile, warnings: Warning[]): WireJson {
  if (typeof content === 'string') return content;
  return content.map(part => inputPart(part, profile, warnings));
}

/** What a tool gave: one text where it has only text and values, else a list with its pictures and files. */
export function outputContent(content: string | readonly ToolResultPart[], profile: Profile, warnings: Warning[]): WireJson {
  if (typeof content === 'string') return content;
  const texts = content.map(plainText);
  if (texts.every(text => text !== undefined)) return texts.join('\n');
  return content.map(part => inputPart(part, profile, warnings));
}

function plainText(part: ToolResultPart): string | undefined {
  if (part.type === 'text') return part.text;
  return part.type === 'json' ? JSON.stringify(part.value) : undefined;
}

function inputPart(part: Part, profile: Profile, warnings: Warning[]): WireObject {
  const wire = plainPart(part, profile, warnings);
  if (part.type === 'json' || (wire.type === 'input_text' && part.type !== 'text')) return wire;
  return withPartOptions(wire, part, profile.name, 'openai');
}

function plainPart(part: Part, profile: Profile, warnings: Warning[]): WireObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'json':
      return { type: 'input_text', text: JSON.stringify(part.value) };
    case 'image':
      return profile.images ? image(part, part.detail) : instead(part, profile, warnings);
    case 'audio':
      return takesSound(profile) ? sound(part.mediaType, part.data) : instead(part, profile, warnings);
    case 'file':
      return file(part, profile, warnings);
  }
}

function file(part: FilePart, profile: Profile, warnings: Warning[]): WireObject {
  const { mediaType, data, url, name } = part;
  if (mediaType.startsWith('image/') && profile.images) return image(part, undefined);
  if (mediaType.startsWith('audio/') && data !== undefined && takesSound(profile)) return sound(mediaType, data);
  if (TEXT.test(mediaType) && data !== undefined) {
    const text = new TextDecoder().decode(Uint8Array.from(atob(data), char => char.charCodeAt(0)));
    return { type: 'input_text', text: name === undefined ? text : `File ${name}:\n${text}` };
  }
  if (!profile.files) return instead(part, profile, warnings);
  if (data === undefined) return { type: 'input_file', file_url: url };
  // The name decides how the file is read.
  const filename = name ?? `file.${mediaType.split('/')[1] ?? 'bin'}`;
  return { type: 'input_file', filename, file_data: `data:${mediaType};base64,${data}` };
}

function image({ mediaType, data, url }: ImagePart | FilePart, detail: ImagePart['detail']): WireObject {
  return { type: 'input_image', image_url: data === undefined ? url : `data:${mediaType};base64,${data}`, detail: detail ?? 'auto' };
}

function sound(mediaType: string, data: string): WireObject {
  const kind = mediaType.split(';')[0]!.slice('audio/'.length).trim().toLowerCase();
  return { type: 'input_audio', input_audio: { data, format: kind === 'mpeg' ? 'mp3' : /wav/.test(kind) ? 'wav' : kind } };
}

function takesSound(profile: Profile): boolean {
  return profile.audio && !SOUNDLESS.has(profile.name);
}

function instead(part: ImagePart | AudioPart | FilePart, profile: Profile, warnings: Warning[]): WireObject {
  const what = `${part.type} (${part.mediaType})`;
  warnOnce(warnings, 'other', `${profile.name} takes no ${part.type} input here; the ${what} was replaced by a note.`);
  return { type: 'input_text', text: `[${what} that cannot be shown]` };
}
