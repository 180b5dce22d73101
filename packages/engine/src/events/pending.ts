import type { Pending } from './outcome.js';

/** True when something must be answered from outside before the conversation can go on. */
export function isWaiting(pending: Pending): boolean {
  return waitingIds(pending).length > 0;
}

/** Ids of the calls that are waited for. */
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
