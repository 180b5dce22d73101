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
  readonly usage: Usage;
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
  /** Summed over all steps. */
  readonly usage: Usage;
  readonly warnings: readonly Warning[];
  /** The whole thread, ready to be sent again. */
  readonly messages: readonly Message[];
  readonly steps: readonly Step[];
  readonly model?: string;
  readonly responseId?: string;
  readonly requestId: string;
}

/** The model was done. */
export interface Completed extends OutcomeBase {
  readonly status: 'completed';
  /** The validated value, when a schema was given. */
  readonly output?: unknown;
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

/** The three ways to end. */
export type Outcome = Completed | Interrupted | Failed;

/** The text (or the validated output) of a completed outcome; throws the error of a failed one, and an error that names the reason otherwise. */
export function unwrap(outcome: Outcome): unknown {
  if (outcome.status === 'completed') return 'output' in outcome ? outcome.output : outcome.text;
  if (outcome.status === 'failed') throw outcome.error;
  const reason = typeof outcome.reason === 'string' ? outcome.reason : `halt: ${outcome.reason.halt}`;
  throw new Error(`The run was interrupted (${reason}) and has no final answer; look at outcome.pending for what it waits for.`);
}
