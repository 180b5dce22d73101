import { isRecord, type Usage } from '@antiphon/engine';
import { count, reported, UsageFields } from '../http/usage.js';

/** The account of one answer. */
export class UsageReport extends UsageFields {
  /**
   * Counts of the wire in our terms: input with cache reads, output with reasoning. A field that was not reported stays missing.
   * `reasoningApart`: the server's `completion_tokens` leave reasoning out.
   */
  read(reasoningApart: boolean): Usage {
    return readUsage(this.fields, reasoningApart);
  }
}

function readUsage(wire: Record<string, unknown>, reasoningApart: boolean): Usage {
  const promptDetails = record(wire.prompt_tokens_details) ?? record(wire.input_tokens_details);
  const outputDetails = record(wire.completion_tokens_details) ?? record(wire.output_tokens_details);
  const input = count(wire.prompt_tokens) ?? count(wire.input_tokens);
  const completion = count(wire.completion_tokens) ?? count(wire.output_tokens);
  const total = count(wire.total_tokens);
  const reasoning = count(outputDetails?.reasoning_tokens) ?? count(wire.reasoning_tokens);
  const cached =
    count(promptDetails?.cached_tokens) ??
    count(wire.prompt_cache_hit_tokens) ??
    count(wire.cached_tokens) ??
    count(wire.num_cached_tokens);
  const written =
    count(promptDetails?.cache_write_tokens) ??
    count(promptDetails?.cache_creation_input_tokens) ??
    count(wire.cache_creation_input_tokens);
  const output =
    completion === undefined || reasoning === undefined
      ? completion
      : isApart({ input, completion, reasoning, total }, reasoningApart)
        ? completion + reasoning
        : Math.max(completion, reasoning);
  return reported({
    inputTokens: input,
    outputTokens: output,
    totalTokens: total,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: reasoning,
  });
}

/** The total tells whether reasoning stands beside the completion (xAI) or within it (OpenAI); without a total the profile does. */
function isApart(
  { input, completion, reasoning, total }: { input: number | undefined; completion: number; reasoning: number; total: number | undefined },
  byProfile: boolean,
): boolean {
  if (total === undefined || input === undefined) return reasoning > completion || byProfile;
  if (total === input + completion) return reasoning > completion;
  // Kimi's counts are off by one: more reasoning than output, though within it.
  return total === input + completion + reasoning || byProfile;
}

function record(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}
