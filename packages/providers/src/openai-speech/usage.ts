import { type CapabilityUsage, isRecord } from '@antiphon/engine';

/** What an answer about sound says that it cost: tokens, or seconds of sound. A field that was not reported stays missing. */
export function readUsage(wire: unknown): CapabilityUsage {
  if (!isRecord(wire)) return {};
  const usage: { -readonly [K in keyof CapabilityUsage]: CapabilityUsage[K] } = {};
  if (isCount(wire.input_tokens)) usage.inputTokens = wire.input_tokens;
  if (isCount(wire.output_tokens)) usage.outputTokens = wire.output_tokens;
  if (isCount(wire.total_tokens)) usage.totalTokens = wire.total_tokens;
  if (wire.type === 'duration' && isCount(wire.seconds)) usage.audioSeconds = wire.seconds;
  return usage;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
