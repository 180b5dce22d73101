import type { FilePart, ImagePart } from '@antiphon/engine';

const DATA_URL = /^data:([^;,]*)((?:;[^;,]+)*);base64,/i;

/** What a `data:` URL in base64 holds, with an empty type when it names none; undefined for any other address. */
function readDataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const [head, type, parameters] = DATA_URL.exec(url) ?? [];
  return head === undefined ? undefined : { mediaType: type === '' ? '' : `${type}${parameters}`, data: url.slice(head.length) };
}

/** The address of what a part holds: its own, or a `data:` URL with its bytes. */
export function addressOf({
  mediaType,
  data,
  url = '',
}: {
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
}): string {
  return data === undefined ? url : `data:${mediaType};base64,${data}`;
}

/** The same part with the bytes of a `data:` URL as bytes, for APIs whose URLs are addresses only. */
export function withBytes<P extends ImagePart | FilePart>(part: P): P {
  const { url, ...rest } = part;
  const held = part.data === undefined && url !== undefined ? readDataUrl(url) : undefined;
  return held === undefined ? part : ({ ...rest, mediaType: held.mediaType || part.mediaType, data: held.data } as P);
}

/** The picture at an address; `mediaType` is that of one which is not in the address itself. */
export function imageAt(url: string, mediaType = 'image/*'): ImagePart {
  const held = readDataUrl(url);
  return held ? { type: 'image', mediaType: held.mediaType || 'image/png', data: held.data } : { type: 'image', mediaType, url };
}
