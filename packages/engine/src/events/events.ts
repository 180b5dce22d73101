import type { Cost } from '../data/cost.js';
import type { Json, JsonObject } from '../data/json.js';
import type { Message } from '../data/messages.js';
import type { FilePart, ImagePart, ProviderState, SourcePart, ToolCall, ToolResultPart } from '../data/parts.js';
import type { Usage } from '../data/usage.js';
import type { ErrorJson } from '../errors.js';
import type { FinishReason, Warning } from './finish.js';
import type { Outcome } from './outcome.js';

/** Blocks of a message are numbered from 0 in the order in which they began: `index` is the place of the part in the finished message. */
export interface MessageStart {
  readonly type: 'message_start';
  readonly model?: string;
  readonly responseId?: string;
  /** Which of several providers answers; told by `fallback`. */
  readonly provider?: string;
  /** What the provider has counted already; it stands in `message_end` too, unless the answer breaks off. */
  readonly usage?: Usage;
}
export interface TextDelta {
  readonly type: 'text_delta';
  readonly index: number;
  readonly delta: string;
}
export interface TextEnd {
  readonly type: 'text_end';
  readonly index: number;
  readonly text: string;
  readonly providerState?: ProviderState;
}
export interface ReasoningDelta {
  readonly type: 'reasoning_delta';
  readonly index: number;
  readonly delta: string;
}
export interface ReasoningEnd {
  readonly type: 'reasoning_end';
  readonly index: number;
  readonly text: string;
  readonly providerState?: ProviderState;
}
export interface ToolCallStart {
  readonly type: 'tool_call_start';
  readonly index: number;
  readonly id: string;
  readonly name: string;
}
/** `delta` is a piece of the arguments' JSON text. */
export interface ToolCallDelta {
  readonly type: 'tool_call_delta';
  readonly index: number;
  readonly id: string;
  readonly delta: string;
}
/** The call is complete, or known to be broken (`call.invalid`). */
export interface ToolCallEvent {
  readonly type: 'tool_call';
  readonly index: number;
  readonly call: ToolCall;
}
export interface SourceEvent {
  readonly type: 'source';
  readonly index: number;
  readonly source: SourcePart;
}
export interface FileEvent {
  readonly type: 'file';
  readonly index: number;
  readonly file: FilePart | ImagePart;
}
export interface MessageEnd {
  readonly type: 'message_end';
  readonly finishReason: FinishReason;
  /** The provider's own word. */
  readonly rawFinishReason?: string;
  /** The provider paused in the middle of its work: the answer goes on when the thread is sent again as it is. */
  readonly paused?: boolean;
  readonly usage: Usage;
  readonly model?: string;
  readonly responseId?: string;
  /** What the call cost, when the engine has a price for the model. */
  readonly cost?: Cost;
}
export interface WarningEvent {
  readonly type: 'warning';
  readonly warning: Warning;
}
/** A provider's event as it came, when asked for. */
export interface RawEvent {
  readonly type: 'raw';
  readonly value: Json;
}

/** What an adapter yields. */
export type AdapterEvent =
  | MessageStart
  | TextDelta
  | TextEnd
  | ReasoningDelta
  | ReasoningEnd
  | ToolCallStart
  | ToolCallDelta
  | ToolCallEvent
  | SourceEvent
  | FileEvent
  | MessageEnd
  | WarningEvent
  | RawEvent;

/** A partial value of a structured answer. */
export interface OutputDelta {
  readonly type: 'output_delta';
  readonly delta: string;
  readonly value: Json;
}
/** Live: the handler has not begun yet. */
export interface ToolStart {
  readonly type: 'tool_start';
  readonly call: ToolCall;
}
export interface ToolProgress {
  readonly type: 'tool_progress';
  readonly callId: string;
  readonly name: string;
  readonly value: Json;
}
/** The answer to a call as the model will see it. */
export interface ToolResultEvent {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly name: string;
  readonly content: string | readonly ToolResultPart[];
  readonly isError?: boolean;
}
export interface ApprovalRequest {
  readonly type: 'approval_request';
  readonly call: ToolCall;
}
export interface QuestionEvent {
  readonly type: 'question';
  readonly callId: string;
  readonly name: string;
  readonly question: string;
  readonly options?: JsonObject;
}
/** One model call and its tools are done. */
export interface StepEnd {
  readonly type: 'step_end';
  readonly step: number;
  /** What the engine itself says to the model before it is called again, such as the faults of a structured answer; part of the thread. */
  readonly followUp?: readonly Message[];
}
/**
 * The model call failed and is sent again after `delayMs`. What was shown of the open message is void and its next try begins anew, unless
 * `continued` says that the events go on in it.
 */
export interface RetryEvent {
  readonly type: 'retry';
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: ErrorJson;
  readonly continued?: true;
}
export interface EndEvent {
  readonly type: 'end';
  readonly outcome: Outcome;
}

/** The closed union of everything a stream can say. Keys may be added to a member; a new member is a breaking change. */
export type StreamEvent =
  | AdapterEvent
  | OutputDelta
  | ToolStart
  | ToolProgress
  | ToolResultEvent
  | ApprovalRequest
  | QuestionEvent
  | StepEnd
  | RetryEvent
  | EndEvent;
