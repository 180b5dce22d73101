import type { ResumeDecisions, Tool } from '../contract.js';
import type { Message } from '../data/messages.js';
import { openCalls } from './open-calls.js';
import type { SessionState } from './state.js';

/** What the model is told of a call that began before a crash and left no result. */
export const UNKNOWN_EFFECT =
  'The process ended while this call ran, so its result is lost and it is unknown whether it took effect. Check before you repeat it.';

/**
 * What is to happen to each open call: an approved one runs, one that never began runs under the usual rules, and one that began runs again
 * only when its tool is idempotent.
 */
export function decide(
  messages: readonly Message[],
  { approved, started }: Pick<SessionState, 'approved' | 'started'>,
  tools: readonly Tool[],
): ResumeDecisions {
  const decisions = openCalls(messages).map(({ id, name }): [string, ResumeDecisions[string]] => {
    const approval = approved.find(({ callId }) => callId === id);
    const asApproved = { type: 'approved', ...(approval?.arguments === undefined ? {} : { arguments: approval.arguments }) } as const;
    if (!started.includes(id)) return [id, approval ? asApproved : { type: 'run' }];
    const again = tools.some(tool => tool.name === name && tool.idempotent === true);
    return [id, again ? asApproved : { type: 'result', content: UNKNOWN_EFFECT, isError: true }];
  });
  return Object.fromEntries(decisions);
}
