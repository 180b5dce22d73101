import type { ResumeDecisions, Tool } from '../contract.js';
import { messageToolCalls } from '../data/messages.js';
import type { ToolCall } from '../data/parts.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';
import { type Burst, inBursts } from '../events/bursts.js';
import type { AdapterEvent, RetryEvent, StreamEvent } from '../events/events.js';
import { RunFold, type Verdict } from '../events/fold.js';
import type { Step } from '../events/outcome.js';
import { type Judgement, OutputRun } from '../output/output-run.js';
import type { BatchReport } from '../tools/batch.js';
import { runCalls } from '../tools/run-calls.js';
import { callModel } from './model-call.js';
import type { Plan } from './plan.js';
import { prepare } from './prepare.js';
import { distinctId, repairMessages } from './repair.js';
import { follow } from './signals.js';
import { BudgetWatch } from './stop.js';

/**
 * The loop: model call, its tools, again, until the model is done or something stops it. It never throws for the world's failures: the last
 * event is always `end`, and every tool call has been answered or stands in the outcome's `pending`.
 */
export function run(plan: Plan, stop: AbortController, caller?: AbortSignal): AsyncIterable<StreamEvent> {
  return inBursts(runInBursts(plan, stop, caller));
}

async function* runInBursts(plan: Plan, stop: AbortController, caller?: AbortSignal): AsyncGenerator<Burst<StreamEvent>, void> {
  const release = follow(stop, caller);
  const deadline = setDeadline(plan, stop);
  const { messages, warnings } = repairMessages(plan.messages, new Set(Object.keys(plan.resume ?? {})));
  const fold = new RunFold({ messages, requestId: plan.requestId });
  let verdict: Verdict;
  try {
    stop.signal.throwIfAborted();
    yield told(
      fold,
      warnings.map(warning => ({ type: 'warning', warning })),
    );
    verdict = yield* turns(plan, stop.signal, fold);
  } catch (thrown) {
    verdict = verdictOfThrown(thrown, stop.signal, deadline.error);
    // Calls that came whole before the end were never run. After `generate` they are the caller's, as ever.
    if (plan.kind !== 'model') yield told(fold, fold.openCalls.map(cutOff));
  } finally {
    deadline.cancel();
    release();
  }
  yield [{ type: 'end', outcome: fold.outcome(verdict) }];
}

async function* turns(plan: Plan, signal: AbortSignal, fold: RunFold): AsyncGenerator<Burst<StreamEvent>, Verdict> {
  const { clock, requestId } = plan;
  const began = clock.now();
  const budget = plan.budget && new BudgetWatch(plan.budget);
  const output = plan.output && new OutputRun(plan.output);
  const waitsFor = plan.resume && (yield* resumeCalls(plan, signal, fold, plan.resume));
  if (waitsFor) return waitsFor;
  for (let turn = 1; ; turn++) {
    signal.throwIfAborted();
    const { adapter, request: prepared, tools } = await prepare(plan, turn, fold);
    const request = output?.request(prepared, adapter) ?? prepared;
    const asked = { ids: new CallIds(), tools, signal, ...(output ? { output } : {}) };
    for await (const burst of callModel(adapter, request, { signal, requestId, clock }, plan)) yield handOut(burst, fold, asked);
    const step = fold.lastStep;
    if (!step) throw new AdapterError('malformed_response', `${adapter.provider}: the answer held no message.`);
    if (step.finishReason === 'error') throw new AdapterError('unknown', `${adapter.provider}: the model ended with an error.`);
    if (plan.kind === 'model') {
      const judged = await output?.judge(step);
      if (judged) yield told(fold, stepEnd(turn, judged));
      if (judged?.type === 'repair') continue;
      return judged ? verdictOfAnswer(judged) : { status: 'completed' };
    }

    let report: BatchReport | undefined;
    if (step.toolCalls.length > 0) {
      if (plan.manual) {
        yield told(fold, [{ type: 'step_end', step: turn }]);
        return { status: 'interrupted', reason: 'manual_tools', pending: { calls: step.toolCalls } };
      }
      report = yield* answerCalls({ ...plan, tools }, signal, fold, step);
    }
    const stopped = signal.aborted;
    // A run that was stopped waits for nothing: what its tools asked for is answered too.
    if (stopped) yield told(fold, fold.openCalls.map(cutOff));
    const waiting = report && interruption(report);
    // An answer that only paused is no answer yet: the thread goes out again as it is.
    const paused = step.paused === true && plan.kind === 'loop' && !report;
    const judged = waiting || paused || (stopped && report) ? undefined : await output?.judge(step);
    yield told(fold, stepEnd(turn, judged));
    if (stopped && report) signal.throwIfAborted();

    if (waiting) return waiting;
    if (judged?.type === 'repair') continue;
    if (judged) return verdictOfAnswer(judged);
    if (plan.kind === 'step' || (!report && !paused)) return { status: 'completed' };
    // Only a model that asked for tools is called again; any other way to end would make it answer itself.
    if (!paused && !mayRunTools(step)) return output ? { status: 'failed', error: output.missing(step) } : { status: 'completed' };
    if (await plan.stopWhen?.(fold.steps)) return { status: 'interrupted', reason: 'stop_when', pending: {} };
    if (budget?.isSpent(step, { usage: fold.usage, cost: fold.costTotal, elapsedMs: clock.now() - began }))
      return { status: 'interrupted', reason: 'budget', pending: {} };
    if (turn >= plan.maxTurns) return { status: 'interrupted', reason: 'max_turns', pending: {} };
  }
}

