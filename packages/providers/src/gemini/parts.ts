import type { FilePart, ImagePart, UserPart } from '@antiphon/engine';
import { withPartOptions } from '../http/own-options.js';
import type { WireObject } from '../http/wire-values.js';
import { withBytes } from '../media/data-url.js';
import { PROVIDER } from './endpoint.js';

/** One part of a message that is not of the model's own making; undefined for empty text, which the API refuses. */
export function partToWire(part: UserPart): WireObject | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : own({ text: part.text }, part);
    case 'audio':
      return own({ inlineData: { mimeType: part.mediaType, data: part.data } }, part);
    case 'image':
    case 'file':
      return mediaToWire(part);
  }
}

/** Bytes go inline; an address (a file that was uploaded before, a video, a public file) is handed on as it is. */
export function mediaToWire(given: ImagePart | FilePart): WireObject {
  const part = withBytes(given);
  const mimeType = mediaTypeOf(part);
  return own(part.data === undefined ? { fileData: { mimeType, fileUri: part.url } } : { inlineData: { mimeType, data: part.data } }, part);
}

function own(wire: WireObject, part: UserPart): WireObject {
  return withPartOptions(wire, part, PROVIDER);
}

function mediaTypeOf({ mediaType }: ImagePart | FilePart): string | undefined {
  return mediaType === 'application/json' || mediaType === 'application/xml' ? 'text/plain' : oneMediaType(mediaType);
}

/** The type as the API spells it. It wants one, not a pattern; without one it looks for itself. */
export function oneMediaType(mediaType: string): string | undefined {
  if (mediaType === '' || mediaType.includes('*')) return undefined;
  return mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
}
