import { isRecord, type Json, type JsonObject } from '@antiphon/engine';

/**
 * What must be sent back of a model's reasoning beside its text. OpenRouter's `reasoning_details`: its parts (text with signatures, summaries,
 * encrypted data), which come in pieces and are joined by index and type. GitHub Copilot's `reasoning_opaque`: the whole of it, sealed.
 */
export class ReasoningDetails {
  #items: Record<string, unknown>[] = [];
  #sealed = '';

  get isEmpty(): boolean {
    return this.#items.length === 0 && this.#sealed === '';
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

  seal(opaque: string): void {
    this.#sealed = opaque;
  }

  /** The joined details so far; the next ones begin anew. */
  take(): JsonObject {
    const items = this.#items as unknown as readonly Json[];
    const sealed = this.#sealed;
    this.#items = [];
    this.#sealed = '';
    return { ...(items.length === 0 ? {} : { reasoning_details: items }), ...(sealed === '' ? {} : { reasoning_opaque: sealed }) };
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
