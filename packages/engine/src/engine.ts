import { capabilityMethods } from './capabilities/door.js';
import { CAPABILITY_SLOTS, checkSlots } from './capabilities/slots.js';
import { systemClock } from './clock.js';
import type { CallOptions, Engine, EngineConfig, Input } from './contract.js';
import type { Price } from './data/cost.js';
import { EventStream } from './events/event-stream.js';
import { invalidOption } from './invalid-option.js';
import { withLayers } from './loop/layers.js';
import { checkDefaults, checkRetry } from './loop/options.js';
import { makePlan, type Plan } from './loop/plan.js';
import { prepareRequest } from './loop/prepare.js';
import { run } from './loop/run.js';
import { checkMiddleware } from './reliability/middleware.js';
import { toolMap } from './tools/tool.js';

const PARTS: readonly string[] = [
  'chat',
  ...CAPABILITY_SLOTS,
  'tools',
  'executor',
  'encodeResult',
  'defaults',
  'context',
  'retry',
  'middleware',
  'keys',
  'telemetry',
  'prices',
  'clock',
];

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
    const { plan, observation } = withLayers(config, makePlan(engine, config, clock, kind, input, options));
    const stop = new AbortController();
    const events = run(plan, stop, options.signal);
    return new EventStream(observation ? observation.events(events) : events, () => stop.abort());
  };
  const outcome = async (kind: Plan['kind'], input: Input, options?: CallOptions) => stream(kind, input, options).outcome;
  // The types of outputs are known to the callers only.
  const engine = Object.freeze({
    generate: (input: Input, options?: CallOptions) => outcome('model', input, options),
    streamGenerate: (input: Input, options?: CallOptions) => stream('model', input, options),
    step: (input: Input, options?: CallOptions) => outcome('step', input, options),
    streamStep: (input: Input, options?: CallOptions) => stream('step', input, options),
    chat: (input: Input, options?: CallOptions) => outcome('loop', input, options),
    stream: (input: Input, options?: CallOptions) => stream('loop', input, options),
    prepareRequest: async (input: Input, options: CallOptions = {}) =>
      prepareRequest(withLayers(config, makePlan(engine, config, clock, 'model', input, options)).plan, options.signal),
    ...capabilityMethods(config, clock),
    with: (changes: EngineConfig) => createEngine({ ...config, ...changes }),
    config: Object.freeze({ ...config }),
  }) as Engine;
  return engine;
}

function checkConfig(config: EngineConfig): void {
  if (typeof config !== 'object' || config === null) throw invalidOption('createEngine takes an object such as { chat, tools }.');
  for (const key of Object.keys(config))
    if (!PARTS.includes(key)) throw invalidOption(`createEngine does not know "${key}". It takes ${PARTS.join(', ')}.`);
  const { chat, executor, encodeResult, clock, defaults, tools, retry, middleware, keys, telemetry, prices } = config;
  if (chat !== undefined && typeof chat?.stream !== 'function')
    throw invalidOption('chat must be an adapter such as openaiChat({ model }), with a stream method.');
  for (const [key, part] of Object.entries({ executor, encodeResult }))
    if (part !== undefined && typeof part !== 'function') throw invalidOption(`${key} must be a function, not ${typeof part}.`);
  if (clock !== undefined && typeof clock?.setTimer !== 'function')
    throw invalidOption('clock must be a Clock, with now, wallTime and setTimer.');
  if (defaults !== undefined) checkDefaults(defaults);
  checkSlots(config);
  if (tools !== undefined) toolMap(tools);
  checkRetry(retry);
  if (middleware !== undefined) checkMiddleware(middleware);
  if (keys !== undefined && typeof keys !== 'function') throw invalidOption('keys must be a function (provider, info) that gives a key.');
  if (telemetry !== undefined && typeof telemetry?.run !== 'function')
    throw invalidOption('telemetry must have a run method, such as otelTelemetry({ tracer }).');
  for (const [model, price] of Object.entries(prices ?? {})) checkPrice(model, price);
}

function checkPrice(model: string, price: Price): void {
  for (const key of ['input', 'output', 'cachedInput', 'cacheWrite'] as const) {
    const value: unknown = price?.[key];
    const isNeeded = key === 'input' || key === 'output';
    if (!(typeof value === 'number' && value >= 0) && (isNeeded || value !== undefined))
      throw invalidOption(`prices: ${key} of "${model}" must be US dollars per million tokens, not negative.`);
  }
}
