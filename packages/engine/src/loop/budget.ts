import type { Budget } from '../contract.js';
import type { Usage } from '../data/usage.js';
import type { Step } from '../events/outcome.js';

/** Watches what a run uses up. */
export class BudgetWatch {
  readonly #budget: Budget;
  readonly #calls = new Map<string, number>();
  #repeats = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Takes note of a finished step; true when the run has used up what it may. */
  isSpent(step: Step, { usage, cost, elapsedMs }: { readonly usage: Usage; readonly cost: number; readonly elapsedMs: number }): boolean {
    for (const call of step.toolCalls) {
      const key = `${call.name} ${JSON.stringify(sorted(call.arguments))}`;
      const count = (this.#calls.get(key) ?? 0) + 1;
      this.#calls.set(key, count);
      this.#repeats = Math.max(this.#repeats, count);
    }
    const used = {
      tokens: usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
      cost,
      timeMs: elapsedMs,
      repeatedCalls: this.#repeats,
    };
    return (Object.keys(used) as (keyof Budget)[]).some(key => {
      const limit = this.#budget[key];
      return limit !== undefined && used[key] >= limit;
    });
  }
}

/** The order of keys says nothing about arguments. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
