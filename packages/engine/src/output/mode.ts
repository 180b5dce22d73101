// How a model is asked for a value of a shape, and how the value is found in what it was made to write.
import type { ChatAdapter, ChatRequest, ToolChoice } from '../adapters/chat.js';
import { distinctId } from '../data/distinct-id.js';
import { isRecord, type Json, type JsonObject } from '../data/json.js';
import { type Message, system } from '../data/messages.js';
import type { Schema } from '../tools/schema.js';

/**
 * - `native`: the provider itself holds the answer to the schema (adapters that say `structuredOutput`).
 * - `tool`: a tool whose arguments are the answer; works wherever tools do.
 * - `instructions`: the schema stands in a system message; for models that know neither.
 */
export type OutputMode = 'native' | 'tool' | 'instructions';

/** The shape that an answer must have. */
export interface OutputShape {
  /** What the value is checked against; it may transform it. */
  readonly schema: Schema;
  /** The same as JSON Schema. */
  readonly json: JsonObject;
  readonly name: string;
  /** Undefined: the best that the adapter can do. */
  readonly mode?: OutputMode;
}

/** A shape as it is sent. */
export interface WireShape extends OutputShape {
  /** For the provider: always an object, since neither arguments nor every provider's own way can be anything else. */
  readonly wire: JsonObject;
  /** The value stands in the member `value` of that object. */
  readonly wrapped: boolean;
}

export function wireShape(shape: OutputShape): WireShape {
  const wrapped = shape.json.type !== 'object';
  return { ...shape, wrapped, wire: wrapped ? wrap(shape.json) : shape.json };
}

/** The mode for a call to this adapter. */
export function modeFor(shape: OutputShape, adapter: ChatAdapter, { tools = [] }: ChatRequest): OutputMode {
  // A step may go to another model than the run began with.
  if (shape.mode === 'native' && adapter.structuredOutput !== true) return 'tool';
  const holds = adapter.structuredOutput === true && (tools.length === 0 || adapter.structuredOutputWithTools !== false);
  return shape.mode ?? (holds ? 'native' : 'tool');
}

/** The request with what the mode needs; `tool` is the name of the answer's tool in this request. */
export function askFor(
  shape: WireShape,
  mode: OutputMode,
  request: ChatRequest,
  again: boolean,
): { readonly request: ChatRequest; readonly tool?: string } {
  if (mode === 'native') return { request: { ...request, output: { name: shape.name, schema: shape.wire } } };
  if (mode === 'instructions') return { request: { ...request, messages: withInstructions(request.messages, shape) } };
  const tools = request.tools ?? [];
  const tool = distinctId(shape.name, new Set(tools.map(({ name }) => name)));
  const description = `Gives the final answer, in the shape that is asked for. ${tools.length === 0 ? '' : 'Call it once everything that the answer needs is known, and alone. '}The answer is given by this call only, not by text.`;
  const spec = { name: tool, description, inputSchema: shape.wire };
  return { tool, request: { ...request, tools: [...tools, spec], toolChoice: choiceFor(request, tools.length > 0, tool, again) } };
}

function choiceFor({ toolChoice }: ChatRequest, hasTools: boolean, tool: string, again: boolean): ToolChoice {
  if (!hasTools) return 'required';
  // Who wants none of the tools still wants the answer.
  if (again || toolChoice === 'none') return { tool };
  return toolChoice ?? 'auto';
}

function withInstructions(messages: readonly Message[], { wire }: WireShape): readonly Message[] {
  const text = `Answer with one JSON object and nothing else: no prose, no code fence. It must fit this JSON Schema:\n${JSON.stringify(wire)}`;
  const at = messages.findIndex(({ role }) => role !== 'system');
  // Behind the other instructions, at the same place in every step: a cached beginning stays valid.
  return at < 0 ? [...messages, system(text)] : [...messages.slice(0, at), system(text), ...messages.slice(at)];
}

/** The value in what the model wrote. A model that forgot to wrap it is not sent back for that. */
export function unwrapValue({ wrapped }: WireShape, written: Json): Json {
  if (!wrapped || !isRecord(written)) return written;
  return Object.hasOwn(written, 'value') ? (written.value as Json) : written;
}

function wrap(schema: JsonObject): JsonObject {
  const { $schema: _, $defs, definitions, ...rest } = schema;
  const moved = (part: Json): JsonObject => moveReferences(part) as JsonObject;
  return {
    type: 'object',
    properties: { value: moved(rest) },
    required: ['value'],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs: moved($defs) }),
    ...(definitions === undefined ? {} : { definitions: moved(definitions) }),
  };
}

/** Where a schema holds data and not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** The root of the schema has moved one level down, its definitions have not. */
function moveReferences(part: Json): Json {
  if (Array.isArray(part)) return part.map(moveReferences);
  if (!isRecord(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      const item = value as Json;
      const isMoved = key === '$ref' && typeof item === 'string' && /^#(?!\/(?:\$defs|definitions)\/)(?:\/|$)/.test(item);
      if (isMoved) return [key, `#/properties/value${(item as string).slice(1)}`];
      return [key, DATA.has(key) ? item : moveReferences(item)];
    }),
  );
}
