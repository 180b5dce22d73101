import type { ChatRequest, ReasoningEffort, Warning } from '@antiphon/engine';
import { unsupportedSetting } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';

import type { ModelTraits } from './models.js';

/** Tokens of thinking for models that take a budget. The API's least is 1,024. */
const BUDGETS: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = { minimal: 1_024, low: 4_096, medium: 12_288, high: 24_576 };
const LEAST_BUDGET = 1_024;

/**
 * The fields for thinking. `forced`: a tool call is demanded, beside which the API refuses an explicit wish to think. `unthought`: the answer
 * that is to go on behind its tools began without thinking, and so cannot have a budget for it.
 */
export function thinkingToWire(
  effort: ReasoningEffort | undefined,
  { maxTokens, forced, unthought }: { readonly maxTokens: number; readonly forced: boolean; readonly unthought: boolean },
  traits: ModelTraits,
  warnings: Warning[],
): { readonly thinking?: WireObject; readonly effort?: string } {
  if (effort === undefined) return {};
  const warn = (message: string) => warnings.push(unsupportedSetting('reasoning', message));
  if (effort === 'none') {
    if (traits.thinking === 'none' || traits.thinkingOff === 'omit') return {};
    if (traits.thinkingOff !== 'always') return { thinking: { type: traits.thinkingOff } };
    warn('This model always thinks; the effort "low" was sent.');
    return { effort: 'low' };
  }
  if (traits.thinking === 'none') {
    warn('This model cannot think before it answers; the effort was not sent.');
    return {};
  }
  if (traits.thinking === 'adaptive') {
    if (effort === 'minimal') warn('There is no effort "minimal"; "low" was sent.');
    const word = effort === 'minimal' ? 'low' : effort;
    if (forced) return { effort: word };
    return { thinking: { type: 'adaptive', ...(traits.hidesThinking ? { display: 'summarized' } : {}) }, effort: word };
  }
  if (forced) {
    warn('A model that is made to call a tool cannot think before; the effort was not sent.');
    return {};
  }
  if (unthought) {
    warn('This answer began without thinking and goes on without it; the next one can think.');
    return {};
  }
  // The budget is a part of max_tokens; half of it is left for the answer.
  const budget = Math.min(BUDGETS[effort], Math.max(LEAST_BUDGET, Math.floor(maxTokens / 2)));
  if (budget >= maxTokens) {
    warn(
      `Thinking needs at least ${LEAST_BUDGET} tokens and would leave none of maxTokens (${maxTokens}) for the answer; it was not asked for.`,
    );
    return {};
  }
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Temperature, top_p, stop sequences. What this model refuses is left out and told. */
export function samplingToWire(request: ChatRequest, thinks: boolean, traits: ModelTraits, warnings: Warning[]): WireObject {
  const { temperature, topP, stop, seed } = request;
  const fields: Record<string, WireJson> = {};
  if (temperature !== undefined) {
    if (traits.sampling === 'none') warnings.push(unsupportedSetting('temperature', 'This model takes no temperature; it was not sent.'));
    else if (thinks) warnings.push(unsupportedSetting('temperature', 'A model that thinks takes no temperature; it was not sent.'));
    else {
      fields.temperature = Math.min(temperature, 1);
      if (temperature > 1)
        warnings.push(unsupportedSetting('temperature', `The temperature ends at 1 here; 1 was sent instead of ${temperature}.`));
    }
  }
  if (topP !== undefined) {
    if (traits.sampling === 'none') warnings.push(unsupportedSetting('topP', 'This model takes no topP; it was not sent.'));
    else if (traits.sampling === 'one' && fields.temperature !== undefined)
      warnings.push(unsupportedSetting('topP', 'This model takes temperature or topP, not both; topP was not sent.'));
    else if (thinks && topP < 0.95)
      warnings.push(unsupportedSetting('topP', 'A model that thinks takes no topP below 0.95; it was not sent.'));
    else fields.top_p = topP;
  }
  const stops = (stop ?? []).filter(text => text.trim() !== '');
  if (stops.length < (stop?.length ?? 0))
    warnings.push(unsupportedSetting('stop', 'A stop sequence of white space alone is refused; it was not sent.'));
  if (stops.length > 0) fields.stop_sequences = stops;
  if (seed !== undefined) warnings.push(unsupportedSetting('seed', 'anthropic has no such setting; it was not sent.'));
  return fields;
}
