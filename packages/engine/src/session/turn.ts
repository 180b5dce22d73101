import type { Engine, ToolExecutor } from '../contract.js';
import type { Message } from '../data/messages.js';
import { isToolContent } from '../data/validate.js';
import { ToolError } from '../errors.js';
import type { StreamEvent } from '../events/events.js';
import { RunFold } from '../events/fold.js';
import type { Failed, Outcome } from '../events/outcome.js';
import { isWaiting } from '../events/pending.js';
import { quietly } from '../quietly.js';
import { encodeResult } from '../tools/encode.js';
import { executeTool } from '../tools/execute.js';
import type { SessionEntry } from './entries.js';
import { commonLength } from './history.js';
import { type SessionState, turnHistory } from './state.js';

/** What a turn needs of its session. */
export interface TurnHost {
  readonly id: string;
  readonly engine: Engine;
  /** Whether somebody may read the log again: a session without a store needs no record of what a crash would lose. */
  readonly stored: boolean;
  readonly state: () => SessionState;
  /** Rejects with `StoreError`. */
  readonly record: (...entries: readonly SessionEntry[]) => Promise<void>;
  /** Ends the run soon. */
  readonly stop: () => void;
}

/**
 * Writes down what a turn does while its events pass: nothing goes on before what came before it is safe. When the store fails, the run is
 * stopped and the turn has failed.
 */
export class TurnRecorder {
  readonly #host: TurnHost;
  readonly #fold = new RunFold();
  /** Calls of the last answer whose results are written down. Servers may use an id again in their next answer. */
  readonly #answered = new Set<string>();
  #fault: Failed['error'] | undefined;

  constructor(host: TurnHost) {
    this.#host = host;
  }

  /** The engine that runs the turn: its handlers get their idempotency keys and do not begin before that is written down. */
  get engine(): Engine {
    const { engine, stored } = this.#host;
    const { executor: run = executeTool, encodeResult: encode = encodeResult } = engine.config;
    const executor: ToolExecutor = async (tool, args, context) => {
      const { id: callId, name } = context.call;
      const given = { ...context, engine, idempotencyKey: this.#keyOf(callId) };
      if (!stored) return run(tool, args, given);
      await this.#record({ type: 'start', callId });
      if (context.signal.aborted || this.#fault) return new ToolError('aborted', `The call to "${name}" was cancelled before it began.`);
      const outcome = await run(tool, args, given);
      if (context.signal.aborted || this.#answered.has(callId)) return outcome;
      // At once, and not when its event is read: a slow reader must not cost a result.
      if (outcome.type === 'ask_user') {
        const { question, options } = outcome;
        await this.#record({ type: 'question', callId, name, question, ...(options === undefined ? {} : { options }) });
      } else if (outcome.type === 'ok' || outcome.type === 'halt') {
        const content = quietly(() => encode(outcome.value ?? null));
        // What cannot be encoded is told by its event.
        if (content !== undefined && isToolContent(content)) await this.#result({ callId, name, content });
      }
      return outcome;
    };
    return engine.with({ executor });
  }

  /** Writes down how the turn begins, and gives the messages that it begins with; or how it ended, when that failed. */
  async begin(entries: readonly SessionEntry[]): Promise<readonly Message[] | Outcome> {
    await this.#record(...entries);
    const { turn, history } = this.#host.state();
    const { messages } = turn?.history ?? history;
    return this.#fault ? new RunFold({ messages }).outcome({ status: 'failed', error: this.#fault }) : messages;
  }

  /** Takes an event on its way to the reader, and gives what the reader shall see. Resolves when what it tells is safe. */
  async see(event: StreamEvent): Promise<StreamEvent> {
    if (event.type === 'end') return { type: 'end', outcome: await this.#end(event.outcome) };
    this.#fold.push(event);
    if (event.type === 'message_end') {
      this.#answered.clear();
      const step = this.#fold.lastStep;
      if (step?.message && step.toolCalls.length > 0) await this.#record({ type: 'message', message: step.message });
    }
    if (event.type === 'tool_result' && this.#host.stored && !this.#answered.has(event.callId)) {
      const { type: _, ...result } = event;
      await this.#result(result);
    }
    return event;
  }

  /** The store has failed. */
  fail(error: Failed['error']): void {
    this.#fault ??= error;
    this.#host.stop();
  }

  async #end(outcome: Outcome): Promise<Outcome> {
    const { turn } = this.#host.state();
    if (turn && !this.#fault) {
      const messages = outcome.status === 'failed' ? checkpoint(outcome) : outcome.messages;
      const keep = commonLength(turnHistory(turn).messages, messages);
      const pending = outcome.status === 'interrupted' ? outcome.pending : {};
      const status = outcome.status === 'failed' ? 'failed' : isWaiting(pending) ? 'waiting' : 'idle';
      const error = outcome.status === 'failed' ? { error: outcome.error.toJSON() } : {};
      await this.#record({ type: 'end', status, keep, messages: messages.slice(keep), pending, ...error });
    }
    return this.#fault ? failed(outcome, this.#fault) : outcome;
  }

  async #result(result: Omit<Extract<SessionEntry, { type: 'result' }>, 'type'>): Promise<void> {
    this.#answered.add(result.callId);
    await this.#record({ type: 'result', ...result });
  }

  async #record(...entries: readonly SessionEntry[]): Promise<void> {
    if (this.#fault) return;
    try {
      await this.#host.record(...entries);
    } catch (error) {
      this.fail(error as Failed['error']);
    }
  }

  #keyOf(callId: string): string {
    return [this.#host.id, String(this.#host.state().batch), callId].map(escapePart).join('/');
  }
}

/** The messages of a failed run up to its last finished step: that one's tools have run and need not run again. */
function checkpoint({ messages, steps }: Outcome): readonly Message[] {
  const last = steps.at(-1);
  if (!last?.message) return messages;
  const finished = !last.message.interrupted && last.finishReason !== 'error' && last.toolCalls.length > 0;
  return finished ? messages : messages.slice(0, messages.length - 1 - last.toolResults.length);
}

/** The outcome of a turn that ended well but could not be stored. */
function failed(outcome: Outcome, error: Failed['error']): Failed {
  const { reason: _, pending: __, output: ___, ...base } = outcome as Outcome & { reason?: unknown; pending?: unknown; output?: unknown };
  return { ...base, finishReason: 'error', status: 'failed', error };
}

/** Safe as an HTTP header, and different for different parts. */
function escapePart(part: string): string {
  return encodeURIComponent(part.replace(/\p{Surrogate}/gu, half => `%${half.charCodeAt(0).toString(16)}`));
}
