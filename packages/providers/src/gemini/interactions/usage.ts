import { isRecord, type Usage } from '@antiphon/engine';
import { readUsage } from '../usage.js';

/** The account of an interaction. It is that of generateContent under other names: thoughts and tools' prompts stand beside the other counts. */
export function interactionUsage(wire: unknown): Usage {
  if (!isRecord(wire)) return {};
  return readUsage({
    promptTokenCount: wire.total_input_tokens,
    toolUsePromptTokenCount: wire.total_tool_use_tokens,
    candidatesTokenCount: wire.total_output_tokens,
    thoughtsTokenCount: wire.total_thought_tokens,
    cachedContentTokenCount: wire.total_cached_tokens,
    totalTokenCount: wire.total_tokens,
  });
}
