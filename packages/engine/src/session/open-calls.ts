import { type Message, messageToolCalls } from '../data/messages.js';
import type { ToolCall } from '../data/parts.js';

/** Calls at the end of the conversation that have no result: those of the last assistant message, when only results stand behind it. */
export function openCalls(messages: Pick<readonly Message[], 'length' | 'at'>): readonly ToolCall[] {
  const answered = new Set<string>();
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages.at(place);
    if (message?.role === 'tool') answered.add(message.callId);
    else return message?.role === 'assistant' ? messageToolCalls(message).filter(call => !answered.has(call.id)) : [];
  }
  return [];
}

/** Ids of the calls that have no result, wherever they stand. */
export function unansweredIds(messages: readonly Message[]): ReadonlySet<string> {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') open.delete(message.callId);
    else if (message.role === 'assistant') for (const call of messageToolCalls(message)) open.add(call.id);
  }
  return open;
}

/** True when the model has something to say to the last message, or a call of its own to wait for. */
export function isUnanswered(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'user' || last?.role === 'tool' || openCalls(messages).length > 0;
}
