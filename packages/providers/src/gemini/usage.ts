import { isRecord, type Usage } from '@antiphon/engine';

/**
 * The account of one answer. Each chunk repeats it, with growing numbers and sometimes with fewer fields: the last report of each field
 * counts. Thoughts and what tools of Google put into the prompt stand beside the other counts on the wire; here they are within them.
 */
export class UsageReport {
  #fields: Record<string, unknown> = {};

  add(usage: unknown): void {
    if (!isRecord(usage)) return;
    const reported = Object.entries(usage).filter(([, value]) => value !== undefined && value !== null);
    this.#fields = { ...this.#fields, ...Object.fromEntries(reported) };
  }

  read(): Usage {
    return readUsage(this.#fields);
  }
}

/** Counts of `usageMetadata` in our terms. A field that was not reported stays missing. */
export function readUsage(wire: Record<string, unknown>): Usage {
  const prompt = count(wire.promptTokenCount);
  const input = prompt === undefined ? undefined : prompt + (count(wire.toolUsePromptTokenCount) ?? 0);
  const thoughts = count(wire.thoughtsTokenCount);
  const total = count(wire.totalTokenCount);
  const cached = count(wire.cachedContentTokenCount);
  const output = outputTokens(count(wire.candidatesTokenCount) ?? count(wire.responseTokenCount), { input, thoughts, total });
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = {};
  if (input !== undefined) usage.inputTokens = input;
  if (output !== undefined) usage.outputTokens = output;
  if (total !== undefined) usage.totalTokens = total;
  if (cached !== undefined) usage.cachedInputTokens = cached;
  if (thoughts !== undefined) usage.reasoningTokens = thoughts;
  return usage;
}

/** Zeros are left out on the wire, so a missing count of candidates is what the total leaves over. */
function outputTokens(
  candidates: number | undefined,
  { input, thoughts, total }: Record<'input' | 'thoughts' | 'total', number | undefined>,
) {
  if (candidates !== undefined) return candidates + (thoughts ?? 0);
  if (thoughts !== undefined) return thoughts;
  return input !== undefined && total !== undefined && total >= input ? total - input : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
