import { isRecord, type Json, type JsonObject } from '@antiphon/engine';

/**
 * OpenRouter's `reasoning_details`: the parts of a model's reasoning in the form in which they must be sent back (text with signatures,
 * summaries, encrypted data). They come in pieces, which are joined by index and type.
 */
export class ReasoningDetails {
  #items: Record<string, unknown>[] = [];

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Adds the details of one delta and returns the text in them, for the case that the delta has it nowhere else. */
  add(details: readonly unknown[]): string {
    let text = '';
    for (const detail of details) {
      if (!isRecord(detail)) continue;
      text += detailText(detail);
      const last = this.#items.at(-1);
      if (last !== undefined && last.type === detail.type && last.index === detail.index && last.id === detail.id) join(last, detail);
      else this.#items.push({ ...detail });
    }
    return text;
  }

  /** The joined details so far; the next ones begin anew. */
  take(): JsonObject {
    const items = this.#items as unknown as readonly Json[];
    this.#items = [];
    return { reasoning_details: items };
  }
}

const TEXT_FIELDS = ['text', 'summary', 'data'] as const;

function join(into: Record<string, unknown>, piece: Record<string, unknown>): void {
  for (const field of TEXT_FIELDS) {
    if (typeof piece[field] === 'string') into[field] = (typeof into[field] === 'string' ? into[field] : '') + piece[field];
  }
  for (const field of ['signature', 'format'] as const) if (piece[field] !== undefined && piece[field] !== null) into[field] = piece[field];
}

function detailText(detail: Record<string, unknown>): string {
  if (typeof detail.text === 'string') return detail.text;
  return typeof detail.summary === 'string' ? detail.summary : '';
}
