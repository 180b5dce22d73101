import { follow } from '../async/signals.js';
import type { Tool, ToolContext, ToolOutcome } from '../contract.js';
import { defined } from '../data/defined.js';
import { isRecord, type Json, toJson } from '../data/json.js';
import type { ToolCall } from '../data/parts.js';
import { describe, ToolError } from '../errors.js';
import type { BatchContext } from './batch.js';
import { executeTool } from './execute.js';

const DEFAULT_TIMEOUT_MS = 30_000;

/** Runs one call within its time. Resolves even when the handler ignores the signal: nobody waits for it then. */
export async function runOne(tool: Tool, call: ToolCall, batch: BatchContext, onProgress: (value: Json) => void): Promise<ToolOutcome> {
  const { executor = executeTool, clock, signal } = batch;
  const own = new AbortController();
  const release = follow(own, signal);
  const timeoutMs = tool.timeoutMs ?? batch.timeouts?.toolMs ?? DEFAULT_TIMEOUT_MS;
  let over = false;
  const context: ToolContext = {
    context: batch.context,
    ...defined({ sessionId: batch.sessionId, engine: batch.engine }),
    requestId: batch.requestId,
    call,
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
