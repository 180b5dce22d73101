import type { StopCondition } from '../contract.js';

/** Ends a run after so many model calls. `stopWhen: stepCountIs(3)` */
export function stepCountIs(count: number): StopCondition {
  return steps => steps.length >= count;
}

/** Ends a run once the model has called this tool. `stopWhen: hasToolCall('finish')` */
export function hasToolCall(name: string): StopCondition {
  return steps => steps.at(-1)?.toolCalls.some(call => call.name === name) ?? false;
}

/** True when all of them are. `stopWhen: allOf(stepCountIs(2), hasToolCall('search'))` */
export function allOf(...conditions: readonly StopCondition[]): StopCondition {
  return async steps => {
    for (const condition of conditions) if (!(await condition(steps))) return false;
    return true;
  };
}

/** True when one of them is; a list given to `stopWhen` means the same. */
export function anyOf(...conditions: readonly StopCondition[]): StopCondition {
  return async steps => {
    for (const condition of conditions) if (await condition(steps)) return true;
    return false;
  };
}
