import { type FinishReason, isRecord } from '@antiphon/engine';
import { filled } from '../http/wire-values.js';

/** Gemini's words for how an answer ended; `promptFeedback.blockReason` uses some of them. */
const WORDS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The server paused a long answer, and cannot be asked to go on.
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['JAILBREAK', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', 'error'],
  ['MALFORMED_RESPONSE', 'error'],
  ['UNEXPECTED_TOOL_CALL', 'error'],
  ['TOO_MANY_TOOL_CALLS', 'error'],
  ['MISSING_THOUGHT_SIGNATURE', 'error'],
]);

/** Why a prompt was refused; undefined when it was not. Vertex spells the word for "no reason" otherwise than the Gemini API. */
export function blockReason(feedback: unknown): string | undefined {
  const reason = isRecord(feedback) ? feedback.blockReason : undefined;
  return filled(reason) && !/^BLOCK(ED)?_REASON_UNSPECIFIED$/.test(reason) ? reason : undefined;
}

/** What a finish word means. */
export function finishReason(raw: string, hasCalls: boolean): FinishReason {
  return withCalls(WORDS.get(raw), hasCalls);
}

/** Behind calls, a proper end and a word that nobody knows mean that the calls wait. */
export function withCalls(reason: FinishReason | undefined, hasCalls: boolean): FinishReason {
  return hasCalls && (reason ?? 'stop') === 'stop' ? 'tool_calls' : (reason ?? 'other');
}
