import { createEngine, type OutputMode } from '@antiphon/engine';
import { type ScriptedReply, type ScriptedTurn, scripted } from '@antiphon/engine/testing';
import { z } from 'zod';

export const MODES: readonly OutputMode[] = ['native', 'tool', 'instructions'];
export const city = z.object({ city: z.string(), degrees: z.number() });

/** How a model in this mode says a value. */
export function says(mode: OutputMode, text: string, more: Partial<ScriptedReply> = {}): ScriptedReply {
  if (mode === 'tool') return { toolCalls: [{ id: 'c', name: 'answer', rawArguments: text }], ...more };
  return { text, chunks: text.match(/.{1,3}/gs) ?? [], ...more };
}

/** An engine whose model is asked in this mode. */
export function setUp(mode: OutputMode, turns: readonly ScriptedTurn[]) {
  const chat = scripted(turns, { structuredOutput: mode === 'native' });
  return { chat, engine: createEngine({ chat }), options: mode === 'instructions' ? { outputMode: mode } : {} };
}
