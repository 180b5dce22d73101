import type { ChatRequest } from '../adapters/chat.js';
import type { Message } from '../data/messages.js';
import type { ToolCall } from '../data/parts.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';
import type { AdapterEvent, RetryEvent, StreamEvent } from '../events/events.js';
import { RunFold, type Verdict } from '../events/fold.js';
import type { Step } from '../events/outcome.js';
import { type BatchReport, runCalls } from '../tools/run-calls.js';
import { toolSpec } from '../tools/tool.js';
import { callModel } from './model-call.js';
import type { Plan } from './plan.js';
import { repairMessages } from './repair.js';
import { follow } from './signals.js';

/**
 * The loop: model call, its tools, again, until the model is done or something stops it. It never throws for the world's failures: the last
 * event is always `end`, and every tool call has been answered or stands in the outcome's `pending`.
 */
export async function* run(plan: Plan, stop: AbortController, caller?: AbortSignal): AsyncGenerator<StreamEvent, void> {
  const release = follow(stop, caller);
  const cancelDeadline = setDeadline(plan, stop);
  const fold = new RunFold({ messages: plan.messages, requestId: plan.requestId });
  let verdict: Verdict;
  try {
    verdict = yield* turns(plan, stop.signal, fold);
  } catch (thrown) {
    verdict = verdictOfThrown(thrown, stop.signal);
  } finally {
    cancelDeadline();
    release();
  }
  yield { type: 'end', outcome: fold.outcome(verdict) };
}

async function* turns(plan: Plan, signal: AbortSignal, fold: RunFold): AsyncGenerator<StreamEvent, Verdict> {
  for (let turn = 1; ; turn++) {
    signal.throwIfAborted();
    const { messages, warnings } = repairMessages(fold.messages);
    for (const warning of warnings) {
      const event: StreamEvent = { type: 'warning', warning };
      fold.push(event);
      yield event;
    }
    for await (const event of callModel(plan.adapter, requestOf(plan, messages), { ...plan, signal }, plan.retry)) {
      const checked = checkCall(event, plan);
      fold.push(checked);
      yield checked;
    }
    const step = fold.steps.at(-1);
    if (!step) throw new AdapterError('malformed_response', `${plan.adapter.provider}: the answer held no message.`);
    if (step.finishReason === 'error') throw new AdapterError('unknown', `${plan.adapter.provider}: the model ended with an error.`);
    if (plan.kind === 'model') return { status: 'completed' };

    let report: BatchReport | undefined;
    if (step.toolCalls.length > 0) {
      if (plan.manual) {
        yield* stepEnd(fold, turn);
        return { status: 'interrupted', reason: 'manual_tools', pending: { calls: step.toolCalls } };
      }
      report = yield* answerCalls(plan, signal, fold, step);
    }
    yield* stepEnd(fold, turn);
    signal.throwIfAborted();

    const waiting = report && interruption(report);
    if (waiting) return waiting;
    if (!report || plan.kind === 'step') return { status: 'completed' };
    // Only a model that asked for tools is called again; any other way to end would make it answer itself.
    if (!mayRunTools(step)) return { status: 'completed' };
    if (plan.stopWhen?.(fold.steps)) return { status: 'interrupted', reason: 'stop_when', pending: {} };
    if (turn >= plan.maxTurns) return { status: 'interrupted', reason: 'max_turns', pending: {} };
  }
}

async function* answerCalls(plan: Plan, signal: AbortSignal, fold: RunFold, step: Step): AsyncGenerator<StreamEvent, BatchReport> {
  const calls = mayRunTools(step) ? step.toolCalls : step.toolCalls.map(call => notRun(call, step));
  const batch = runCalls(calls, { ...plan, signal });
  for (;;) {
    const { done, value } = await batch.next();
    if (done) return value;
    fold.push(value);
    yield value;
  }
}

function* stepEnd(fold: RunFold, step: number): Generator<StreamEvent> {
  const event: StreamEvent = { type: 'step_end', step };
  fold.push(event);
  yield event;
}

function mayRunTools(step: Step): boolean {
  return step.finishReason === 'tool_calls' || step.finishReason === 'stop' || step.finishReason === 'length';
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
    ...(halts[0]?.value === undefined ? {} : { value: halts[0].value }),
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

function requestOf(plan: Plan, messages: readonly Message[]): ChatRequest {
  const tools = [...plan.tools.values()].map(toolSpec);
  return {
    ...plan.settings,
    messages,
    ...(tools.length > 0 ? { tools } : {}),
    ...(plan.toolChoice === undefined || tools.length === 0 ? {} : { toolChoice: plan.toolChoice }),
  };
}

/** A call to a tool that does not exist is marked as soon as it is known. */
function checkCall(event: AdapterEvent | RetryEvent, plan: Plan): AdapterEvent | RetryEvent {
  if (event.type !== 'tool_call' || event.call.invalid || plan.tools.size === 0 || plan.tools.has(event.call.name)) return event;
  const names = [...plan.tools.keys()].join(', ');
  const message = `There is no tool "${event.call.name}". The tools are: ${names}.`;
  return { ...event, call: { ...event.call, invalid: { reason: 'unknown_tool', message } } };
}

function setDeadline(plan: Plan, stop: AbortController): () => void {
  const { timeoutMs } = plan;
  if (timeoutMs === undefined) return () => {};
  return plan.clock.setTimer(timeoutMs, () => {
    stop.abort(new AdapterError('timeout', `The run took longer than ${timeoutMs} ms and was stopped.`, { retryable: true }));
  });
}

function verdictOfThrown(thrown: unknown, signal: AbortSignal): Verdict {
  // A deadline aborts with an error of ours; any other abort was wished for.
  if (AntiphonError.isInstance(thrown)) return { status: 'failed', error: thrown };
  if (signal.aborted) return { status: 'interrupted', reason: 'aborted', pending: {} };
  return { status: 'failed', error: new AdapterError('unknown', describe(thrown), { cause: thrown }) };
}
