import type { ToolResultPart, UserPart, Warning } from '@antiphon/engine';
import type { WireJson, WireObject } from '../http/wire-values.js';
import { addressOf } from '../media/data-url.js';
import { fileName } from '../media/media-type.js';
import { type PartForms, partToWire } from '../openai-chat/parts.js';
import type { Profile } from '../openai-chat/profiles.js';

/** Servers whose Responses API has no sound, whatever their chat API takes. */
const SOUNDLESS: ReadonlySet<string> = new Set(['openai', 'azure']);

const FORMS: PartForms = {
  text: text => ({ type: 'input_text', text }),
  image: (url, detail = 'auto') => ({ type: 'input_image', image_url: url, detail }),
  file: part =>
    part.data === undefined
      ? { type: 'input_file', file_url: part.url }
      : { type: 'input_file', filename: fileName(part), file_data: addressOf(part) },
};

/** Content of a user message: text alone as it is, anything else as a list. */
export function userContent(content: string | readonly UserPart[], profile: Profile, warnings: Warning[]): WireJson {
  return typeof content === 'string' ? content : partsToWire(content, profile, warnings);
}

/** What a tool gave: one text where it has only words, else a list with its pictures and files. */
export function outputContent(content: string | readonly ToolResultPart[], profile: Profile, warnings: Warning[]): WireJson {
  if (typeof content === 'string') return content;
  const parts = partsToWire(content, profile, warnings);
  return parts.every(({ type }) => type === 'input_text') ? parts.map(({ text }) => text).join('\n') : parts;
}

function partsToWire(parts: readonly (UserPart | ToolResultPart)[], profile: Profile, warnings: Warning[]): WireObject[] {
  const takes = { ...profile, audio: profile.audio && !SOUNDLESS.has(profile.name), fileUrls: true };
  return parts.map(part => partToWire(part, takes, warnings, FORMS));
}
