// The part of the loop that runs tools. It is loaded when a model calls the first one.
import type { ResumeDecisions } from '../contract.js';
import { messageToolCalls } from '../data/messages.js';
import type { ToolCall } from '../data/parts.js';
import type { Burst } from '../events/bursts.js';
import type { StreamEvent } from '../events/events.js';
import type { RunFold, Verdict } from '../events/fold.js';
import type { Step } from '../events/outcome.js';
import type { BatchReport } from '../tools/batch.js';
import { runCalls } from '../tools/run-calls.js';
import { mayRunTools } from './may-run-tools.js';
import type { Plan } from './plan.js';
import { told } from './told.js';

/** All calls of a step have their answer, but for those that the run waits for. */
export interface Answered {
  readonly waiting?: Verdict;
}

export async function* answerCalls(
  plan: Plan,
  signal: AbortSignal,
  fold: RunFold,
  step: Step,
): AsyncGenerator<Burst<StreamEvent>, Answered> {
  const calls = mayRunTools(step) ? step.toolCalls : step.toolCalls.map(call => notRun(call, step));
  const waiting = interruption(yield* runBatch(calls, plan, signal, fold));
  return waiting ? { waiting } : {};
}

/** Answers what an earlier run left open; a verdict when something stays open. */
export async function* resumeCalls(
  plan: Plan,
  signal: AbortSignal,
  fold: RunFold,
  decisions: ResumeDecisions,
): AsyncGenerator<Burst<StreamEvent>, Verdict | undefined> {
  const at = plan.messages.findLastIndex(({ role }) => role === 'assistant');
  const message = plan.messages[at];
  // Ids may come again from turn to turn: only what stands behind the message answers its calls.
  const answered = new Set(plan.messages.slice(at + 1).flatMap(other => (other.role === 'tool' ? [other.callId] : [])));
  const open =
    message?.role === 'assistant' ? messageToolCalls(message).filter(({ id }) => Object.hasOwn(decisions, id) && !answered.has(id)) : [];
  const toRun: ToolCall[] = [];
  const approved = new Set<string>();
  for (const call of open) {
    const decision = decisions[call.id];
    if (decision?.type === 'result') {
      const { content, isError } = decision;
      const result = { type: 'tool_result' as const, callId: call.id, name: call.name, content };
      yield told(fold, [{ ...result, ...(isError === undefined ? {} : { isError }) }]);
      continue;
    }
    if (decision?.type === 'approved') approved.add(call.id);
    toRun.push(decision?.type === 'approved' && decision.arguments ? { ...call, arguments: decision.arguments } : call);
  }
  return interruption(yield* runBatch(toRun, plan, signal, fold, approved));
}

async function* runBatch(
  calls: readonly ToolCall[],
  plan: Plan,
  signal: AbortSignal,
  fold: RunFold,
  approved?: ReadonlySet<string>,
): AsyncGenerator<Burst<StreamEvent>, BatchReport> {
  const batch = runCalls(calls, { ...plan, signal }, approved);
  for (;;) {
    const { done, value } = await batch.next();
    if (done) return value;
    yield told(fold, [value]);
  }
}

function notRun(call: ToolCall, step: Step): ToolCall {
  const message = `The answer ended with "${step.rawFinishReason ?? step.finishReason}", so this call was not run.`;
  return call.invalid ? call : { ...call, invalid: { reason: 'truncated', message } };
}

/** What a batch waits for, the most urgent first; the others stand in `pending` beside it. */
function interruption(report: BatchReport): Verdict | undefined {
  const { questions, approvals, manual, halts } = report;
  const pending = {
    ...(questions.length > 0 ? { questions } : {}),
    ...(approvals.length > 0 ? { approvals } : {}),
    ...(manual.length > 0 ? { calls: manual } : {}),
    ...(halts.length > 0 ? { halts } : {}),
  };
  const reason =
    questions.length > 0
      ? 'ask_user'
      : halts[0]
        ? { halt: halts[0].reason }
        : approvals.length > 0
          ? 'approval'
          : manual.length > 0
            ? 'manual_tools'
            : undefined;
  return reason === undefined ? undefined : { status: 'interrupted', reason, pending };
}
