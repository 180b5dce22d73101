import type { ChatAdapter, ChatRequest, ModelSettings, ToolChoice } from './adapters/chat.js';
import { type Clock, systemClock } from './clock.js';
import type { Message, Thread } from './data/messages.js';
import { ConfigurationError } from './errors.js';
import { EventStream } from './events/event-stream.js';
import type { Outcome, Step } from './events/outcome.js';
import type { RetryPolicy } from './loop/model-call.js';
import { checkDefaults, checkRetry } from './loop/options.js';
import { makePlan, type Plan } from './loop/plan.js';
import { run } from './loop/run.js';
import type { ResultEncoder } from './tools/encode.js';
import type { ToolExecutor } from './tools/execute.js';
import { type Tool, toolMap } from './tools/tool.js';

/** What an engine is made of. Capabilities are slots; no slot falls back to another. */
export interface EngineConfig {
  readonly chat?: ChatAdapter;
  readonly tools?: readonly Tool[];
  /** Runs tool calls; default `executeTool`. */
  readonly executor?: ToolExecutor;
  /** Turns a tool's value into what the model reads; default JSON. */
  readonly encodeResult?: ResultEncoder;
  /** Settings for every call that does not set them itself. */
  readonly defaults?: ModelSettings & { readonly model?: string; readonly maxTurns?: number };
  /** Handed to tool handlers; never sent to a provider. */
  readonly context?: unknown;
  /** `false` never sends a failed model call again. */
  readonly retry?: RetryPolicy | false;
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
  /** `manual`: the first answer with tool calls ends the run and nothing is executed. */
  readonly mode?: 'auto' | 'manual';
  /** Model calls at the most; default 8. */
  readonly maxTurns?: number;
  /** Asked after every step that would go on; true ends the run. */
  readonly stopWhen?: (steps: readonly Step[]) => boolean;
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole run, tools and waits included. */
  readonly timeoutMs?: number;
  readonly context?: unknown;
  readonly sessionId?: string;
  readonly requestId?: string;
  readonly retry?: RetryPolicy | false;
}

/**
 * An immutable value that answers. Plain calls resolve to an `Outcome` and reject only for programmer's mistakes; streamed ones give the same
 * outcome after the events that tell it.
 */
export interface Engine {
  /** One model call; tools are not run, their calls come back in `toolCalls`. */
  generate(input: Input, options?: CallOptions): Promise<Outcome>;
  streamGenerate(input: Input, options?: CallOptions): EventStream;
  /** One model call and its tools. */
  step(input: Input, options?: CallOptions): Promise<Outcome>;
  streamStep(input: Input, options?: CallOptions): EventStream;
  /** Model calls and tools until the model is done. */
  chat(input: Input, options?: CallOptions): Promise<Outcome>;
  stream(input: Input, options?: CallOptions): EventStream;
  /** A copy with some parts replaced. */
  with(changes: EngineConfig): Engine;
  readonly config: EngineConfig;
}

const PARTS: ReadonlySet<string> = new Set(['chat', 'tools', 'executor', 'encodeResult', 'defaults', 'context', 'retry', 'clock']);

/**
 * Makes an engine. Throws `ConfigurationError` for a part that it does not know or that cannot work.
 *
 * ```ts
 * const engine = createEngine({ chat: openaiChat({ model: 'llama3.2' }), tools: [weather] });
 * const outcome = await engine.chat('What is the weather in Oslo?');
 * if (outcome.status === 'completed') console.log(outcome.text);
 * ```
 */
export function createEngine(config: EngineConfig = {}): Engine {
  checkConfig(config);
  const clock = config.clock ?? systemClock;
  const stream = (kind: Plan['kind'], input: Input, options: CallOptions = {}): EventStream => {
    const plan = makePlan(engine, config, clock, kind, input, options);
    const stop = new AbortController();
    return new EventStream(run(plan, stop, options.signal), () => stop.abort());
  };
  const outcome = async (kind: Plan['kind'], input: Input, options?: CallOptions) => stream(kind, input, options).outcome;
  const engine: Engine = Object.freeze({
    generate: (input: Input, options?: CallOptions) => outcome('model', input, options),
    streamGenerate: (input: Input, options?: CallOptions) => stream('model', input, options),
    step: (input: Input, options?: CallOptions) => outcome('step', input, options),
    streamStep: (input: Input, options?: CallOptions) => stream('step', input, options),
    chat: (input: Input, options?: CallOptions) => outcome('loop', input, options),
    stream: (input: Input, options?: CallOptions) => stream('loop', input, options),
    with: (changes: EngineConfig) => createEngine({ ...config, ...changes }),
    config: Object.freeze({ ...config }),
  });
  return engine;
}

function checkConfig(config: EngineConfig): void {
  if (typeof config !== 'object' || config === null)
    throw new ConfigurationError('invalid_option', 'createEngine takes an object such as { chat, tools }.');
  for (const key of Object.keys(config)) {
    if (!PARTS.has(key))
      throw new ConfigurationError('invalid_option', `createEngine does not know "${key}". It takes ${[...PARTS].join(', ')}.`);
  }
  if (config.chat !== undefined && typeof config.chat?.stream !== 'function') {
    throw new ConfigurationError('invalid_option', 'chat must be an adapter such as openaiChat({ model }), with a stream method.');
  }
  for (const key of ['executor', 'encodeResult'] as const) {
    if (config[key] !== undefined && typeof config[key] !== 'function')
      throw new ConfigurationError('invalid_option', `${key} must be a function, not ${typeof config[key]}.`);
  }
  if (config.clock !== undefined && typeof config.clock?.setTimer !== 'function') {
    throw new ConfigurationError('invalid_option', 'clock must be a Clock, with now, wallTime and setTimer.');
  }
  if (config.defaults !== undefined) checkDefaults(config.defaults);
  if (config.tools !== undefined) toolMap(config.tools);
  checkRetry(config.retry);
}
