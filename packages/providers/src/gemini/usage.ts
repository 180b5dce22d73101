import type { Usage } from '@antiphon/engine';
import { count, reported, UsageFields } from '../http/usage.js';

/** The account of one answer, which each chunk repeats. */
export class UsageReport extends UsageFields {
  read(): Usage {
    return readUsage(this.fields);
  }
}

/**
 * Counts of `usageMetadata` in our terms: thoughts and what tools of Google put into the prompt stand beside the other counts on the wire; here
 * they are within them.
 */
export function readUsage(wire: Record<string, unknown>): Usage {
  const prompt = count(wire.promptTokenCount);
  const input = prompt === undefined ? undefined : prompt + (count(wire.toolUsePromptTokenCount) ?? 0);
  const thoughts = count(wire.thoughtsTokenCount);
  const total = count(wire.totalTokenCount);
  const cached = count(wire.cachedContentTokenCount);
  const output = outputTokens(count(wire.candidatesTokenCount) ?? count(wire.responseTokenCount), { input, thoughts, total });
  return reported({
    inputTokens: input,
    outputTokens: output,
    totalTokens: total,
    cachedInputTokens: cached,
    reasoningTokens: thoughts,
  });
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
