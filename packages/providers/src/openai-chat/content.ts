import { type ImagePart, isRecord } from '@antiphon/engine';
import { imageAt } from '../media/data-url.js';

export type ContentPiece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'image'; readonly image: ImagePart }
  | { readonly type: 'unknown'; readonly kind: string };

/** The parts of a `content` that is a list (Mistral's thinking, and several proxies). */
export function readContent(parts: readonly unknown[]): ContentPiece[] {
  const pieces: ContentPiece[] = [];
  for (const part of parts) {
    if (typeof part === 'string') pieces.push({ type: 'text', text: part });
    else if (isRecord(part)) pieces.push(...readPart(part));
  }
  return pieces;
}

/** Pictures that the model made (OpenRouter's `images`). */
export function readImages(items: readonly unknown[]): ImagePart[] {
  return items.filter(isRecord).flatMap(item => imageOf(item) ?? []);
}

function readPart(part: Record<string, unknown>): ContentPiece[] {
  switch (part.type) {
    case 'thinking':
    case 'reasoning':
      return [{ type: 'reasoning', text: textOf(part.thinking ?? part.text ?? part.content) }];
    case 'image_url':
    case 'image': {
      const image = imageOf(part);
      return image ? [{ type: 'image', image }] : [];
    }
    // Mistral's marks of where a citation stands; they have no text.
    case 'reference':
      return [];
    case 'refusal':
      return [{ type: 'text', text: textOf(part.refusal) }];
    default:
      if (typeof part.text === 'string') return [{ type: 'text', text: part.text }];
      return [{ type: 'unknown', kind: String(part.type) }];
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map(part => (isRecord(part) ? textOf(part.text) : textOf(part))).join('');
}

function imageOf(part: Record<string, unknown>): ImagePart | undefined {
  const holder = part.image_url ?? part.url;
  const url = isRecord(holder) ? holder.url : holder;
  return typeof url === 'string' && url !== '' ? imageAt(url) : undefined;
}
