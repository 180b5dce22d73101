// What an engine, a call and a tool are. Their types name each other (a handler is given its engine), so they stand together.
import type { ChatAdapter, ChatRequest, ModelSettings, PreparedRequest, ToolChoice } from './adapters/chat.js';
import type { CapabilityMethods, CapabilitySlots } from './capabilities/slots.js';
import type { Clock } from './clock.js';
import type { PriceTable } from './data/cost.js';
import type { Json, JsonObject } from './data/json.js';
import type { Message, Thread } from './data/messages.js';
import type { ToolCall } from './data/parts.js';
import type { Usage } from './data/usage.js';
import type { ToolError } from './errors.js';
import type { EventStream } from './events/event-stream.js';
import type { Outcome, Step } from './events/outcome.js';
import type { OnStreamError } from './loop/on-stream-error.js';
import type { OutputMode } from './output/mode.js';
import type { Timeouts } from './reliability/deadlines.js';
import type { KeyResolver } from './reliability/keys.js';
import type { Middleware } from './reliability/middleware.js';
import type { RetryPolicy } from './reliability/retrying.js';
import type { Telemetry } from './telemetry/telemetry.js';
import type { EncodedResult, ResultEncoder } from './tools/encode.js';
import type { ToolResult } from './tools/result.js';
import type { Schema, SchemaOutput } from './tools/schema.js';
import type { StandardSchema } from './tools/standard-schema.js';

export type { RetryPolicy } from './reliability/retrying.js';

/** What a handler is given beside its arguments. */
export interface ToolContext {
  /** The caller's own value: the call's over the session's over the engine's. */
  readonly context: unknown;
  readonly sessionId?: string;
  /** In a session: the same for every try of this call, and of no other one. Hand it on, so that nothing takes effect twice. */
  readonly idempotencyKey?: string;
  readonly requestId: string;
  readonly call: ToolCall;
  /** For nested model calls. Each has its own outcome; its usage and cost are not added to the run's, and count for no budget of it. */
  readonly engine?: Engine;
  /** Aborts when the run is stopped or the tool's time is up. */
  readonly signal: AbortSignal;
  /** Shows an interim value to whoever reads the stream. */
  readonly progress: (value: Json) => void;
}

/** What a handler may return: a tagged result, or any JSON value (which means `ok`). */
export type ToolReturn = ToolResult | unknown;

/** What runs when the model calls a tool: validated arguments in, a value or a tagged result out. A throw is told to the model as a crash. */
export type ToolHandler<Args> = (args: Args, context: ToolContext) => ToolReturn | Promise<ToolReturn>;

/** What `tool()` takes. */
export interface ToolDefinition<S extends Schema> {
  /** 1 to 64 letters, digits, `_` or `-`; unique in a run. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** Schema of the arguments: Standard Schema (its output type is `run`'s argument type) or JSON Schema. */
  readonly input?: S;
  /** Absent for a tool that the caller runs (`manual: true`). */
  readonly run?: ToolHandler<SchemaOutput<S>>;
  /** The loop stops and hands the call to the caller. */
  readonly manual?: boolean;
  /** The loop stops until the call is approved. */
  readonly approve?: boolean | ((call: ToolCall) => boolean);
  /** Milliseconds before the handler is given up; default 30 000. */
  readonly timeoutMs?: number;
  /** How many calls of this tool may run at once. */
  readonly maxConcurrency?: number;
  /** A call runs alone: after the calls before it, and before those behind it. */
  readonly sequential?: boolean;
  /** A session may run a call again that a crash cut off, with the same `idempotencyKey`. Otherwise the model is told that it is unknown whether it took effect. */
  readonly idempotent?: boolean;
  /** The model sees a stub, and asks `tool_help` for the rest: a large catalog costs few tokens, and the list stays the same for caches. */
  readonly compact?: boolean;
  /** One line for the stub; default the description's first sentence. */
  readonly summary?: string;
}

