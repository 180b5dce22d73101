import type { Cost } from '../data/cost.js';
import type { Json, JsonObject } from '../data/json.js';
import type { AssistantMessage, Message, ToolMessage } from '../data/messages.js';
import type { SourcePart, ToolCall } from '../data/parts.js';
import type { Usage } from '../data/usage.js';
import type { AntiphonError } from '../errors.js';
import type { FinishReason, Warning } from './finish.js';

/** One model call and the answers to its tool calls. */
export interface Step {
  readonly message?: AssistantMessage;
  readonly toolCalls: readonly ToolCall[];
  readonly toolResults: readonly ToolMessage[];
  readonly finishReason: FinishReason;
  readonly rawFinishReason?: string;
  /** The provider paused; the next step goes on with the same answer. */
  readonly paused?: boolean;
  readonly usage: Usage;
  readonly cost?: Cost;
  readonly model?: string;
  readonly responseId?: string;
}

/** A question that a tool asks the user; the answer becomes that call's result. */
export interface PendingQuestion {
  readonly callId: string;
  readonly name: string;
  readonly question: string;
  readonly options?: JsonObject;
}

/** What an interrupted run waits for. */
export interface Pending {
  readonly questions?: readonly PendingQuestion[];
  readonly approvals?: readonly ToolCall[];
  /** Calls whose results the caller must give. */
  readonly calls?: readonly ToolCall[];
  /** What handlers said with `halt(reason, value)`, in the order of the calls. */
  readonly halts?: readonly { readonly callId: string; readonly reason: string; readonly value?: Json }[];
}

/** Why a run stopped before the model was done; `halt` has the word that a tool gave. */
export type InterruptReason =
  | 'ask_user'
  | 'approval'
  | 'manual_tools'
  | 'max_turns'
  | 'stop_when'
  | 'budget'
  | 'aborted'
  | { readonly halt: string };

/** What every way to end has: everything that arrived. Text, message and finish reason are those of the last model call. */
export interface OutcomeBase {
  readonly text: string;
  readonly message?: AssistantMessage;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  readonly rawFinishReason?: string;
  /** All reasoning text, joined; the parts with their signatures stand in `message`. */
  readonly reasoning: string;
  readonly sources: readonly SourcePart[];
  /** Summed over all steps. What tools use for model calls of their own is in the outcomes of those calls, not here. */
  readonly usage: Usage;
  /** Summed as `usage` is; left out unless the engine has a price for each step. */
  readonly cost?: Cost;
  readonly warnings: readonly Warning[];
  /** The whole thread, ready to be sent again. */
  readonly messages: readonly Message[];
  readonly steps: readonly Step[];
  readonly model?: string;
  readonly responseId?: string;
  readonly requestId: string;
}

/** The model was done. */
export interface Completed<Output = unknown> extends OutcomeBase {
  readonly status: 'completed';
  /** The validated value, when a schema was given and the run did not end with calls of tools for the caller. */
  readonly output?: Output;
}

/** Stopped on purpose, or waiting for what `pending` names. */
export interface Interrupted extends OutcomeBase {
  readonly status: 'interrupted';
  readonly reason: InterruptReason;
  readonly pending: Pending;
}

/** The world failed; everything that arrived until then is here. */
export interface Failed extends OutcomeBase {
  readonly status: 'failed';
  readonly error: AntiphonError;
}

/** The three ways to end. `Output` is the type of the value that an output schema describes; `never` where there is none. */
export type Outcome<Output = unknown> = Completed<Output> | Interrupted | Failed;

type Unwrapped<Output> = [Output] extends [never] ? string : Output;

/**
 * The validated output of a completed outcome, or its text where no schema was given; throws the error of a failed one, and an error that names
 * the reason otherwise. `unwrap(await engine.chat('Hi'))` → `'Hello!'`
 */
export function unwrap<Output>(outcome: Outcome<Output>): Unwrapped<Output> {
  if (outcome.status === 'completed') return ('output' in outcome ? outcome.output : outcome.text) as Unwrapped<Output>;
  if (outcome.status === 'failed') throw outcome.error;
  const reason = typeof outcome.reason === 'string' ? outcome.reason : `halt: ${outcome.reason.halt}`;
  const hint = Object.keys(outcome.pending).length > 0 ? '; look at outcome.pending for what it waits for' : '';
  throw new Error(`The run was interrupted (${reason}) and has no final answer${hint}.`);
}
