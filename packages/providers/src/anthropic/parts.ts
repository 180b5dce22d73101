import type { FilePart, ImagePart, ToolResultPart, UserPart, Warning } from '@antiphon/engine';
import { withPartOptions } from '../http/own-options.js';
import { unsupportedSetting, warnOnce } from '../http/warnings.js';
import type { WireObject } from '../http/wire-values.js';
import { withBytes } from '../media/data-url.js';
import { bareMediaType, textIn } from '../media/media-type.js';
import { PROVIDER } from './endpoint.js';

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/**
 * One part of a user message or a tool result. Undefined for text without a word in it, which the API refuses; a kind that it does not take
 * becomes a note for the model, and a warning for the caller.
 */
export function partToWire(part: UserPart | ToolResultPart, warnings: Warning[]): WireObject | undefined {
  const block = plainBlock(part, warnings);
  if (!block || part.type === 'json' || (block.type === 'text' && part.type !== 'text')) return block;
  return withPartOptions(block, part, PROVIDER);
}

function plainBlock(part: UserPart | ToolResultPart, warnings: Warning[]): WireObject | undefined {
  switch (part.type) {
    case 'text':
      return textBlock(part.text);
    case 'json':
      return textBlock(JSON.stringify(part.value));
    case 'image':
      return imageBlock(part, warnings);
    case 'audio':
      return note('audio', part.mediaType, warnings);
    case 'file':
      return fileBlock(part, warnings);
  }
}

/** Undefined for text that the API would refuse: it wants at least one character that is no white space. */
export function textBlock(text: string): WireObject | undefined {
  return text.trim() === '' ? undefined : { type: 'text', text };
}

/** The text as the one block of a message, or no block. */
export function textBlocks(text: string): WireObject[] {
  const block = textBlock(text);
  return block ? [block] : [];
}

function imageBlock(part: ImagePart, warnings: Warning[]): WireObject {
  if (part.detail === 'low' || part.detail === 'high') {
    warnings.push(unsupportedSetting('detail', 'anthropic has no detail setting for images; it was not sent.'));
  }
  const { mediaType, data, url } = embedded(part);
  const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
  if (data === undefined) return { type: 'image', source: { type: 'url', url } };
  if (!IMAGE_TYPES.has(type)) return note('image', mediaType, warnings);
  return { type: 'image', source: { type: 'base64', media_type: type, data } };
}

function fileBlock(part: FilePart, warnings: Warning[]): WireObject {
  const { mediaType, data, url } = embedded(part);
  if (mediaType.startsWith('image/')) return imageBlock({ ...part, type: 'image' }, warnings);
  const title = part.name === undefined ? {} : { title: part.name };
  if (mediaType === 'application/pdf') {
    const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data };
    return { type: 'document', source, ...title };
  }
  const text = textIn(mediaType, data);
  if (text?.trim()) return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title };
  return note('file', mediaType, warnings);
}

function note(kind: string, mediaType: string, warnings: Warning[]): WireObject {
  warnOnce(warnings, 'other', `anthropic takes no ${kind} of type ${mediaType}; it was replaced by a note.`);
  return { type: 'text', text: `[${kind} (${mediaType}) that cannot be shown]` };
}

/** Where its bytes are, and of which bare type; the API takes only web addresses as URLs. */
function embedded(part: ImagePart | FilePart): { readonly mediaType: string; readonly data?: string; readonly url?: string } {
  const { mediaType, data, url = '' } = withBytes(part);
  return { mediaType: bareMediaType(mediaType), ...(data === undefined ? { url } : { data }) };
}