/** A tool that was checked. Made by `tool()`. */
export interface Tool extends Omit<ToolDefinition<Schema>, 'run' | 'input'> {
  readonly input: Schema;
  readonly run?: ToolHandler<never>;
  readonly inputSchema: JsonObject;
}

/** How a call ended: what the handler said, or why it said nothing. */
export type ToolOutcome = ToolResult | ToolError;

/** Runs one call. The engine takes another one as `executor`, for example to run tools in another process. */
export type ToolExecutor = (tool: Tool, args: unknown, context: ToolContext) => Promise<ToolOutcome>;

/** What is to happen to a call that an earlier run left open. */
export type CallDecision =
  /** It runs under the usual rules: an approval is asked for. */
  | { readonly type: 'run' }
  /** It was approved, perhaps with other arguments. */
  | { readonly type: 'approved'; readonly arguments?: JsonObject }
  | { readonly type: 'result'; readonly content: EncodedResult; readonly isError?: boolean };

/** Decisions by call id. */
export type ResumeDecisions = { readonly [callId: string]: CallDecision };

/** What to do about a call that failed: `continue` tells the model, `halt` ends the run, or the model is told another result. */
export type ToolErrorPolicy =
  | 'continue'
  | 'halt'
  | ((call: ToolCall, failure: ToolFailure) => ToolErrorVerdict | Promise<ToolErrorVerdict>);
export type ToolErrorVerdict = 'continue' | 'halt' | { readonly result: unknown };
/** What a handler reported with `fail`, or the `ToolError` of one that crashed. */
export type ToolFailure = { readonly type: 'fail'; readonly reason: unknown } | ToolError;

/** What is known before a model call. */
export interface StepInfo {
  /** 1 for the first call of the run. */
  readonly step: number;
  readonly steps: readonly Step[];
  /** The thread as it would be sent. */
  readonly messages: readonly Message[];
  readonly usage: Usage;
  readonly context: unknown;
}

/** What may be other for one model call. `messages` changes this request only; the thread of the outcome stays whole. */
export interface StepChanges extends ModelSettings {
  readonly chat?: ChatAdapter;
  readonly model?: string;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly messages?: readonly Message[];
}

/** Called before every model call of a run. */
export type PrepareStep = (info: StepInfo) => StepChanges | undefined | Promise<StepChanges | undefined>;

/** True ends the run, after the step's tools have run. */
export type StopCondition = (steps: readonly Step[]) => boolean | Promise<boolean>;

/** What a run may use up before it is stopped. Checked after each step. */
export interface Budget {
  /** Input and output tokens of all steps. */
  readonly tokens?: number;
  /** US dollars for all steps, by the engine's `prices`. A step whose cost is not known uses it up. */
  readonly cost?: number;
  /** Milliseconds since the run began. */
  readonly timeMs?: number;
  /** So many calls of one tool with the same arguments. */
  readonly repeatedCalls?: number;
}

/** What an engine is made of. Capabilities are slots; no slot falls back to another. */
export interface EngineConfig extends CapabilitySlots {
  readonly chat?: ChatAdapter;
  readonly tools?: readonly Tool[];
  /** Runs tool calls; default `executeTool`. */
  readonly executor?: ToolExecutor;
  /** Turns a tool's value into what the model reads; default JSON. */
  readonly encodeResult?: ResultEncoder;
  /** Settings for every call that does not set them itself. */
  readonly defaults?: ModelSettings & Pick<CallOptions, 'model' | 'maxTurns' | 'timeouts' | 'onStreamError'>;
  /** Handed to tool handlers; never sent to a provider. */
  readonly context?: unknown;
  /** `false` never sends a failed model call again. */
  readonly retry?: RetryPolicy | false;
  /** Stands around every request to the model; the first is the outermost. */
  readonly middleware?: readonly Middleware[];
  /** Gives API keys to adapters that have none, for each call and tenant. */
  readonly keys?: KeyResolver;
  /** Watches every run; see `otelTelemetry`. */
  readonly telemetry?: Telemetry;
  /** What models cost; with a price for each model call the outcome has its `cost`. */
  readonly prices?: PriceTable;
  readonly clock?: Clock;
}

