import { type AssistantMessage, type AssistantPart, isRecord, type JsonObject, type Warning } from '@antiphon/engine';
import { holdsState, leaveCitations, leaveMedia, leaveReasoning } from '../hand-over/left-behind.js';
import type { WireObject } from '../http/wire-values.js';

import { PROVIDER } from './endpoint.js';
import { textBlock, textBlocks } from './parts.js';

/** An earlier answer as the blocks that it was made of, in their order; those that Anthropic gave are as it gave them. */
export function assistantBlocks(message: AssistantMessage, warnings: Warning[]): WireObject[] {
  if (typeof message.content === 'string') return textBlocks(message.content);
  // What Anthropic cites stands in its own blocks.
  if (!holdsState(message, provider => provider === PROVIDER)) leaveCitations(message, PROVIDER, warnings);
  return message.content.map(part => blockOf(part, warnings)).filter(block => block !== undefined);
}

/** What the answer said as a whole, beside its content: `container`, `stop_details` and the like. */
export function messageState(message: AssistantMessage): JsonObject | undefined {
  if (typeof message.content === 'string') return undefined;
  for (const part of message.content) {
    const state = part.type === 'reasoning' ? part.providerState?.[PROVIDER]?.message : undefined;
    if (isRecord(state)) return state as JsonObject;
  }
  return undefined;
}

function blockOf(part: AssistantPart, warnings: Warning[]): WireObject | undefined {
  switch (part.type) {
    case 'text': {
      const block = textBlock(part.text);
      return block && { ...block, ...own(part) };
    }
    case 'reasoning': {
      const block = reasoningBlock(part.text, own(part));
      if (!block) leaveReasoning(part, PROVIDER, warnings);
      return block;
    }
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.arguments as WireObject, ...own(part) };
    // Sources are about the answer, not of it; they stand in its citations.
    case 'source':
      return undefined;
    case 'image':
    case 'file':
      // A file that code on the server wrote goes back with the result that names it.
      if (!/\/files\/[^/]+\/content$/.test(part.url ?? '')) leaveMedia(part, PROVIDER, warnings);
      return undefined;
  }
}

/** Thinking goes back only with the signature that it came with; that of others, and what was cut off before it, is left out. */
function reasoningBlock(text: string, state: WireObject): WireObject | undefined {
  if (isRecord(state.block)) return state.block as WireObject;
  return typeof state.signature === 'string' ? { type: 'thinking', thinking: text, ...state } : undefined;
}

function own(part: Extract<AssistantPart, { providerState?: unknown }>): WireObject {
  const state = part.providerState;
  return state !== undefined && Object.hasOwn(state, PROVIDER) ? (state[PROVIDER] as WireObject) : {};
}
