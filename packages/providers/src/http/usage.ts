import { type CapabilityUsage, isRecord, type Usage } from '@antiphon/engine';

/** What was reported of one answer. Servers repeat it, with growing numbers or fewer fields; the last report of each field counts. */
export class UsageFields {
  readonly fields: Record<string, unknown> = {};

  add(usage: unknown): void {
    if (!isRecord(usage)) return;
    for (const [field, value] of Object.entries(usage)) if (value !== undefined && value !== null) this.fields[field] = value;
  }
}

/** A count of the wire; undefined for what is none. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The counts that were reported, without the others. */
export function reported(counts: { readonly [K in keyof Usage]?: number | undefined }): Usage {
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined));
}

/**
 * Counts of the wire in our terms, ready to be spread into an answer. A field that was not reported, or is no count, stays missing; zero is
 * zero. `usageOf(answer.usage, { inputTokens: 'prompt_tokens' })` → `{ usage: { inputTokens: 12 } }`
 */
export function usageOf(wire: unknown, fields: { readonly [K in keyof CapabilityUsage]?: string }): { readonly usage?: CapabilityUsage } {
  if (!isRecord(wire)) return {};
  const counts = Object.entries(fields).flatMap(([ours, theirs]): [string, number][] => {
    const value = count(wire[theirs]);
    return value === undefined ? [] : [[ours, value]];
  });
  return counts.length === 0 ? {} : { usage: Object.fromEntries(counts) };
}

/** The names by which an answer calls itself. */
export interface AnswerNames {
  readonly model?: string;
  readonly responseId?: string;
}

export function namesOf({ model, id }: { readonly model?: unknown; readonly id?: unknown }): AnswerNames {
  return {
    ...(typeof model === 'string' && model !== '' ? { model } : {}),
    ...(typeof id === 'string' && id !== '' ? { responseId: id } : {}),
  };
}
