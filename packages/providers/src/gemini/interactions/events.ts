// The shapes of events, as far as they tell what an event is.
import { isRecord } from '@antiphon/engine';

/** Of what the API sends nothing is certain until it is looked at. */
export type Wire = Record<string, unknown>;

/** True for an event of the Interactions API, and for a whole interaction. */
export function isInteraction(value: unknown): value is Wire {
  if (!isRecord(value)) return false;
  return (
    eventKind(value) !== undefined || value.object === 'interaction' || (Array.isArray(value.steps) && typeof value.status === 'string')
  );
}

/** The event's name; undefined for a whole interaction. Some of Google's examples have it in `type`. */
export function eventKind({ event_type: kind, type }: Wire): string | undefined {
  if (typeof kind === 'string') return kind;
  return typeof type === 'string' && /^(interaction|step)\./.test(type) ? type : undefined;
}

/** The step that a delta belongs to when no step was begun. */
export function stepOf(delta: unknown): string {
  if (delta === 'thought_summary' || delta === 'thought_signature') return 'thought';
  if (delta === 'arguments_delta') return 'function_call';
  return typeof delta === 'string' && isHosted(delta) ? delta : 'model_output';
}

/** A step of a tool that Google runs: `google_search_call`, `google_search_result`, and those to come. */
export function isHosted(type: string): boolean {
  return /_(call|result)$/.test(type);
}

export function listOf(value: unknown): Wire[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
