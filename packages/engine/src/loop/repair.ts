import type { Message, ToolMessage } from '../data/messages.js';
import { messageToolCalls, toolResult } from '../data/messages.js';
import type { Warning } from '../events/events.js';

const UNANSWERED = 'This call was not run: the conversation went on without it.';

/**
 * Makes a transcript well-formed before it leaves: every call is answered exactly once, right behind its message; answers without a call,
 * second answers and assistant messages without content go. What was changed comes back as warnings. A well-formed list is returned as it is.
 */
export function repairMessages(messages: readonly Message[]): {
  readonly messages: readonly Message[];
  readonly warnings: readonly Warning[];
} {
  const warnings: Warning[] = [];
  const warn = (message: string) => warnings.push({ code: 'repaired_history', message });
  const repaired: Message[] = [];
  const used = new Set<ToolMessage>();
  // Answers by call id, in order, so that one pass finds them wherever they stand.
  const answers = new Map<string, ToolMessage[]>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    const list = answers.get(message.callId);
    if (list) list.push(message);
    else answers.set(message.callId, [message]);
  }
  let moved = false;
  messages.forEach((message, i) => {
    if (message.role === 'tool') return;
    if (message.role === 'assistant' && isEmpty(message.content)) {
      warn(`messages[${i}]: an empty assistant message was left out.`);
      return;
    }
    repaired.push(message);
    if (message.role !== 'assistant') return;
    messageToolCalls(message).forEach((call, nth) => {
      const answer = answers.get(call.id)?.shift();
      if (answer) {
        used.add(answer);
        if (messages[i + 1 + nth] !== answer) moved = true;
        repaired.push(answer);
      } else {
        warn(`messages[${i}]: the call ${call.id} to ${call.name} had no result and was answered as not run.`);
        repaired.push(toolResult(call.id, UNANSWERED, { name: call.name, isError: true }));
      }
    });
  });
  messages.forEach((message, i) => {
    if (message.role === 'tool' && !used.has(message))
      warn(`messages[${i}]: a result for ${message.callId} answers no open call and was left out.`);
  });
  return warnings.length === 0 && !moved ? { messages, warnings } : { messages: repaired, warnings };
}

function isEmpty(
  content: string | readonly { readonly type: string; readonly text?: string; readonly providerState?: unknown }[],
): boolean {
  if (typeof content === 'string') return content === '';
  return content.every(part => (part.type === 'text' || part.type === 'reasoning') && !part.text && !part.providerState);
}
