import type { Warning } from '@antiphon/engine';
import { userBegins } from '../hand-over/beginning.js';
import { warnOnce } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';

import type { Profile } from './profiles.js';

/** What the model says or thinks where it said or thought nothing; an empty text is refused. */
export const SILENCE = '…';

/** The messages in an order that the server takes; a thread from elsewhere, or one that was interrupted, keeps to none. */
export function inRoleOrder(messages: WireObject[], { name, roleOrder }: Profile, warnings: Warning[]): WireObject[] {
  switch (roleOrder) {
    case 'any':
      return messages;
    case 'strict':
      return goingOn(speakingBehindTools(withoutInstructions(['assistant', 'tool'], messages, name, warnings)));
    case 'alternating':
      return takingTurns(speakingBehindTools(withoutInstructions(['user', 'assistant', 'tool'], messages, name, warnings)), name, warnings);
  }
}

/** Instructions right behind one of these roles become words of the user. */
function withoutInstructions(behind: readonly WireJson[], messages: WireObject[], name: string, warnings: Warning[]): WireObject[] {
  const ordered: WireObject[] = [];
  for (const message of messages) {
    const isLate = isInstruction(message.role) && behind.includes(ordered.at(-1)?.role);
    if (isLate) warnOnce(warnings, 'other', `${name} takes no instructions here; a later one was sent as words of the user, at its place.`);
    ordered.push(isLate ? { ...message, role: 'user' } : message);
  }
  return ordered;
}

/** The model says something behind its tools before the user does. */
function speakingBehindTools(messages: WireObject[]): WireObject[] {
  return messages.flatMap((message, i) =>
    message.role === 'user' && messages[i - 1]?.role === 'tool' ? [{ role: 'assistant', content: SILENCE }, message] : [message],
  );
}

/** The model is told when it is to go on with its own last words. */
function goingOn(messages: WireObject[]): WireObject[] {
  const last = messages.at(-1);
  const goesOn = last?.role === 'assistant' && last.tool_calls === undefined;
  return goesOn ? [...messages.slice(0, -1), { ...last, prefix: true }] : messages;
}

/** The user begins, and neither user nor model speaks twice in a row. */
function takingTurns(messages: WireObject[], name: string, warnings: Warning[]): WireObject[] {
  const turns: WireObject[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === 'assistant' && (last === undefined || isInstruction(last.role)))
      turns.push({ role: 'user', content: userBegins(name, warnings) });
    const isSame = last?.role === message.role && (message.role === 'user' || message.role === 'assistant');
    if (last && isSame) turns.splice(-1, 1, together(last, message));
    else turns.push(message);
  }
  return turns;
}

function isInstruction(role: WireJson): boolean {
  return role === 'system' || role === 'developer';
}

/** Two messages of one role as one. */
function together(a: WireObject, b: WireObject): WireObject {
  const calls = [a, b].flatMap(({ tool_calls }) => (Array.isArray(tool_calls) ? tool_calls : []));
  return { ...a, ...b, content: joined(a.content, b.content), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

function joined(a: WireJson, b: WireJson): WireJson {
  if (typeof a !== 'object' && typeof b !== 'object') return [a, b].filter(text => text !== undefined && text !== '').join('\n\n');
  return [a, b].flatMap(content =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [],
  );
}
