import { type FinishReason, isRecord } from '@antiphon/engine';

/** How a response ended, in our words and in the server's. */
export interface Finish {
  readonly finishReason: FinishReason;
  readonly rawFinishReason: string;
}

const INCOMPLETE: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['context_length_exceeded', 'length'],
  ['content_filter', 'content_filter'],
]);

/**
 * What the status of a response means, given what came: a completed one has calls that wait, or a refusal, or is simply done. An incomplete
 * one says why in `incomplete_details`.
 */
export function finishOf(response: Record<string, unknown>, seen: { readonly calls: boolean; readonly refusal: boolean }): Finish {
  const status = typeof response.status === 'string' ? response.status : 'completed';
  const details = response.incomplete_details;
  const why = isRecord(details) && typeof details.reason === 'string' ? details.reason : undefined;
  if (status === 'incomplete' || why !== undefined) {
    return { finishReason: INCOMPLETE.get(why ?? '') ?? 'other', rawFinishReason: why ?? status };
  }
  if (status !== 'completed') return { finishReason: 'other', rawFinishReason: status };
  return { finishReason: seen.calls ? 'tool_calls' : seen.refusal ? 'content_filter' : 'stop', rawFinishReason: status };
}
