import type { FinishReason } from '@antiphon/engine';

const WORDS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  // The server's own tools ran for long.
  ['pause_turn', 'other'],
]);

/** The server has stopped in the middle: the thread is to be sent again as it is. `compaction`: it has only written its summary yet. */
export function isPause(raw: string | undefined): boolean {
  return raw === 'pause_turn' || raw === 'compaction';
}

/** What a `stop_reason` means. Proxies end answers that hold tool calls with other words. */
export function finishReason(raw: string | undefined, hasCalls: boolean): FinishReason {
  const known = raw === undefined ? undefined : WORDS.get(raw);
  if (hasCalls && (known === undefined || known === 'stop')) return 'tool_calls';
  // "tool_use" without a call leaves nothing to do.
  if (known === 'tool_calls' && !hasCalls) return 'stop';
  return known ?? 'other';
}