/** Text (one user message), messages, a thread, or a whole request. */
export type Input = string | readonly Message[] | Thread | ChatRequest;

/** Options of one call; they win over the request, which wins over the engine's defaults. */
export interface CallOptions extends ModelSettings {
  readonly model?: string;
  /** Replaces the engine's tools for this call. */
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /**
   * The shape that the answer must have: zod, valibot, arktype or JSON Schema. The validated value is `outcome.output`; an answer that does not
   * fit is asked for once more, and then fails the run (`invalid_output`).
   */
  readonly output?: Schema;
  /** How the model is asked for `output`; default `native` where the adapter can, else `tool`. `instructions` is for models without tools. */
  readonly outputMode?: OutputMode;
  /** `manual`: the first answer with tool calls ends the run and nothing is executed. */
  readonly mode?: 'auto' | 'manual';
  /** Model calls at the most; default 8. */
  readonly maxTurns?: number;
  /** Asked after every step that would go on; one that says true ends the run. */
  readonly stopWhen?: StopCondition | readonly StopCondition[];
  readonly prepareStep?: PrepareStep;
  readonly budget?: Budget;
  /** Default `continue`. */
  readonly onToolError?: ToolErrorPolicy;
  /** Answers the open calls of the last assistant message before the first model call; calls that are not named are answered as not run. */
  readonly resume?: ResumeDecisions;
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole run, tools and waits included. */
  readonly timeoutMs?: number;
  /** Deadlines of the parts of a run. */
  readonly timeouts?: Timeouts;
  /** What happens to an answer that breaks off in the middle; default `surface`. */
  readonly onStreamError?: OnStreamError;
  readonly context?: unknown;
  readonly sessionId?: string;
  readonly requestId?: string;
  readonly retry?: RetryPolicy | false;
}

/** The type of `outcome.output`: the schema's own; `unknown` for JSON Schema, which tells none; `never` where no schema is given. */
export type OutputOf<S> = S extends StandardSchema ? SchemaOutput<S> : unknown;

/** Call options whose output schema tells the type of `outcome.output`. */
export type TypedOptions<S extends Schema> = Omit<CallOptions, 'output'> & { readonly output?: S };

/**
 * An immutable value that answers. Plain calls resolve to an `Outcome` and reject only for programmer's mistakes; streamed ones give the same
 * outcome after the events that tell it.
 */
export interface Engine extends CapabilityMethods {
  /** One model call; tools are not run, their calls come back in `toolCalls`. */
  generate<S extends Schema = never>(input: Input, options?: TypedOptions<S>): Promise<Outcome<OutputOf<S>>>;
  streamGenerate<S extends Schema = never>(input: Input, options?: TypedOptions<S>): EventStream<OutputOf<S>>;
  /** One model call and its tools. */
  step<S extends Schema = never>(input: Input, options?: TypedOptions<S>): Promise<Outcome<OutputOf<S>>>;
  streamStep<S extends Schema = never>(input: Input, options?: TypedOptions<S>): EventStream<OutputOf<S>>;
  /** Model calls and tools until the model is done. */
  chat<S extends Schema = never>(input: Input, options?: TypedOptions<S>): Promise<Outcome<OutputOf<S>>>;
  stream<S extends Schema = never>(input: Input, options?: TypedOptions<S>): EventStream<OutputOf<S>>;
  /**
   * The HTTP request that the first model call would send, unsent and without its key, for a look or another way to send it. Rejects with
   * `ConfigurationError` when the adapter cannot tell.
   */
  prepareRequest(input: Input, options?: CallOptions): Promise<PreparedRequest>;
  /** A copy with some parts replaced. */
  with(changes: EngineConfig): Engine;
  readonly config: EngineConfig;
}
