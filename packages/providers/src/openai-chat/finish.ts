import type { FinishReason } from '@antiphon/engine';

/** The words of this dialect's servers for how an answer ended. */
const WORDS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ...words(
    'stop',
    'stop',
    'eos',
    'eos_token',
    'end',
    'end_turn',
    'end_of_turn',
    'stop_sequence',
    'stop_token',
    'complete',
    'completed',
    'done',
    'normal',
  ),
  ...words(
    'length',
    'length',
    'max_tokens',
    'max_length',
    'model_length',
    'max_output_tokens',
    'max_new_tokens',
    'model_context_window_exceeded',
  ),
  ...words('tool_calls', 'tool_calls', 'tool_call', 'tool_use', 'function_call', 'function_calls'),
  ...words(
    'content_filter',
    'content_filter',
    'content_filtered',
    'safety',
    'sensitive',
    'recitation',
    'blocklist',
    'prohibited_content',
    'refusal',
  ),
  ...words('error', 'error', 'network_error', 'insufficient_system_resource'),
]);

function words(reason: FinishReason, ...names: string[]): [string, FinishReason][] {
  return names.map(name => [name, reason]);
}

/**
 * What a finish word means, given what came before it: with tool calls, `stop` and words that nobody knows still mean that the calls wait
 * (many servers never say `tool_calls`); a refusal is a filter of the model's own.
 */
export function finishReason(raw: string | undefined, seen: { readonly calls: boolean; readonly refusal: boolean }): FinishReason {
  const reason = raw === undefined ? 'other' : (WORDS.get(raw.toLowerCase()) ?? 'other');
  if (seen.calls && (reason === 'stop' || reason === 'other')) return 'tool_calls';
  if (seen.refusal && reason === 'stop') return 'content_filter';
  // "tool_calls" without a call leaves nothing to do.
  if (reason === 'tool_calls' && !seen.calls) return 'stop';
  return reason;
}
