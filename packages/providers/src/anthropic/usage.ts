import { isRecord, type JsonObject, type Usage } from '@antiphon/engine';

/**
 * The account of one answer. `message_start` counts the prompt, `message_delta` reports running totals (and sometimes corrects the prompt,
 * or counts it for the first time); the last report of each field counts.
 */
export class UsageReport {
  #fields: Record<string, unknown> = {};

  add(usage: unknown): void {
    if (!isRecord(usage)) return;
    const reported = Object.entries(usage).filter(([, value]) => value !== undefined && value !== null);
    this.#fields = { ...this.#fields, ...Object.fromEntries(reported) };
  }

  /** In our terms: the input is the whole prompt, while the wire counts what was read from and written to the cache apart. */
  read(): Usage {
    const fields = this.#fields;
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
    const usage: { -readonly [K in keyof Usage]: Usage[K] } = {};
    if (input !== undefined) usage.inputTokens = input;
    if (output !== undefined) usage.outputTokens = output;
    if (input !== undefined && output !== undefined) usage.totalTokens = input + output;
    if (cached !== undefined) usage.cachedInputTokens = cached;
    if (written !== undefined) usage.cacheWriteTokens = written;
    if (reasoning !== undefined) usage.reasoningTokens = reasoning;
    return usage;
  }

  /** The model calls behind the answer, when there is more to tell of them than their sum; undefined otherwise. */
  get iterations(): unknown {
    const calls = this.#fields.iterations;
    return Array.isArray(calls) && calls.some(call => isRecord(call) && call.type !== 'message') ? calls : undefined;
  }

  /** How often tools ran on the server, which is billed by itself; undefined when none did. */
  get serverTools(): JsonObject | undefined {
    const uses = this.#fields.server_tool_use;
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

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
