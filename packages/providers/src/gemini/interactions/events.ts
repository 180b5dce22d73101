// The shapes of events, as far as they tell what an event is.
import { isRecord } from '@antiphon/engine';
import { filled } from '../../http/wire-values.js';
import { isMedia } from './content.js';

/** Of what the API sends nothing is certain until it is looked at. */
export type Wire = Record<string, unknown>;

/** True for an event of the Interactions API, and for a whole interaction. */
export function isInteraction(value: unknown): value is Wire {
  if (!isRecord(value)) return false;
  return (
    eventKind(value) !== undefined ||
    value.object === 'interaction' ||
    (Array.isArray(value.steps ?? value.outputs) && typeof value.status === 'string')
  );
}

/** The event's name; undefined for a whole interaction. Some of Google's examples have it in `type`. */
export function eventKind({ event_type: kind, type }: Wire): string | undefined {
  if (typeof kind === 'string') return kind;
  return typeof type === 'string' && /^(interaction|step)\./.test(type) ? type : undefined;
}

/**
 * An event of the API's first dialect, which recordings and gateways still speak, in today's words: there were contents without steps around
 * them, and a whole interaction had `outputs`. Other events stay as they are.
 */
export function modernised(event: Wire): Wire {
  switch (eventKind(event)) {
    case 'content.start':
      return { ...event, event_type: 'step.start', step: stepAround(event.content) };
    case 'content.delta':
      return { ...event, event_type: 'step.delta' };
    case 'content.stop':
      return { ...event, event_type: 'step.stop' };
    case 'interaction.complete':
      return { ...event, event_type: 'interaction.completed', interaction: withSteps(event.interaction) };
    case undefined:
      return withSteps(event);
    default:
      return event;
  }
}

function withSteps(interaction: unknown): Wire {
  if (!isRecord(interaction)) return {};
  const { steps, outputs } = interaction;
  return steps === undefined && Array.isArray(outputs) ? { ...interaction, steps: outputs.map(stepAround) } : interaction;
}

function stepAround(content: unknown): Wire {
  if (!isRecord(content)) return {};
  if (content.type !== 'text' && !isMedia(content.type)) return content;
  // What is only announced comes with the deltas.
  const isFilled = [content.text, content.data, content.uri].some(filled);
  return { type: 'model_output', content: isFilled ? [content] : [] };
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
