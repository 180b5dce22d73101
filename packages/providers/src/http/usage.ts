import { type CapabilityUsage, isRecord } from '@antiphon/engine';

/**
 * Counts of the wire in our terms, ready to be spread into an answer. A field that was not reported, or is no count, stays missing; zero is
 * zero. `usageOf(answer.usage, { inputTokens: 'prompt_tokens' })` → `{ usage: { inputTokens: 12 } }`
 */
export function usageOf(wire: unknown, fields: { readonly [K in keyof CapabilityUsage]?: string }): { readonly usage?: CapabilityUsage } {
  if (!isRecord(wire)) return {};
  const counts = Object.entries(fields).flatMap(([ours, theirs]): [string, number][] => {
    const value = wire[theirs];
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? [[ours, value]] : [];
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
