import type { Tool, ToolFailure, ToolOutcome } from '../contract.js';
import { defined } from '../data/defined.js';
import { toJson } from '../data/json.js';
import type { ToolCall } from '../data/parts.js';
import { isToolContent } from '../data/validate.js';
import { describe, ToolError } from '../errors.js';
import type { StreamEvent, ToolResultEvent } from '../events/events.js';
import type { PendingQuestion } from '../events/outcome.js';
import { checkArguments } from './arguments.js';
import type { BatchContext, BatchReport } from './batch.js';
import { helpFor, noSuchTool } from './compact.js';
import { encodeFailure, encodeResult } from './encode.js';
import { Inbox } from './inbox.js';
import { runOne } from './run-one.js';

/** How a call left the batch. */
type Left =
  | { readonly as: 'answered' }
  | { readonly as: 'asked'; readonly question: PendingQuestion }
  | { readonly as: 'approval' | 'manual' }
  | { readonly as: 'halted'; readonly halt: BatchReport['halts'][number] };

const ANSWERED: Left = { as: 'answered' };

/**
 * Runs the calls of one assistant message, all at once, and yields what happens as it happens. Every call gets exactly one `tool_result`,
 * or stands in the report: waiting for an answer, an approval or the caller. One that asks or halts does not stop its siblings. `approved`
 * calls are not asked about again.
 */
export async function* runCalls(
  calls: readonly ToolCall[],
  batch: BatchContext,
  approved: ReadonlySet<string> = new Set(),
): AsyncGenerator<StreamEvent, BatchReport> {
  const events = new Inbox<StreamEvent>();
  const limits = new Map<string, Semaphore>();
  const left = new Map<string, Left>();
  const started: Promise<void>[] = [];
  let lastSequential: Promise<unknown> = Promise.resolve();
  for (const call of calls) {
    const { sequential = false } = batch.tools.get(call.name) ?? {};
    const before = sequential ? Promise.all(started) : lastSequential;
    const task = before.then(async () => {
      left.set(call.id, await handle(call, batch, approved.has(call.id), limits, event => events.push(event)));
    });
    started.push(task);
    if (sequential) lastSequential = task;
  }
  const all = Promise.all(started).then(
    () => events.close(),
    error => events.close(error),
  );
  yield* events;
  await all;
  return report(calls, left);
}

async function handle(
  call: ToolCall,
  batch: BatchContext,
  isApproved: boolean,
  limits: Map<string, Semaphore>,
  emit: (event: StreamEvent) => void,
): Promise<Left> {
  const tool = call.invalid ? undefined : batch.tools.get(call.name);
  if (!tool) {
    emit(failed(call, call.invalid?.message ?? noSuchTool(call.name, [...batch.tools.keys()])));
    return ANSWERED;
  }
  const manual = tool.manual || !tool.run;
  if (manual || (!isApproved && needsApproval(tool, call))) {
    // Nobody should be asked about a call that cannot be run anyway.
    const checked = await checkArguments(tool, call.arguments);
    if (checked instanceof ToolError) {
      emit(failed(call, failureText(tool, checked, batch)));
      return ANSWERED;
    }
    if (manual) return { as: 'manual' };
    emit({ type: 'approval_request', call });
    return { as: 'approval' };
  }
  const limit = semaphoreFor(tool, limits);
  await limit?.enter();
  try {
    // A call that waited for its turn until the run was stopped never starts.
    if (!batch.signal.aborted) emit({ type: 'tool_start', call });
    const outcome = await runOne(tool, call, batch, value => emit({ type: 'tool_progress', callId: call.id, name: call.name, value }));
    return await settle(tool, call, outcome, batch, emit);
  } finally {
    limit?.leave();
  }
}

