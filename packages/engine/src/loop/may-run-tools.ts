import type { Step } from '../events/outcome.js';

/** Whether the model ended so that its calls may run. */
export function mayRunTools(step: Step): boolean {
  return step.finishReason === 'tool_calls' || step.finishReason === 'stop' || step.finishReason === 'length';
}
