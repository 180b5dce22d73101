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

const BUDGET: Thinking = { kind: 'budget', tokens: { none: 0, minimal: 512, low: 2048, medium: 8192, high: 24_576 } };

/** The first row with a part of the model's name tells; sources: the tables of levels and budgets in Google's guide to thinking. */
const THINKING: readonly { readonly names: readonly string[]; readonly thinking: Thinking }[] = [
  { names: ['gemini-2.5-flash-image'], thinking: { kind: 'none' } },
  { names: ['gemini-2.5-flash'], thinking: BUDGET },
  // It cannot be kept from thinking; 128 tokens are the least.
  { names: ['gemini-2.5-pro'], thinking: { kind: 'budget', tokens: { minimal: 128, low: 2048, medium: 8192, high: 32_768 } } },
  { names: ['gemini-1', 'gemini-2', 'embedding', 'imagen', 'gemma'], thinking: { kind: 'none' } },
  { names: ['gemini-3-pro'], thinking: LOW_HIGH },
  { names: ['gemini-3-flash', ...['1', '2', '3', '4', '5', '6'].map(minor => `gemini-3.${minor}-flash`)], thinking: MINIMAL_TO_HIGH },
];

/** The efforts that a model can be asked for; none for one that does not think. */
export function effortsOf(thinking: Thinking): readonly ReasoningEffort[] {
  if (thinking.kind === 'none') return [];
  return thinking.kind === 'level' ? thinking.efforts : (Object.keys(thinking.tokens) as ReasoningEffort[]);
}

export function thinkingOf(model: string): Thinking {
  return THINKING.find(({ names }) => names.some(name => model.includes(name)))?.thinking ?? LOW_TO_HIGH;
}

/** How the names of open models begin that were trained without instructions of a system; Gemma 4 takes them. */
const UNINSTRUCTED = ['gemma-2', 'gemma-3'];

/** The API refuses a system instruction for this model. */
export function refusesSystem(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return UNINSTRUCTED.some(beginning => name.startsWith(beginning));
}

const GENERATION_3 = ['gemini-3', 'gemini-4', 'gemini-pro-latest', 'gemini-flash-latest', 'gemini-flash-lite-latest'];

/** Gemini 3 and later: signatures of calls are demanded, tool results may hold pictures, and a schema may stand beside tools. */
export function isGemini3(model: string): boolean {
  return GENERATION_3.some(name => model.includes(name));
}
