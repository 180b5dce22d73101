import { isRecord, type JsonObject, type Usage } from '@antiphon/engine';
import { count, reported, UsageFields } from '../http/usage.js';

/**
 * The account of one answer. `message_start` counts the prompt, `message_delta` reports running totals (and sometimes corrects the prompt,
 * or counts it for the first time).
 */
export class UsageReport extends UsageFields {
  /** In our terms: the input is the whole prompt, while the wire counts what was read from and written to the cache apart. */
  read(): Usage {
    const { fields } = this;
    const calls = Array.isArray(fields.iterations) ? fields.iterations.filter(isRecord) : [];
    // Where another model went on, the totals tell only of the one that answered; an attempt that was declined before its first word is free.
    const attempts = calls.some(isFallback) ? calls.filter(call => isAttempt(call) && call.output_tokens !== 0) : [];
    // A compaction is a model call of its own that the totals leave out, too. An advisor's is another model's, at another price.
    const counts = [...(attempts.length > 0 ? attempts : [fields]), ...calls.filter(call => call.type === 'compaction')];
    const cached = sum(counts, 'cache_read_input_tokens');
    const written = sum(counts, 'cache_creation_input_tokens');
    const fresh = sum(counts, 'input_tokens');
    const output = sum(counts, 'output_tokens');
    const input = fresh === undefined ? undefined : fresh + (cached ?? 0) + (written ?? 0);
    const details = fields.output_tokens_details;
    const reasoning = isRecord(details) ? count(details.thinking_tokens) : undefined;
    return reported({
      inputTokens: input,
      outputTokens: output,
      totalTokens: input === undefined || output === undefined ? undefined : input + output,
      cachedInputTokens: cached,
      cacheWriteTokens: written,
      reasoningTokens: reasoning,
    });
  }

  /** The model calls behind the answer, when there is more to tell of them than their sum; undefined otherwise. */
  get iterations(): unknown {
    const calls = this.fields.iterations;
    return Array.isArray(calls) && calls.some(call => isRecord(call) && call.type !== 'message') ? calls : undefined;
  }

  /** How often tools ran on the server, which is billed by itself; undefined when none did. */
  get serverTools(): JsonObject | undefined {
    const uses = this.fields.server_tool_use;
    return isRecord(uses) && Object.values(uses).some(times => times !== 0) ? (uses as JsonObject) : undefined;
  }
}

function isFallback({ type }: Record<string, unknown>): boolean {
  return type === 'fallback_message';
}

function isAttempt(call: Record<string, unknown>): boolean {
  return call.type === 'message' || isFallback(call);
}

function sum(counts: readonly Record<string, unknown>[], field: string): number | undefined {
  let total: number | undefined;
  for (const fields of counts) {
    const number = count(fields[field]);
    if (number !== undefined) total = (total ?? 0) + number;
  }
  return total;
}
