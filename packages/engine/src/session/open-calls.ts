import { type Message, messageToolCalls } from '../data/messages.js';
import type { ToolCall } from '../data/parts.js';
import type { Pending } from '../events/outcome.js';

/** True when something must be answered from outside before the conversation can go on. */
export function isWaiting({ questions = [], approvals = [], calls = [] }: Pending): boolean {
  return questions.length + approvals.length + calls.length > 0;
}

/** Ids of everything that is waited for. */
export function waitingIds({ questions = [], approvals = [], calls = [] }: Pending): string[] {
  return [...questions.map(question => question.callId), ...[...approvals, ...calls].map(call => call.id)];
}

/** What is pending without the calls that `keep` refuses. */
export function pendingOnly(pending: Pending, keep: (callId: string) => boolean): Pending {
  const questions = pending.questions?.filter(question => keep(question.callId)) ?? [];
  const approvals = pending.approvals?.filter(call => keep(call.id)) ?? [];
  const calls = pending.calls?.filter(call => keep(call.id)) ?? [];
  return {
    ...(questions.length > 0 ? { questions } : {}),
    ...(approvals.length > 0 ? { approvals } : {}),
    ...(calls.length > 0 ? { calls } : {}),
    ...(pending.halts === undefined ? {} : { halts: pending.halts }),
  };
}

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
