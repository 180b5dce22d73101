import type { ChatAdapter, ChatRequest, ModelSettings, ToolChoice } from '../adapters/chat.js';
import type { Clock } from '../clock.js';
import { isRecord } from '../data/json.js';
import { type Message, type Thread, user } from '../data/messages.js';
import { validateMessages } from '../data/validate.js';
import type { CallOptions, Engine, EngineConfig, Input } from '../engine.js';
import { ConfigurationError, ValidationError } from '../errors.js';
import type { Step } from '../events/outcome.js';
import { encodeResult, type ResultEncoder } from '../tools/encode.js';
import { executeTool, type ToolExecutor } from '../tools/execute.js';
import type { Tool } from '../tools/tool.js';
import type { RetryPolicy } from './model-call.js';

/** Everything a run needs, checked and merged: call options over the request, the request over the engine's defaults. */
export interface Plan {
  readonly adapter: ChatAdapter;
  readonly messages: readonly Message[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly settings: ModelSettings & { readonly model?: string };
  readonly toolChoice?: ToolChoice;
  /** `model`: one call, tools come back · `step`: one call and its tools · `loop`: until the model is done. */
  readonly kind: 'model' | 'step' | 'loop';
  readonly manual: boolean;
  readonly maxTurns: number;
  readonly stopWhen?: (steps: readonly Step[]) => boolean;
  readonly executor: ToolExecutor;
  readonly encode: ResultEncoder;
  readonly context: unknown;
  readonly sessionId?: string;
  readonly requestId: string;
  readonly timeoutMs?: number;
  readonly retry: RetryPolicy | false;
  readonly clock: Clock;
  readonly engine: Engine;
}

const SETTINGS = ['temperature', 'topP', 'maxTokens', 'stop', 'seed', 'reasoning', 'providerOptions', 'model'] as const;

const OPTIONS: ReadonlySet<string> = new Set([
  ...SETTINGS,
  ...['tools', 'toolChoice', 'mode', 'maxTurns', 'stopWhen', 'signal', 'timeoutMs', 'context', 'sessionId', 'requestId', 'retry'],
]);

/** Throws for the programmer's mistakes, before anything is sent. */
export function makePlan(engine: Engine, config: EngineConfig, clock: Clock, kind: Plan['kind'], input: Input, options: CallOptions): Plan {
  const adapter = config.chat;
  if (!adapter) {
    throw new ConfigurationError('missing_adapter', 'This engine has no chat model: createEngine({ chat: openaiChat({ model: … }) }).');
  }
  checkOptions(options);
  const request = asRequest(input);
  const settings: Record<string, unknown> = {};
  for (const key of SETTINGS) {
    const value = options[key] ?? request[key] ?? config.defaults?.[key];
    if (value !== undefined) settings[key] = value;
  }
  const toolChoice = options.toolChoice ?? request.toolChoice;
  const tools = toolMap(options.tools ?? config.tools ?? []);
  if (typeof toolChoice === 'object' && !tools.has(toolChoice.tool)) {
    throw new ConfigurationError('invalid_option', `toolChoice names "${toolChoice.tool}", which is not among the tools.`);
  }
  return {
    adapter,
    messages: request.messages,
    tools,
    settings,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    kind,
    manual: options.mode === 'manual',
    maxTurns: options.maxTurns ?? config.defaults?.maxTurns ?? 8,
    ...(options.stopWhen === undefined ? {} : { stopWhen: options.stopWhen }),
    executor: config.executor ?? executeTool,
    encode: config.encodeResult ?? encodeResult,
    context: options.context ?? config.context,
    ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId }),
    requestId: options.requestId ?? crypto.randomUUID(),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    retry: options.retry ?? config.retry ?? {},
    clock,
    engine,
  };
}

function asRequest(input: Input): Partial<Omit<ChatRequest, 'messages'>> & { readonly messages: readonly Message[] } {
  const request: { messages: readonly Message[] } | Thread | ChatRequest =
    typeof input === 'string' ? { messages: [user(input)] } : Array.isArray(input) ? { messages: input } : (input as Thread | ChatRequest);
  if (!isRecord(request)) {
    throw new ValidationError('invalid_request', 'Expected text, a list of messages, a thread or a request.');
  }
  const issues = validateMessages(request.messages);
  if (issues.length > 0) {
    throw new ValidationError('invalid_message', issues.map(({ path, reason }) => `${path} ${reason}`).join('; '), issues);
  }
  if (request.messages.length === 0) {
    throw new ValidationError('invalid_request', 'There is no message to answer.', [{ path: 'messages', reason: 'must not be empty' }]);
  }
  return request as ChatRequest;
}

function toolMap(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const map = new Map<string, Tool>();
  for (const tool of tools) {
    if (!isRecord(tool) || !isRecord(tool.inputSchema))
      throw new TypeError('tools must be made by tool({ name, description, input, run }).');
    if (map.has(tool.name)) throw new ConfigurationError('invalid_option', `Two tools are named "${tool.name}"; names must be unique.`);
    map.set(tool.name, tool);
  }
  return map;
}

function checkOptions(options: CallOptions): void {
  const bad = (message: string) => new ConfigurationError('invalid_option', message);
  if (typeof options !== 'object' || options === null) throw bad('The options must be an object.');
  for (const key of Object.keys(options)) {
    if (!OPTIONS.has(key)) throw bad(`Unknown option "${key}". What only one provider knows goes into providerOptions.`);
  }
  const { maxTurns, timeoutMs, temperature, maxTokens } = options;
  if (maxTurns !== undefined && !(Number.isInteger(maxTurns) && maxTurns > 0))
    throw bad(`maxTurns must be a whole number above 0, not ${maxTurns}.`);
  if (timeoutMs !== undefined && !(timeoutMs > 0)) throw bad(`timeoutMs must be above 0, not ${timeoutMs}.`);
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens > 0))
    throw bad(`maxTokens must be a whole number above 0, not ${maxTokens}.`);
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2))
    throw bad(`temperature must be between 0 and 2, not ${temperature}.`);
}