async function settle(
  tool: Tool,
  call: ToolCall,
  outcome: ToolOutcome,
  batch: BatchContext,
  emit: (event: StreamEvent) => void,
): Promise<Left> {
  switch (outcome.type) {
    case 'ok':
      emit(encoded(call, batch, () => outcome.value));
      return ANSWERED;
    case 'halt': {
      emit(encoded(call, batch, () => outcome.value));
      const value = outcome.value === undefined ? {} : { value: toJson(outcome.value, `The value of halt() in "${call.name}"`) };
      return { as: 'halted', halt: { callId: call.id, reason: outcome.reason, ...value } };
    }
    case 'ask_user': {
      const { question, options } = outcome;
      const asked: PendingQuestion = { callId: call.id, name: call.name, question, ...defined({ options }) };
      emit({ type: 'question', ...asked });
      return { as: 'asked', question: asked };
    }
    case 'fail':
    case 'error':
      return settleFailure(tool, call, outcome, batch, emit);
  }
}

async function settleFailure(
  tool: Tool,
  call: ToolCall,
  failure: ToolFailure,
  batch: BatchContext,
  emit: (event: StreamEvent) => void,
): Promise<Left> {
  const { onToolError: policy, signal } = batch;
  let verdict: unknown = policy;
  if (typeof policy === 'function' && !signal.aborted) {
    try {
      verdict = await policy(call, failure);
    } catch (error) {
      // A policy that fails itself must not let the run go on as if it had decided.
      emit({ type: 'warning', warning: { code: 'other', message: `onToolError failed for "${call.name}": ${describe(error)}` } });
      verdict = 'halt';
    }
  }
  if (typeof verdict === 'object' && verdict !== null && 'result' in verdict) {
    emit(encoded(call, batch, () => verdict.result));
    return ANSWERED;
  }
  emit(failed(call, failureText(tool, failure, batch)));
  if (verdict === 'continue' || typeof verdict === 'function') return ANSWERED;
  return { as: 'halted', halt: { callId: call.id, reason: 'tool_error', value: messageOf(failure) } };
}

function report(calls: readonly ToolCall[], left: ReadonlyMap<string, Left>): BatchReport {
  const questions: PendingQuestion[] = [];
  const approvals: ToolCall[] = [];
  const manual: ToolCall[] = [];
  const halts: BatchReport['halts'][number][] = [];
  for (const call of calls) {
    const how = left.get(call.id);
    if (how?.as === 'asked') questions.push(how.question);
    else if (how?.as === 'approval') approvals.push(call);
    else if (how?.as === 'manual') manual.push(call);
    else if (how?.as === 'halted') halts.push(how.halt);
  }
  return { questions, approvals, manual, halts };
}

function messageOf(failure: ToolFailure): string {
  return failure.type === 'fail' ? encodeFailure(failure.reason) : failure.message;
}

/** What the model is told of a failure. After a wrong call of a compact tool it sees that one's schema. */
function failureText(tool: Tool, failure: ToolFailure, { tools }: BatchContext): string {
  const isMisuse = tool.compact && failure.type === 'error' && failure.reason === 'invalid_arguments';
  return isMisuse ? `${messageOf(failure)}\n${helpFor(tool.name, tools)}` : messageOf(failure);
}

function encoded(call: ToolCall, { encode = encodeResult }: BatchContext, value: () => unknown): ToolResultEvent {
  try {
    const content = encode(value() ?? null);
    if (!isToolContent(content)) throw new TypeError('the encoder gave neither text nor parts');
    return { type: 'tool_result', callId: call.id, name: call.name, content };
  } catch (error) {
    return failed(call, `The result of "${call.name}" could not be encoded: ${describe(error)}`);
  }
}

function failed({ id, name }: ToolCall, content: string): ToolResultEvent {
  return { type: 'tool_result', callId: id, name, content, isError: true };
}

function needsApproval(tool: Tool, call: ToolCall): boolean {
  if (typeof tool.approve !== 'function') return tool.approve === true;
  try {
    return tool.approve(call) !== false;
  } catch {
    // A policy that fails must not wave the call through.
    return true;
  }
}

function semaphoreFor(tool: Tool, limits: Map<string, Semaphore>): Semaphore | undefined {
  if (tool.maxConcurrency === undefined) return undefined;
  const limit = limits.get(tool.name) ?? new Semaphore(tool.maxConcurrency);
  limits.set(tool.name, limit);
  return limit;
}

class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #free: number;
  constructor(size: number) {
    this.#free = size;
  }
  async enter(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>(resolve => this.#waiting.push(resolve));
  }
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
