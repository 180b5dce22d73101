import type { Warning } from '@antiphon/engine';
import { warnOnce } from '../hand-over/left-behind.js';
import type { Profile } from './profiles.js';
import type { WireObject } from './wire.js';

/** What the model says or thinks where it said or thought nothing; an empty text is refused. */
export const SILENCE = '…';

/**
 * The messages in an order that the server takes. A strict one wants the model to speak behind its tools before anybody else does, and takes
 * instructions only at the beginning and behind the user; a thread from elsewhere, or one that was interrupted, keeps to neither.
 */
export function inRoleOrder(messages: WireObject[], { name, roleOrder }: Profile, warnings: Warning[]): WireObject[] {
  if (roleOrder === 'any') return messages;
  const ordered: WireObject[] = [];
  for (const message of messages) {
    const before = ordered.at(-1)?.role;
    const isLate = (message.role === 'system' || message.role === 'developer') && (before === 'assistant' || before === 'tool');
    if (isLate) warnOnce(warnings, 'other', `${name} takes no instructions here; a later one was sent as words of the user, at its place.`);
    const next = isLate ? { ...message, role: 'user' } : message;
    if (before === 'tool' && next.role === 'user') ordered.push({ role: 'assistant', content: SILENCE });
    ordered.push(next);
  }
  return ordered;
}
