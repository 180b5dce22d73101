import type { Warning } from '@antiphon/engine';
import { userBegins } from '../hand-over/beginning.js';
import { warnOnce } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';

import type { Profile } from './profiles.js';

/** What the model says or thinks where it said or thought nothing; an empty text is refused. */
export const SILENCE = '…';

/**
 * The messages in an order that the server takes; a thread from elsewhere, or one that was interrupted, keeps to none. A strict server wants the
 * model to speak behind its tools before anybody else does, takes instructions only at the beginning and behind the user, and wants to be told when
 * it is to go on with its own last words. An alternating one wants the user to begin, and nobody to speak twice in a row.
 */
export function inRoleOrder(messages: WireObject[], profile: Profile, warnings: Warning[]): WireObject[] {
  const { name, roleOrder } = profile;
  if (roleOrder === 'any') return messages;
  const alternates = roleOrder === 'alternating';
  const ordered: WireObject[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    const isInstruction = message.role === 'system' || message.role === 'developer';
    const isLate = isInstruction && (last?.role === 'assistant' || last?.role === 'tool' || (alternates && last?.role === 'user'));
    if (isLate) warnOnce(warnings, 'other', `${name} takes no instructions here; a later one was sent as words of the user, at its place.`);
    const next = isLate ? { ...message, role: 'user' } : message;
    if (last?.role === 'tool' && next.role === 'user') ordered.push({ role: 'assistant', content: SILENCE });
    const before = ordered.at(-1)?.role;
    if (alternates && next.role === 'assistant' && (before === undefined || before === 'system' || before === 'developer'))
      ordered.push({ role: 'user', content: userBegins(name, warnings) });
    if (alternates && before === next.role && (before === 'user' || before === 'assistant')) ordered.push(together(ordered.pop()!, next));
    else ordered.push(next);
  }
  const end = ordered.at(-1);
  if (roleOrder === 'strict' && end?.role === 'assistant' && end.tool_calls === undefined) ordered.splice(-1, 1, { ...end, prefix: true });
  return ordered;
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
