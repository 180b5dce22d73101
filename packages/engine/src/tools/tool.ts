import type { ToolSpec } from '../adapters/chat.js';
import type { Tool, ToolDefinition } from '../contract.js';
import { isRecord, type JsonObject } from '../data/json.js';
import { invalidOption } from '../invalid-option.js';
import { objectAtRoot } from './object-at-root.js';
import { NO_ARGUMENTS, type Schema, toJsonSchema } from './schema.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const KEYS: readonly string[] = [
  'name',
  'description',
  'input',
  'run',
  'manual',
  'approve',
  'timeoutMs',
  'maxConcurrency',
  'sequential',
  'idempotent',
  'summary',
  'compact',
];
const RESERVED_NAMES: ReadonlySet<string> = new Set(['auto', 'none', 'required']);

/**
 * Makes a tool. Throws `TypeError` for a mistake of the programmer: a bad name, an unknown key, a handler that is no function or takes more
 * than `(args, context)`, a schema that is none or that does not describe an object; `ConfigurationError` (`missing_schema`) for a schema
 * that cannot be written as JSON Schema.
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
  for (const key of Object.keys(definition)) {
    // A tool that was made already may be made again with some keys replaced.
    if (!KEYS.includes(key) && key !== 'inputSchema') throw new TypeError(`${label}: unknown key "${key}". A tool has ${KEYS.join(', ')}.`);
  }
  checkHandler(label, run);
  if (definition.timeoutMs !== undefined && !(typeof definition.timeoutMs === 'number' && definition.timeoutMs > 0))
    throw new TypeError(`${label}: timeoutMs must be above 0.`);
  if (definition.maxConcurrency !== undefined && !(Number.isInteger(definition.maxConcurrency) && definition.maxConcurrency > 0)) {
    throw new TypeError(`${label}: maxConcurrency must be a whole number above 0.`);
  }
  for (const flag of ['manual', 'sequential', 'idempotent', 'compact'] as const) {
    if (definition[flag] !== undefined && typeof definition[flag] !== 'boolean')
      throw new TypeError(`${label}: ${flag} must be true or false.`);
  }
  if (definition.approve !== undefined && typeof definition.approve !== 'boolean' && typeof definition.approve !== 'function')
    throw new TypeError(`${label}: approve must be true, false or a function of the call.`);
  if (definition.summary !== undefined && typeof definition.summary !== 'string')
    throw new TypeError(`${label}: summary must be a string.`);
  const schema: Schema = input ?? NO_ARGUMENTS;
  const inputSchema = objectAtRoot(toJsonSchema(schema, label));
  if (typeof inputSchema.type === 'string' && inputSchema.type !== 'object')
    throw new TypeError(`${label}: input must describe an object, since arguments have names, not a value of type ${inputSchema.type}.`);
  return { ...definition, input: schema, inputSchema } as unknown as Tool;
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

/** Tools by name. Throws `TypeError` for what `tool()` did not make, `ConfigurationError` for two of one name. */
export function toolMap(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  if (!Array.isArray(tools)) throw new TypeError('tools must be a list of tools made by tool({ name, description, input, run }).');
  const map = new Map<string, Tool>();
  for (const tool of tools as readonly Tool[]) {
    if (!isRecord(tool) || !isRecord(tool.inputSchema) || typeof tool.name !== 'string')
      throw new TypeError('tools must be made by tool({ name, description, input, run }).');
    if (map.has(tool.name)) throw invalidOption(`Two tools are named "${tool.name}"; names must be unique.`);
    map.set(tool.name, tool);
  }
  return map;
}
