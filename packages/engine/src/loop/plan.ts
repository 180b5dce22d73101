import type { ChatAdapter, ChatRequest, ModelSettings, OutputSpec, ToolChoice } from '../adapters/chat.js';
import type { Clock } from '../clock.js';
import type {
  Budget,
  CallOptions,
  Engine,
  EngineConfig,
  Input,
  PrepareStep,
  ResumeDecisions,
  RetryPolicy,
  StopCondition,
  Tool,
  ToolErrorPolicy,
  ToolExecutor,
} from '../contract.js';
import type { PriceTable } from '../data/cost.js';
import { defined } from '../data/defined.js';
import { isRecord } from '../data/json.js';
import { type Message, type Thread, user } from '../data/messages.js';
import { inWords } from '../data/rules.js';
import { validateMessages } from '../data/validate.js';
import { ConfigurationError, ValidationError } from '../errors.js';
import { invalidOption } from '../invalid-option.js';
import type { OutputShape } from '../output/mode.js';
import type { Timeouts } from '../reliability/deadlines.js';
import { withToolHelp } from '../tools/compact.js';
import type { ResultEncoder } from '../tools/encode.js';
import { toJsonSchema } from '../tools/schema.js';
import { toolMap } from '../tools/tool.js';
import type { OnStreamError } from './on-stream-error.js';
import { checkOptions, checkRequest, mergeSettings } from './options.js';
import { anyOf } from './stop.js';

/** Everything a run needs, checked and merged: call options over the request, the request over the engine's defaults. */
export interface Plan {
  readonly adapter: ChatAdapter;
  readonly messages: readonly Message[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly settings: ModelSettings & { readonly model?: string };
  readonly toolChoice?: ToolChoice;
  readonly output?: OutputShape;
  /** `model`: one call, tools come back · `step`: one call and its tools · `loop`: until the model is done. */
  readonly kind: 'model' | 'step' | 'loop';
  readonly manual: boolean;
  readonly maxTurns: number;
  readonly stopWhen?: StopCondition;
  readonly prepareStep?: PrepareStep;
  readonly budget?: Budget;
  readonly onToolError: ToolErrorPolicy;
  readonly resume?: ResumeDecisions;
  readonly executor?: ToolExecutor;
  readonly encode?: ResultEncoder;
  readonly context: unknown;
  readonly sessionId?: string;
  readonly requestId: string;
  readonly timeoutMs?: number;
  readonly retry: RetryPolicy | false;
  readonly timeouts?: Timeouts;
  readonly onStreamError?: OnStreamError;
  readonly prices?: PriceTable;
  /** What the engine puts around each adapter that is asked. */
  readonly wrap?: (adapter: ChatAdapter) => ChatAdapter;
  readonly clock: Clock;
  readonly engine: Engine;
}

/** Throws for the programmer's mistakes, before anything is sent. */
export function makePlan(engine: Engine, config: EngineConfig, clock: Clock, kind: Plan['kind'], input: Input, options: CallOptions): Plan {
  const adapter = config.chat;
  if (!adapter) {
    throw new ConfigurationError('missing_adapter', 'This engine has no chat model: createEngine({ chat: openaiChat({ model: … }) }).');
  }
  checkOptions(options);
  const request = asRequest(input);
  const { stopWhen, prepareStep, budget, resume, sessionId, timeoutMs } = options;
  if (budget?.cost !== undefined && config.prices === undefined) {
    throw invalidOption('budget.cost needs prices: createEngine({ prices: { [model]: { input, output } } }).');
  }
  const { timeouts = config.defaults?.timeouts, onStreamError = config.defaults?.onStreamError } = options;
  const toolChoice = options.toolChoice ?? request.toolChoice;
  // Tools of a request are data: they have no handler here, so their calls come back to the caller.
  const tools = withToolHelp(
    toolMap(options.tools ?? request.tools?.map(spec => ({ ...spec, input: spec.inputSchema })) ?? config.tools ?? []),
  );
  checkToolChoice(toolChoice, tools);
  const output = outputOf(options, request.output, adapter);
  return {
    adapter,
    messages: request.messages,
    tools,
    settings: mergeSettings(options, request, config.defaults),
    kind,
    manual: options.mode === 'manual',
    maxTurns: options.maxTurns ?? config.defaults?.maxTurns ?? 8,
    onToolError: options.onToolError ?? 'continue',
    context: options.context ?? config.context,
    requestId: options.requestId ?? crypto.randomUUID(),
    retry: options.retry ?? config.retry ?? {},
    clock,
    engine,
    ...defined({
      toolChoice,
      output,
      stopWhen: typeof stopWhen === 'object' ? anyOf(...stopWhen) : stopWhen,
      prepareStep,
      budget,
      resume,
      executor: config.executor,
      encode: config.encodeResult,
      sessionId,
      timeoutMs,
      timeouts,
      onStreamError,
    }),
  };
}

/** The shape of a request is data, and is checked as JSON Schema. A thread may carry an `output` of its own that is none. */
function outputOf(
  { output, outputMode: mode }: CallOptions,
  inRequest: unknown,
  { provider, structuredOutput }: ChatAdapter,
): OutputShape | undefined {
  const asked =
    isRecord(inRequest) && typeof inRequest.name === 'string' && isRecord(inRequest.schema)
      ? (inRequest as unknown as OutputSpec)
      : undefined;
  const schema = output ?? asked?.schema;
  if (asked && !/^[A-Za-z0-9_-]{1,60}$/.test(asked.name)) {
    throw invalidOption(`output.name must be 1 to 60 letters, digits, _ or -, not ${JSON.stringify(asked.name)}.`);
  }
  if (schema === undefined) {
    if (mode === undefined) return undefined;
    throw invalidOption('outputMode says how to ask for output, but there is no output schema.');
  }
  if (mode === 'native' && structuredOutput !== true) {
    throw invalidOption(`${provider} cannot hold an answer to a schema itself: leave outputMode out, or use tool.`);
  }
  return { schema, json: toJsonSchema(schema, 'output'), name: asked?.name ?? 'answer', ...(mode === undefined ? {} : { mode }) };
}

function asRequest(input: Input): Partial<Omit<ChatRequest, 'messages'>> & { readonly messages: readonly Message[] } {
  const request: { messages: readonly Message[] } | Thread | ChatRequest =
    typeof input === 'string' ? { messages: [user(input)] } : Array.isArray(input) ? { messages: input } : (input as Thread | ChatRequest);
  if (!isRecord(request)) {
    throw new ValidationError('invalid_request', 'Expected text, a list of messages, a thread or a request.');
  }
  checkMessages(request.messages);
  if (request.messages.length === 0) {
    throw new ValidationError('invalid_request', 'There is no message to answer.', [{ path: 'messages', reason: 'must not be empty' }]);
  }
  checkRequest(request);
  return request as ChatRequest;
}

/** Throws `ValidationError` for what is no list of messages. */
export function checkMessages(messages: unknown): void {
  const issues = validateMessages(messages);
  if (issues.length === 0) return;
  throw new ValidationError('invalid_message', inWords(issues), issues);
}

/** Throws `ConfigurationError` for a choice that these tools cannot meet. */
export function checkToolChoice(toolChoice: ToolChoice | undefined, tools: ReadonlyMap<string, Tool>): void {
  if (typeof toolChoice === 'object' && !tools.has(toolChoice.tool)) {
    throw invalidOption(`toolChoice names "${toolChoice.tool}", which is not among the tools.`);
  }
  if (toolChoice === 'required' && tools.size === 0) {
    throw invalidOption('toolChoice is "required", but there are no tools.');
  }
}
