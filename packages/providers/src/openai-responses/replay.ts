import { type AssistantMessage, type AssistantPart, isRecord, type JsonObject, type TextPart, type Warning } from '@antiphon/engine';
import { leaveCitations, leaveMedia, leaveReasoning } from '../hand-over/left-behind.js';
import { warnOnce } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';
import { argumentText } from '../openai-chat/messages.js';

import { type ItemState, ownState, textField } from './item-state.js';

/** What an earlier answer is written with. */
export interface Replay {
  readonly provider: string;
  /** The model takes reasoning. */
  readonly reasons: boolean;
  readonly warnings: Warning[];
}

/**
 * An earlier answer as items. A part that remembers the item it was read from gives that item again, byte for byte; what comes from another
 * provider or was written by hand is said in the plainest form. What the server would refuse is left out, with a warning: reasoning that it
 * can neither read nor find, reasoning that nothing follows, and ids that rest on such reasoning.
 */
export function answerItems(message: AssistantMessage, replay: Replay): WireObject[] {
  const content: readonly AssistantPart[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  const items: WireObject[] = [];
  const reasoned = new Set<string>();
  for (const [i, part] of content.entries()) {
    const state = stateIn(part, replay);
    if (state === undefined) foreignPart(part, content[i - 1], items, replay);
    else {
      const item = fittingItem(ownItem(part, state, content[i + 1]), state, reasoned, replay);
      if (item) items.push(item);
    }
  }
  dropLooseReasoning(items, replay);
  if (!content.some(part => stateIn(part, replay))) leaveCitations(message, replay.provider, replay.warnings);
  if (items.length === 0) warn(replay, 'An assistant message without anything that could be sent was left out of the request.');
  return items;
}

/** The item that a part was read from, with what the part itself holds of it. */
function ownItem(part: AssistantPart, state: ItemState, next: AssistantPart | undefined): WireObject {
  const item = state.item as WireObject;
  switch (part.type) {
    case 'text':
      return messageItem(part, state);
    case 'tool_call': {
      const isCustom = item.type === 'custom_tool_call';
      const call = { ...item, call_id: part.id, name: part.name };
      return isCustom ? { ...call, input: part.rawArguments } : { ...call, arguments: argumentText(part) };
    }
    default:
      return item.type === 'image_generation_call' && item.result === '' && next?.type === 'image' ? { ...item, result: next.data } : item;
  }
}

/** The text may have been cut since (a reply that was not heard to its end): then it is a text of its own, without id and annotations. */
function messageItem(part: TextPart, { item, chars = [] }: ItemState): WireObject {
  const content = Array.isArray(item.content) ? item.content.filter(isRecord) : [];
  const isWhole = chars.length === content.length && chars.reduce((sum, count) => sum + count, 0) === part.text.length;
  if (!isWhole) return plainText(part.text, item.phase as WireJson);
  let from = 0;
  const filled = content.map((piece, i) => {
    const field = textField(piece);
    const text = part.text.slice(from, from + chars[i]!);
    from += chars[i]!;
    return (field === undefined ? piece : { ...piece, [field]: text }) as JsonObject;
  });
  return { ...(item as WireObject), content: filled };
}

/** The item as the server takes it now; undefined when it does not. */
function fittingItem(item: WireObject, state: ItemState, reasoned: Set<string>, replay: Replay): WireObject | undefined {
  if (item.type === 'reasoning' && !replay.reasons) {
    warn(replay, 'Reasoning in an earlier answer was left out of the request: the model does not reason, and would refuse it.');
    return undefined;
  }
  if (item.type === 'reasoning') {
    const hasContent = Array.isArray(item.content) && item.content.length > 0;
    if (!item.encrypted_content && !hasContent && state.stored !== true) {
      warn(
        replay,
        'Reasoning without its encrypted content cannot be sent back, because it is not stored at the provider; it was left out.',
      );
      return undefined;
    }
    if (typeof item.id === 'string') reasoned.add(item.id);
    return item;
  }
  if (state.after === undefined || reasoned.has(state.after) || item.id === undefined) return item;
  // The server knows by the id that reasoning belongs before it.
  const { id: _, ...anonymous } = item;
  return anonymous;
}

function foreignPart(part: AssistantPart, before: AssistantPart | undefined, items: WireObject[], replay: Replay): void {
  switch (part.type) {
    case 'text': {
      const last = items.at(-1);
      // Parts of one reply of another provider, maybe with sources between them.
      if (last !== undefined && typeof last.content === 'string' && last.role === 'assistant')
        items[items.length - 1] = { ...last, content: last.content + part.text };
      else if (part.text !== '') items.push(plainText(part.text));
      return;
    }
    case 'tool_call':
      items.push({ type: 'function_call', call_id: part.id, name: part.name, arguments: argumentText(part) });
      return;
    case 'image':
    case 'file': {
      const made = before && stateIn(before, replay)?.item.type;
      // Pictures of the provider's own tools go back within their items.
      if (made !== 'image_generation_call' && made !== 'code_interpreter_call' && before?.type !== part.type)
        leaveMedia(part, replay.provider, replay.warnings);
      return;
    }
    case 'reasoning':
      return leaveReasoning(part, replay.provider, replay.warnings);
    // Sources are about the answer, not of it.
    case 'source':
      return;
  }
}

function plainText(text: string, phase?: WireJson): WireObject {
  return { role: 'assistant', content: text, ...(phase ? { phase } : {}) };
}

/** Reasoning at the end of an answer that was cut before it went on. */
function dropLooseReasoning(items: WireObject[], replay: Replay): void {
  const end = items.findLastIndex(item => item.type !== 'reasoning') + 1;
  if (end < items.length) warn(replay, 'Reasoning that nothing followed was left out of the request: the server refuses it.');
  items.length = end;
}

function stateIn(part: AssistantPart, { provider }: Replay): ItemState | undefined {
  return 'providerState' in part ? ownState(part, provider) : undefined;
}

function warn({ warnings }: Replay, message: string): void {
  warnOnce(warnings, 'repaired_history', message);
}