/** Events of a model call on their way to the reader. Once somebody stops the run, what was not yet given out is in no outcome. */
function* handOut(
  burst: Burst<AdapterEvent | RetryEvent>,
  fold: RunFold,
  {
    ids,
    tools,
    output,
    signal,
  }: { readonly ids: CallIds; readonly tools: ReadonlyMap<string, Tool>; readonly output?: OutputRun; readonly signal: AbortSignal },
): Generator<StreamEvent> {
  for (const event of burst) {
    if (signal.aborted) return;
    const distinct = ids.distinct(event);
    for (const seen of output?.push(distinct) ?? [distinct]) {
      const checked = checkCall(seen, tools);
      fold.push(checked);
      yield checked;
    }
  }
}

function* told(fold: RunFold, events: readonly StreamEvent[]): Generator<StreamEvent> {
  for (const event of events) {
    fold.push(event);
    yield event;
  }
}

/** The end of a step, after what there is to say about its structured answer. */
function stepEnd(step: number, judged: Judgement | undefined): StreamEvent[] {
  const warnings = (judged?.warnings ?? []).map(warning => ({ type: 'warning' as const, warning }));
  return [...warnings, { type: 'step_end', step, ...(judged?.type === 'repair' ? { followUp: judged.messages } : {}) }];
}

function verdictOfAnswer(judged: Exclude<Judgement, { type: 'repair' }>): Verdict {
  return judged.type === 'value' ? { status: 'completed', output: judged.value } : { status: 'failed', error: judged.error };
}

function cutOff(call: ToolCall): StreamEvent {
  const content = 'The run was stopped before this call was done, so it has no result.';
  return { type: 'tool_result', callId: call.id, name: call.name, content, isError: true };
}

async function* answerCalls(plan: Plan, signal: AbortSignal, fold: RunFold, step: Step): AsyncGenerator<Burst<StreamEvent>, BatchReport> {
  const calls = mayRunTools(step) ? step.toolCalls : step.toolCalls.map(call => notRun(call, step));
  const batch = runCalls(calls, { ...plan, signal });
  for (;;) {
    const { done, value } = await batch.next();
    if (done) return value;
    yield told(fold, [value]);
  }
}

/** Answers what an earlier run left open; a verdict when something stays open. */
async function* resumeCalls(
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
  const batch = runCalls(toRun, { ...plan, signal }, approved);
  for (;;) {
    const { done, value } = await batch.next();
    if (done) return interruption(value);
    yield told(fold, [value]);
  }
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

/** A call to a tool that does not exist is marked as soon as it is known. */
function checkCall(event: StreamEvent, tools: ReadonlyMap<string, Tool>): StreamEvent {
  if (event.type !== 'tool_call' || event.call.invalid || tools.size === 0 || tools.has(event.call.name)) return event;
  const names = [...tools.keys()].join(', ');
  const message = `There is no tool "${event.call.name}". The tools are: ${names}.`;
  return { ...event, call: { ...event.call, invalid: { reason: 'unknown_tool', message } } };
}

/** Some servers give two calls of one message the same id; a result must find its call. */
class CallIds {
  readonly #taken = new Set<string>();
  readonly #byIndex = new Map<number, string>();

  distinct<E extends AdapterEvent | RetryEvent>(event: E): E {
    switch (event.type) {
      case 'tool_call_start':
      case 'tool_call_delta': {
        const id = this.#idOf(event.index, event.id);
        return id === event.id ? event : { ...event, id };
      }
      case 'tool_call': {
        const id = this.#idOf(event.index, event.call.id);
        return id === event.call.id ? event : { ...event, call: { ...event.call, id } };
      }
    }
    return event;
  }

  #idOf(index: number, asked: string): string {
    const id = this.#byIndex.get(index) ?? distinctId(asked, this.#taken);
    this.#byIndex.set(index, id);
    return id;
  }
}

function setDeadline({ timeoutMs, clock }: Plan, stop: AbortController): { readonly error?: AdapterError; readonly cancel: () => void } {
  if (timeoutMs === undefined) return { cancel: () => {} };
  const error = new AdapterError('timeout', `The run took longer than ${timeoutMs} ms and was stopped.`, { retryable: true });
  return { error, cancel: clock.setTimer(timeoutMs, () => stop.abort(error)) };
}

/** An abort was wished for, whatever its reason is; only our own deadline is a failure. */
function verdictOfThrown(thrown: unknown, signal: AbortSignal, deadline: AdapterError | undefined): Verdict {
  if (signal.aborted) {
    const late = deadline !== undefined && signal.reason === deadline;
    return late ? { status: 'failed', error: deadline } : { status: 'interrupted', reason: 'aborted', pending: {} };
  }
  if (AntiphonError.isInstance(thrown)) return { status: 'failed', error: thrown };
  return { status: 'failed', error: new AdapterError('unknown', describe(thrown), { cause: thrown }) };
}
