import { follow } from '../async/signals.js';
import type { Tool } from '../contract.js';
import { distinctId } from '../data/distinct-id.js';
import type { ToolCall } from '../data/parts.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';
import { type Burst, inBursts } from '../events/bursts.js';
import type { AdapterEvent, RetryEvent, StreamEvent } from '../events/events.js';
import { RunFold, type Verdict } from '../events/fold.js';
import { repairMessages } from '../history/repair.js';
import type { Judgement, OutputRun } from '../output/output-run.js';
import { noSuchTool } from '../tools/compact.js';
import type { Answered } from './answer-calls.js';
import { BudgetWatch } from './budget.js';
import { mayRunTools } from './may-run-tools.js';
import { callModel } from './model-call.js';
import { answering, structuredOutput } from './on-demand.js';
import type { Plan } from './plan.js';
import { prepare } from './prepare.js';
import { counted, told } from './told.js';

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
  const output = plan.output && new (await structuredOutput.get()).OutputRun(plan.output);
  const waitsFor = plan.resume && (yield* (await answering.get()).resumeCalls(plan, signal, fold, plan.resume));
  if (waitsFor) return waitsFor;
  for (let turn = 1; ; turn++) {
    signal.throwIfAborted();
    const { adapter, request: prepared, tools } = await prepare(plan, turn, fold);
    const request = output?.request(prepared, adapter) ?? prepared;
    const asked = { ids: new CallIds(), tools, signal, ...(output ? { output } : {}) };
    for await (const burst of callModel(adapter, request, { signal, requestId, clock }, plan)) yield handOut(burst, fold, asked);
    const step = fold.lastStep;
    if (!step) throw new AdapterError('malformed_response', `${adapter.provider}: the answer held no message.`);
    if (step.finishReason === 'error')
      throw new AdapterError('unknown', `${adapter.provider}: the model ended with an error${inBrackets(step.rawFinishReason)}.`);
    if (plan.kind === 'model') {
      const judged = await output?.judge(step);
      if (judged) yield told(fold, stepEnd(turn, judged));
      if (judged?.type === 'repair') continue;
      return judged ? verdictOfAnswer(judged) : { status: 'completed' };
    }

    let answered: Answered | undefined;
    if (step.toolCalls.length > 0) {
      if (plan.manual) {
        yield told(fold, [{ type: 'step_end', step: turn }]);
        return { status: 'interrupted', reason: 'manual_tools', pending: { calls: step.toolCalls } };
      }
      const { answerCalls } = await answering.get();
      answered = yield* answerCalls({ ...plan, tools }, signal, fold, step);
    }
    const stopped = signal.aborted;
    // A run that was stopped waits for nothing: what its tools asked for is answered too.
    if (stopped) yield told(fold, fold.openCalls.map(cutOff));
    // An answer that only paused is no answer yet: the thread goes out again as it is.
    const paused = step.paused === true && plan.kind === 'loop' && !answered;
    const waiting = answered?.waiting;
    const judged = waiting || paused || (stopped && answered) ? undefined : await output?.judge(step);
    yield told(fold, stepEnd(turn, judged));
    if (stopped && answered) signal.throwIfAborted();

    if (waiting) return waiting;
    if (judged && judged.type !== 'repair') return verdictOfAnswer(judged);
    if (!judged) {
      if (plan.kind === 'step' || (!answered && !paused)) return { status: 'completed' };
      // Only a model that asked for tools is called again; any other way to end would make it answer itself.
      if (!paused && !mayRunTools(step)) return output ? { status: 'failed', error: output.missing(step) } : { status: 'completed' };
    }
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
    if (!output) yield counted(fold, checkCall(distinct, tools));
    else for (const seen of output.push(distinct)) yield counted(fold, checkCall(seen, tools));
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

function inBrackets(word: string | undefined): string {
  return word === undefined ? '' : ` (${word})`;
}

function cutOff(call: ToolCall): StreamEvent {
  const content = 'The run was stopped before this call was done, so it has no result.';
  return { type: 'tool_result', callId: call.id, name: call.name, content, isError: true };
}

/** A call to a tool that does not exist is marked as soon as it is known. */
function checkCall(event: StreamEvent, tools: ReadonlyMap<string, Tool>): StreamEvent {
  if (event.type !== 'tool_call' || event.call.invalid || tools.size === 0 || tools.has(event.call.name)) return event;
  const message = noSuchTool(event.call.name, [...tools.keys()]);
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
