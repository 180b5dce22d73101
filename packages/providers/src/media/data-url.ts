import type { FilePart, ImagePart } from '@antiphon/engine';

const DATA_URL = /^data:([^;,]*)((?:;[^;,]+)*);base64,/i;

/** The same part with the bytes of a `data:` URL as bytes, for APIs whose URLs are addresses only. */
export function withBytes<P extends ImagePart | FilePart>(part: P): P {
  const { url, ...rest } = part;
  const [head, type, parameters] = (part.data === undefined && url !== undefined && DATA_URL.exec(url)) || [];
  if (url === undefined || head === undefined) return part;
  const mediaType = type === '' ? part.mediaType : `${type}${parameters}`;
  return { ...rest, mediaType, data: url.slice(head.length) } as P;
}
