import { isRecord, type Usage } from '@antiphon/engine';

/**
 * The account of one answer. Servers repeat it, with growing numbers or fewer fields; the last report of each field counts.
 * `reasoningApart`: the server's `completion_tokens` leave reasoning out.
 */
export class UsageReport {
  #fields: Record<string, unknown> | undefined;

  add(usage: unknown): void {
    if (!isRecord(usage)) return;
    if (this.#fields === undefined) this.#fields = usage;
    else {
      const reported = Object.entries(usage).filter(([, value]) => value !== undefined && value !== null);
      this.#fields = { ...this.#fields, ...Object.fromEntries(reported) };
    }
  }

  read(reasoningApart: boolean): Usage {
    return this.#fields === undefined ? {} : readUsage(this.#fields, reasoningApart);
  }
}

/** Counts of the wire in our terms: input with cache reads, output with reasoning. A field that was not reported stays missing. */
function readUsage(wire: Record<string, unknown>, reasoningApart = false): Usage {
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
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = {};
  if (input !== undefined) usage.inputTokens = input;
  if (output !== undefined) usage.outputTokens = output;
  if (total !== undefined) usage.totalTokens = total;
  if (cached !== undefined) usage.cachedInputTokens = cached;
  if (written !== undefined) usage.cacheWriteTokens = written;
  if (reasoning !== undefined) usage.reasoningTokens = reasoning;
  return usage;
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

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function record(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}
