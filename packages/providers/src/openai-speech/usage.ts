import { type CapabilityUsage, isRecord } from '@antiphon/engine';
import { usageOf } from '../http/usage.js';

/** What an answer about sound says that it cost: tokens, or seconds of sound. A field that was not reported stays missing. */
export function readUsage(wire: unknown): CapabilityUsage {
  const seconds = isRecord(wire) && wire.type === 'duration' ? usageOf(wire, { audioSeconds: 'seconds' }) : {};
  const tokens = usageOf(wire, { inputTokens: 'input_tokens', outputTokens: 'output_tokens', totalTokens: 'total_tokens' });
  return { ...tokens.usage, ...seconds.usage };
}

/** The account of two segments together. A field that none reports stays missing. */
export function addUsage(a: CapabilityUsage, b: CapabilityUsage): CapabilityUsage {
  const sum: Record<string, number> = { ...a };
  for (const [field, value] of Object.entries(b) as [string, number][]) sum[field] = (sum[field] ?? 0) + value;
  return sum;
}
