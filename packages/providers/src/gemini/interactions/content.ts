// Words, pictures, sound and files in the terms of the Interactions API, both ways.

import type { FilePart, ImagePart, UserPart } from '@antiphon/engine';
import { base64Of, bytesOf, joinedBytes } from '../../http/bytes.js';
import { withPartOptions } from '../../http/own-options.js';
import type { WireObject } from '../../http/wire-values.js';
import { filled } from '../../http/wire-values.js';
import { withBytes } from '../../media/data-url.js';
import { PROVIDER } from '../endpoint.js';
import { oneMediaType } from '../parts.js';

/** Files that are text already go as words: the API's documents are PDFs and tables. */
const TEXT = /^(text\/|application\/(json|xml)$)/;
const MEDIA: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'document']);

/** One part of a message; undefined for empty text. */
export function contentToWire(part: UserPart): WireObject | undefined {
  const content = plainContent(part);
  return content && withPartOptions(content, part, PROVIDER);
}

function plainContent(part: UserPart): WireObject | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : { type: 'text', text: part.text };
    case 'audio':
      return { type: 'audio', mime_type: part.mediaType, data: part.data };
    case 'image':
    case 'file':
      return mediaToWire(part);
  }
}

/** Bytes go inline; an address (an uploaded file, a public one) is handed on as it is. */
export function mediaToWire(given: ImagePart | FilePart): WireObject {
  const part = withBytes(given);
  const { mediaType, data, url } = part;
  const text = data !== undefined && TEXT.test(mediaType) ? bytesOf(data) : undefined;
  if (text) {
    const words = new TextDecoder().decode(text);
    const name = part.type === 'file' ? part.name : undefined;
    return { type: 'text', text: name === undefined ? words : `File ${name}:\n${words}` };
  }
  const kind = mediaType.split('/')[0] ?? '';
  const type = MEDIA.has(kind) ? kind : part.type === 'image' ? 'image' : 'document';
  const mime_type = oneMediaType(mediaType);
  return data === undefined ? { type, mime_type, uri: url } : { type, mime_type, data };
}

export function isMedia(type: unknown): boolean {
  return typeof type === 'string' && MEDIA.has(type);
}

/** What the model made; undefined when it has neither bytes nor an address. */
export function fileOf(content: Record<string, unknown>): FilePart | ImagePart | undefined {
  const { data, uri } = content;
  const where = filled(data) ? { data } : filled(uri) ? { url: uri } : undefined;
  if (!where) return undefined;
  const mediaType = mediaTypeOf(content);
  return { type: mediaType.startsWith('image/') ? 'image' : 'file', mediaType, ...where };
}

/** Sound that comes in pieces, each with its own padding, as one base64 text. */
export function joinedBase64(pieces: readonly string[]): string {
  if (pieces.slice(0, -1).every(piece => piece.length % 4 === 0 && !piece.endsWith('='))) return pieces.join('');
  return base64Of(joinedBytes(pieces.map(piece => bytesOf(piece) ?? new Uint8Array())));
}

function mediaTypeOf({ type, mime_type: mime, sample_rate: rate }: Record<string, unknown>): string {
  if (!filled(mime)) return type === 'image' ? 'image/png' : 'application/octet-stream';
  // Bare samples mean nothing without their rate.
  return mime === 'audio/l16' && typeof rate === 'number' ? `${mime};rate=${rate}` : mime;
}
