import type { ToolSpec } from '../adapters/chat.js';
import type { Json, JsonObject } from '../data/json.js';
import type { ToolCall } from '../data/parts.js';
import type { Engine } from '../engine.js';
import type { ToolResult } from './result.js';
import { type Schema, type SchemaOutput, toJsonSchema } from './schema.js';

/** What a handler is given beside its arguments. */
export interface ToolContext {
  /** The caller's own value: session options over call options over the engine's. */
  readonly context: unknown;
  readonly sessionId?: string;
  readonly requestId: string;
  readonly call: ToolCall;
  /** For nested model calls. */
  readonly engine?: Engine;
  /** Aborts when the run is stopped or the tool's time is up. */
  readonly signal: AbortSignal;
  /** Shows an interim value to whoever reads the stream. */
  readonly progress: (value: Json) => void;
}

/** What a handler may return: a tagged result, or any JSON value (which means `ok`). */
export type ToolReturn = ToolResult | unknown;

export type ToolHandler<Args> = (args: Args, context: ToolContext) => ToolReturn | Promise<ToolReturn>;

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
  /** How many calls of this tool may run at once; 1 makes it sequential. */
  readonly maxConcurrency?: number;
  readonly summary?: string;
  readonly compact?: boolean;
}

/** A tool that was checked. Made by `tool()`. */
export interface Tool extends Omit<ToolDefinition<Schema>, 'run' | 'input'> {
  readonly input: Schema;
  readonly run?: ToolHandler<never>;
  readonly inputSchema: JsonObject;
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const RESERVED_NAMES: ReadonlySet<string> = new Set(['auto', 'none', 'required']);

/**
 * Makes a tool. Throws `TypeError` for a mistake of the programmer: a bad name, a handler that is no function or takes more than
 * `(args, context)`, a schema that is none.
 *
 * ```ts
 * const weather = tool({
 *   name: 'weather',
 *   description: 'The weather in a city, now.',
 *   input: z.object({ city: z.string() }),
 *   run: async ({ city }, { signal }) => forecast(city, signal),
 * });
 * ```
 */
export function tool<const S extends Schema = JsonObject>(definition: ToolDefinition<S>): Tool {
  if (typeof definition !== 'object' || definition === null)
    throw new TypeError('tool() takes an object: { name, description, input, run }.');
  const { name, description, input, run } = definition;
  const label = `tool ${JSON.stringify(name)}`;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new TypeError(`${label}: a name has 1 to 64 letters, digits, _ or -.`);
  }
  if (RESERVED_NAMES.has(name)) throw new TypeError(`${label}: auto, none and required are words of toolChoice; choose another name.`);
  if (typeof description !== 'string')
    throw new TypeError(`${label}: description must be a string; it tells the model when to use the tool.`);
  checkHandler(label, run);
  if (definition.timeoutMs !== undefined && !(definition.timeoutMs > 0)) throw new TypeError(`${label}: timeoutMs must be above 0.`);
  if (definition.maxConcurrency !== undefined && !(Number.isInteger(definition.maxConcurrency) && definition.maxConcurrency > 0)) {
    throw new TypeError(`${label}: maxConcurrency must be a whole number above 0.`);
  }
  for (const flag of ['manual', 'compact'] as const) {
    if (definition[flag] !== undefined && typeof definition[flag] !== 'boolean')
      throw new TypeError(`${label}: ${flag} must be true or false.`);
  }
  const schema: Schema = input ?? NO_ARGUMENTS;
  return { ...definition, input: schema, inputSchema: toJsonSchema(schema, label) } as unknown as Tool;
}

/** Throws `TypeError` unless `run` is missing or a function of at most two parameters. */
export function checkHandler(label: string, run: unknown): void {
  if (run === undefined) return;
  if (typeof run !== 'function') throw new TypeError(`${label}: run must be a function (args, context) => result, not ${typeof run}.`);
  if (run.length > 2) throw new TypeError(`${label}: run takes (args, context), but declares ${run.length} parameters.`);
}

/** The tool as the model sees it. */
export function toolSpec(tool: Tool): ToolSpec {
  return { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
}
