import type { FilePart, ImagePart, ToolResultPart, UserPart, Warning } from '@antiphon/engine';
import { withPartOptions } from '../http/own-options.js';
import { warnOnce } from '../http/warnings.js';
import type { WireObject } from '../http/wire-values.js';
import { addressOf } from '../media/data-url.js';
import { fileName, fileText, soundFormat } from '../media/media-type.js';
import type { Profile } from './profiles.js';

/** How a protocol writes what a part holds. */
export interface PartForms {
  text(text: string): WireObject;
  image(url: string, detail: ImagePart['detail']): WireObject;
  file(part: FilePart): WireObject;
}

/** The kinds that a server takes. */
type Takes = Pick<Profile, 'name' | 'images' | 'audio' | 'files' | 'fileUrls'>;

const FORMS: PartForms = {
  text: text => ({ type: 'text', text }),
  image: (url, detail) => ({ type: 'image_url', image_url: { url, detail } }),
  file: part => ({ type: 'file', file: { filename: fileName(part), file_data: addressOf(part) } }),
};

/**
 * One part of a user's message or a tool's result. A kind that the server does not take becomes a note for the model, and a warning for the
 * caller. The part's own options go with it, but not with words that stand for it.
 */
export function partToWire(part: UserPart | ToolResultPart, takes: Takes, warnings: Warning[], forms = FORMS): WireObject {
  if (part.type === 'json') return forms.text(JSON.stringify(part.value));
  const own = (wire: WireObject) => withPartOptions(wire, part, takes.name, 'openai');
  if (part.type === 'text') return own(forms.text(part.text));
  const { type, mediaType, data } = part;
  const holds = (kind: 'image' | 'audio') => type === kind || (type === 'file' && mediaType.startsWith(`${kind}/`));
  if (takes.images && holds('image')) return own(forms.image(addressOf(part), type === 'image' ? part.detail : undefined));
  if (takes.audio && holds('audio') && data !== undefined) {
    return own({ type: 'input_audio', input_audio: { data, format: soundFormat(mediaType) } });
  }
  if (type === 'file') {
    const text = fileText(part);
    if (text !== undefined) return forms.text(text);
    if (takes.files && (data !== undefined || takes.fileUrls)) return own(forms.file(part));
  }
  const what = `${type} (${mediaType})`;
  warnOnce(warnings, 'other', `${takes.name} takes no ${type} input here; the ${what} was replaced by a note.`);
  return forms.text(`[${what} that cannot be shown]`);
}
