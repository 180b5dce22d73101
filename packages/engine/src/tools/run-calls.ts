import type { Clock } from '../clock.js';
import type { Engine, Tool, ToolContext, ToolExecutor, ToolOutcome } from '../contract.js';
import { isRecord, type Json, toJson } from '../data/json.js';
import type { ToolCall } from '../data/parts.js';
import { describe, ToolError } from '../errors.js';
import type { StreamEvent, ToolResultEvent } from '../events/events.js';
import type { PendingQuestion } from '../events/outcome.js';
import { follow } from '../loop/signals.js';
import { encodeFailure, type ResultEncoder } from './encode.js';
import { Inbox } from './inbox.js';

/** What a batch of calls needs beside the calls. */
export interface BatchContext {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly executor: ToolExecutor;
  readonly encode: ResultEncoder;
  readonly context: unknown;
  readonly sessionId?: string;
  readonly requestId: string;
  readonly engine?: Engine;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What a batch leaves open, beside the results that its events tell. */
export interface BatchReport {
  readonly questions: PendingQuestion[];
  readonly approvals: ToolCall[];
  readonly manual: ToolCall[];
  /** In the order of the calls. */
  readonly halts: { readonly callId: string; readonly reason: string; readonly value?: Json }[];
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Runs the calls of one assistant message, all at once, and yields what happens as it happens. Every call gets exactly one `tool_result`,
 * or stands in the report: waiting for an answer, an approval or the caller. One that asks or halts does not stop its siblings.
 */
export async function* runCalls(calls: readonly ToolCall[], batch: BatchContext): AsyncGenerator<StreamEvent, BatchReport> {
  const report: BatchReport = { questions: [], approvals: [], manual: [], halts: [] };
  const events = new Inbox<StreamEvent>();
  const limits = new Map<string, Semaphore>();
  const outcomes = new Map<string, ToolOutcome>();
  const tasks = calls.map(async call => {
    const tool = Object.hasOwn(call, 'invalid') ? undefined : batch.tools.get(call.name);
    if (call.invalid || !tool) {
      events.push(refusal(call, batch.tools));
      return;
    }
    if (tool.manual || !tool.run) {
      report.manual.push(call);
      return;
    }
    if (needsApproval(tool, call)) {
      report.approvals.push(call);
      events.push({ type: 'approval_request', call });
      return;
    }
    const limit = semaphoreFor(tool, limits);
    await limit?.enter();
    try {
      // A call that waited for its turn until the run was stopped never starts.
      if (!batch.signal.aborted) events.push({ type: 'tool_start', call });
      const outcome = await runOne(tool, call, batch, value =>
        events.push({ type: 'tool_progress', callId: call.id, name: call.name, value }),
      );
      outcomes.set(call.id, outcome);
      for (const event of resultEvents(call, outcome, batch.encode)) events.push(event);
    } finally {
      limit?.leave();
    }
  });
  const all = Promise.all(tasks).then(
    () => events.close(),
    error => events.close(error),
  );
  yield* events;
  await all;
  for (const call of calls) {
    const outcome = outcomes.get(call.id);
    if (outcome?.type === 'ask_user') report.questions.push(questionOf(call, outcome));
    if (outcome?.type === 'halt') {
      const value = outcome.value === undefined ? {} : { value: toJson(outcome.value, `The value of halt() in "${call.name}"`) };
      report.halts.push({ callId: call.id, reason: outcome.reason, ...value });
    }
  }
  return report;
}

/** Runs one call within its time. Resolves even when the handler ignores the signal: nobody waits for it then. */
async function runOne(tool: Tool, call: ToolCall, batch: BatchContext, onProgress: (value: Json) => void): Promise<ToolOutcome> {
  const { executor, clock, signal } = batch;
  const own = new AbortController();
  const release = follow(own, signal);
  const timeoutMs = tool.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let over = false;
  const context: ToolContext = {
    context: batch.context,
    ...(batch.sessionId === undefined ? {} : { sessionId: batch.sessionId }),
    requestId: batch.requestId,
    call,
    ...(batch.engine === undefined ? {} : { engine: batch.engine }),
    signal: own.signal,
    progress: value => {
      const plain = toJson(value, `What "${tool.name}" gives to progress()`);
      if (!over) onProgress(plain);
    },
  };
  let cancelTimer = () => {};
  const stopped = new Promise<ToolError>(resolve => {
    const onAbort = () => resolve(new ToolError('aborted', `The call to "${tool.name}" was cancelled before it gave a result.`));
    if (own.signal.aborted) return onAbort();
    own.signal.addEventListener('abort', onAbort, { once: true });
    cancelTimer = clock.setTimer(timeoutMs, () => {
      const error = new ToolError('timeout', `The tool "${tool.name}" gave no result within ${timeoutMs} ms and was given up.`);
      resolve(error);
      own.abort(error);
    });
  });
  try {
    if (own.signal.aborted) return await stopped;
    const running = (async () => checkOutcome(tool.name, await executor(tool, call.arguments, context)))().catch(
      cause => new ToolError('handler_raised', `The tool "${tool.name}" failed: ${describe(cause)}`, { cause }),
    );
    return await Promise.race([running, stopped]);
  } finally {
    over = true;
    cancelTimer();
    release();
  }
}

const OUTCOMES: ReadonlySet<unknown> = new Set(['ok', 'fail', 'ask_user', 'halt', 'error']);

/** An executor of the caller's own may give anything; it may also give results that lost their tag on the way from another process. */
function checkOutcome(name: string, outcome: ToolOutcome): ToolOutcome {
  if (!isRecord(outcome) || !OUTCOMES.has(outcome.type))
    return new ToolError(
      'invalid_return',
      `The executor gave no result for "${name}": it must be ok(), fail(), askUser(), halt() or a ToolError.`,
    );
  if (outcome.type === 'halt' && outcome.value !== undefined) toJson(outcome.value, `The value of halt() in "${name}"`);
  return outcome;
}

function resultEvents(call: ToolCall, outcome: ToolOutcome, encode: ResultEncoder): StreamEvent[] {
  const about = { callId: call.id, name: call.name };
  switch (outcome.type) {
    case 'ok':
    case 'halt':
      return [encoded(about, () => encode(outcome.value ?? null))];
    case 'fail':
      return [{ ...encoded(about, () => encodeFailure(outcome.reason)), isError: true }];
    case 'error':
      return [{ type: 'tool_result', ...about, content: outcome.message, isError: true }];
    case 'ask_user':
      return [{ type: 'question', ...questionOf(call, outcome) }];
  }
}

function encoded(about: { callId: string; name: string }, encode: () => ReturnType<ResultEncoder>): ToolResultEvent {
  try {
    const content: unknown = encode();
    if (typeof content !== 'string' && !Array.isArray(content)) throw new TypeError('the encoder gave neither text nor parts');
    return { type: 'tool_result', ...about, content };
  } catch (error) {
    return {
      type: 'tool_result',
      ...about,
      content: `The result of "${about.name}" could not be encoded: ${describe(error)}`,
      isError: true,
    };
  }
}

function refusal(call: ToolCall, tools: ReadonlyMap<string, Tool>): StreamEvent {
  const known = [...tools.keys()];
  const message =
    call.invalid?.message ??
    `There is no tool "${call.name}". ${known.length > 0 ? `The tools are: ${known.join(', ')}.` : 'No tools are available.'}`;
  return { type: 'tool_result', callId: call.id, name: call.name, content: message, isError: true };
}

function questionOf(call: ToolCall, asked: Extract<ToolOutcome, { type: 'ask_user' }>): PendingQuestion {
  return { callId: call.id, name: call.name, question: asked.question, ...(asked.options === undefined ? {} : { options: asked.options }) };
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
