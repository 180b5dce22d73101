import type { CapabilityUsage } from '@antiphon/engine';

/** The account of two segments together. A field that none reports stays missing. */
export function addUsage(a: CapabilityUsage, b: CapabilityUsage): CapabilityUsage {
  const sum: Record<string, number> = { ...a };
  for (const [field, value] of Object.entries(b) as [string, number][]) sum[field] = (sum[field] ?? 0) + value;
  return sum;
}
