import { distinctId } from '../data/distinct-id.js';
import type { AssistantMessage, Message, ToolMessage } from '../data/messages.js';
import { toolResult } from '../data/messages.js';
import type { AssistantPart } from '../data/parts.js';
import type { Warning } from '../events/finish.js';

const UNANSWERED = 'This call was not run: the conversation went on without it.';

/** An assistant message and the places of its answers, in the order of its calls. */
interface Turn {
  readonly message: AssistantMessage;
  readonly slots: { readonly id: string; readonly name: string; answer?: ToolMessage }[];
}

/**
 * Makes a transcript well-formed before it leaves: every call is answered exactly once, right behind its message; answers without a call,
 * second answers and assistant messages without content go; two calls of one message that share an id are told apart. An answer belongs to
 * the nearest call before it with its id that is still open, wherever it stands. What was changed comes back as warnings (an answer that was
 * only moved is no change worth one). A well-formed list is returned as it is. Calls of the last assistant message that are in `leaveOpen` stay
 * without an answer. Linear.
 *
 * ```ts
 * repairMessages([assistant([call]), user('Never mind.')]).messages; // the call answered as not run, then the user's message
 * ```
 */
export function repairMessages(
  messages: readonly Message[],
  leaveOpen: ReadonlySet<string> = new Set(),
): {
  readonly messages: readonly Message[];
  readonly warnings: readonly Warning[];
} {
  const warnings: Warning[] = [];
  const warn = (message: string) => warnings.push({ code: 'repaired_history', message });
  const kept: (Exclude<Message, AssistantMessage | ToolMessage> | Turn)[] = [];
  const open = new Map<string, Turn['slots']>();
  messages.forEach((message, i) => {
    if (message.role === 'tool') {
      const slot = open.get(message.callId)?.shift();
      if (slot) slot.answer = message;
      else warn(`messages[${i}]: a result for ${message.callId} answers no open call and was left out.`);
    } else if (message.role === 'assistant') {
      if (isEmpty(message.content)) return void warn(`messages[${i}]: an empty assistant message was left out.`);
      const turn = turnOf(message, original => warn(`messages[${i}]: two calls have the id ${original}; the second was given another.`));
      const own = new Map<string, Turn['slots']>();
      for (const { slot, askedAs } of turn.calls) own.set(askedAs, [...(own.get(askedAs) ?? []), slot]);
      for (const [id, slots] of own) open.set(id, slots);
      kept.push(turn);
    } else kept.push(message);
  });
  const last = kept.findLast(item => 'slots' in item);
  const repaired = kept.flatMap((item): readonly Message[] => {
    if ('role' in item) return [item];
    const answers = item.slots.flatMap(({ id, name, answer }) => {
      if (answer) return answer.callId === id ? answer : { ...answer, callId: id };
      if (item === last && leaveOpen.has(id)) return [];
      warn(`The call ${id} to ${name} had no result and was answered as not run.`);
      return toolResult(id, UNANSWERED, { name, isError: true });
    });
    return [item.message, ...answers];
  });
  const same = repaired.length === messages.length && repaired.every((message, i) => message === messages[i]);
  return { messages: same ? messages : repaired, warnings };
}

function turnOf(message: AssistantMessage, onSecond: (id: string) => void) {
  const slots: Turn['slots'] = [];
  const calls: { readonly slot: Turn['slots'][number]; readonly askedAs: string }[] = [];
  if (typeof message.content === 'string') return { message, slots, calls };
  const ids = new Set<string>();
  let changed = false;
  const content = message.content.map((part): AssistantPart => {
    if (part.type !== 'tool_call') return part;
    const id = distinctId(part.id, ids);
    const slot = { id, name: part.name };
    slots.push(slot);
    calls.push({ slot, askedAs: part.id });
    if (id === part.id) return part;
    changed = true;
    onSecond(part.id);
    return { ...part, id };
  });
  return { message: changed ? { ...message, content } : message, slots, calls };
}

function isEmpty(content: AssistantMessage['content']): boolean {
  if (typeof content === 'string') return content === '';
  return content.every(part => (part.type === 'text' || part.type === 'reasoning') && !part.text && !part.providerState);
}
