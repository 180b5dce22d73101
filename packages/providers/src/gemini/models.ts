// How the families of Gemini models differ, as data.
import type { ReasoningEffort } from '@antiphon/engine';

/** How a family is told to think: in words, in tokens, or not at all. */
export type Thinking =
  | { readonly kind: 'level'; readonly efforts: readonly ReasoningEffort[] }
  | { readonly kind: 'budget'; readonly tokens: { readonly [effort in ReasoningEffort]?: number } }
  | { readonly kind: 'none' };

const LOW_HIGH: Thinking = { kind: 'level', efforts: ['low', 'high'] };
const LOW_TO_HIGH: Thinking = { kind: 'level', efforts: ['low', 'medium', 'high'] };
const MINIMAL_TO_HIGH: Thinking = { kind: 'level', efforts: ['minimal', 'low', 'medium', 'high'] };

/** The first row that fits tells; sources: the tables of levels and budgets in Google's guide to thinking. */
const THINKING: ReadonlyArray<readonly [RegExp, Thinking]> = [
  [/gemini-2\.5-flash-lite/, { kind: 'budget', tokens: { none: 0, minimal: 512, low: 2048, medium: 8192, high: 24_576 } }],
  [/gemini-2\.5-flash-image/, { kind: 'none' }],
  [/gemini-2\.5-flash/, { kind: 'budget', tokens: { none: 0, minimal: 512, low: 2048, medium: 8192, high: 24_576 } }],
  // It cannot be kept from thinking; 128 tokens are the least.
  [/gemini-2\.5-pro/, { kind: 'budget', tokens: { minimal: 128, low: 2048, medium: 8192, high: 32_768 } }],
  [/gemini-(1|2)\b|embedding|^imagen|^gemma/, { kind: 'none' }],
  [/gemini-3-pro/, LOW_HIGH],
  [/gemini-3(\.[0-6])?-flash/, MINIMAL_TO_HIGH],
];

export function thinkingOf(model: string): Thinking {
  return THINKING.find(([pattern]) => pattern.test(model))?.[1] ?? LOW_TO_HIGH;
}

/** Gemini 3 and later: signatures of calls are demanded, tool results may hold pictures, and a schema may stand beside tools. */
export function isGemini3(model: string): boolean {
  const generation = /gemini-(\d+)/.exec(model)?.[1];
  return generation === undefined ? /gemini-(pro|flash|flash-lite)-latest/.test(model) : Number(generation) >= 3;
}
