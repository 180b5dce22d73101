import { type ChatRequest, isRecord, type JsonObject, type ToolChoice, type ToolSpec, type Warning } from '@antiphon/engine';
import { withToolNames } from '../hand-over/tool-names.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { unsupportedSetting } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';

import { replayBetas } from './betas.js';
import { markCache } from './cache.js';
import { PROVIDER } from './endpoint.js';
import { isThought, messagesToWire, type WireThread } from './messages.js';
import { type ModelTraits, traitsOf } from './models.js';
import { mendReferences } from './repairs.js';
import { messageState } from './replay.js';
import { nativeSchema } from './schema.js';
import { samplingToWire, thinkingToWire } from './settings.js';
import { toolSchema } from './tool-schema.js';

export interface BuiltRequest {
  /** The JSON text to send. */
  readonly body: string;
  /** Beta features that the request needs, or that the caller asked for in `providerOptions`. */
  readonly betas: readonly string[];
  /** Beta features that the history needs, in whichever version. */
  readonly replayBetas: readonly string[];
  readonly warnings: readonly Warning[];
  /** The caller's names of tools that are sent under another one. */
  readonly ownNames: ReadonlyMap<string, string>;
}

/**
 * A neutral request in the API's terms. Pure: no key, no network. What this model cannot do comes back as a warning. `providerOptions.anthropic`
 * holds fields of the body as they are; three of them are understood: `tools` are added to the request's own, `betas` go into a header, and
 * `disable_parallel_tool_use` into the choice of tools.
 */
export function buildRequest(given: ChatRequest, defaults: { readonly model: string; readonly maxTokens?: number }): BuiltRequest {
  const { request, ownNames } = withToolNames(given, 'word-128');
  const warnings: Warning[] = [];
  const model = request.model ?? defaults.model;
  const traits = traitsOf(model);
  const { tools: serverTools, betas, disable_parallel_tool_use, ...options } = ownOptions(request, PROVIDER);
  const maxTokens = request.maxTokens ?? defaults.maxTokens ?? traits.maxTokens;
  const thread = messagesToWire(request.messages, warnings);
  const tools = [...(request.tools ?? []).map(toolToWire), ...(Array.isArray(serverTools) ? (serverTools as WireObject[]) : [])];
  mendReferences(thread.messages, tools, warnings);
  const choice = choiceToWire(request.toolChoice, disable_parallel_tool_use === true, tools.length > 0, traits, warnings);
  const forced = choice?.type === 'any' || choice?.type === 'tool';
  const { thinking: asked, effort } = thinkingToWire(
    request.reasoning,
    { maxTokens, forced, unthought: isUnthought(thread) },
    traits,
    warnings,
  );
  const lenient = traits.bindsThinking && !forced && options.thinking === undefined && mayNeedLeniency(asked, thread);
  const thinking = lenient ? { type: 'adaptive', ...asked, block_binding: { prefix_mismatch_behavior: 'drop_block' } } : asked;
  const thinks = (isRecord(options.thinking) ? options.thinking : thinking)?.type;
  const format = formatToWire(request.output, thread.system, traits, warnings);
  markCache(request.promptCache, { ...thread, tools });
  const container = pendingContainer(request);
  const body: WireObject = {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(thread.system.length > 0 ? { system: thread.system } : {}),
    messages: thread.messages as unknown as readonly WireObject[],
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...samplingToWire(request, thinks === 'adaptive' || thinks === 'enabled', traits, warnings),
    ...(thinking === undefined ? {} : { thinking }),
    ...(effort === undefined && format === undefined ? {} : { output_config: { effort, format } }),
    ...(container === undefined ? {} : { container }),
  };
  return {
    body: JSON.stringify(withOptions(body, options, warnings)),
    betas: [...(Array.isArray(betas) ? betas.filter(beta => typeof beta === 'string') : []), ...(lenient ? [BINDING_BETA] : [])],
    replayBetas: replayBetas(thread.messages),
    warnings,
    ownNames,
  };
}

const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

/**
 * Earlier thinking goes back, and what stands before it may have been changed for good reasons: a long history was trimmed, or holds only what
 * was heard. The model then leaves that thinking out instead of refusing the request for ever.
 */
function mayNeedLeniency(asked: WireObject | undefined, { messages }: WireThread): boolean {
  return (asked === undefined || asked.type === 'adaptive') && messages.some(({ content }) => content.some(isThought));
}

/** The thread ends with results for an answer that has no thinking at its beginning. */
function isUnthought({ messages }: WireThread): boolean {
  const results = messages.at(-1)?.content ?? [];
  const [first] = messages.at(-2)?.content ?? [];
  return results.some(block => block.type === 'tool_result') && !isThought(first);
}

function toolToWire({ name, description, inputSchema }: ToolSpec): WireObject {
  return { name, description: description === '' ? undefined : description, input_schema: toolSchema(inputSchema) as WireObject };
}

function choiceToWire(
  choice: ToolChoice | undefined,
  alone: boolean,
  hasTools: boolean,
  traits: ModelTraits,
  warnings: Warning[],
): WireObject | undefined {
  const isForced = choice === 'required' || typeof choice === 'object';
  if (!hasTools) {
    if (isForced) warnings.push(unsupportedSetting('toolChoice', 'A tool call was demanded, but the request has no tools.'));
    return undefined;
  }
  if (choice === 'none') return { type: 'none' };
  const parallel = alone ? { disable_parallel_tool_use: true } : {};
  if (isForced && !traits.forcedTools) {
    warnings.push(unsupportedSetting('toolChoice', 'This model cannot be made to call a tool; the model decides.'));
    return { type: 'auto', ...parallel };
  }
  if (choice === 'required') return { type: 'any', ...parallel };
  if (typeof choice === 'object') return { type: 'tool', name: choice.tool, ...parallel };
  return choice === 'auto' || alone ? { type: 'auto', ...parallel } : undefined;
}

/** The schema of the answer, as a field; or as instructions where the model or the schema leaves no other way. */
function formatToWire(
  output: ChatRequest['output'],
  system: WireObject[],
  traits: ModelTraits,
  warnings: Warning[],
): WireObject | undefined {
  if (output === undefined) return undefined;
  const schema = traits.structuredOutput ? nativeSchema(output.schema) : undefined;
  if (schema) return { type: 'json_schema', schema: schema as WireJson };
  const why = traits.structuredOutput
    ? 'This schema is more than anthropic can hold an answer to'
    : 'This model does not hold answers to a schema';
  warnings.push(unsupportedSetting('output', `${why}; the model was asked in words.`));
  const text = `Answer with one JSON object and nothing else: no prose, no code fence. It must fit this JSON Schema:\n${JSON.stringify(output.schema)}`;
  system.push({ type: 'text', text });
  return undefined;
}

/**
 * Calls that came from code on the server can be answered only in the container where it waits. In any other case a container is the caller's
 * wish, since it may have ended meanwhile.
 */
function pendingContainer({ messages }: ChatRequest): string | undefined {
  const last = messages.findLast(message => message.role !== 'tool');
  if (last?.role !== 'assistant' || typeof last.content === 'string') return undefined;
  const waits = last.content.some(part => {
    const caller = part.type === 'tool_call' ? part.providerState?.[PROVIDER]?.caller : undefined;
    return isRecord(caller) && caller.type !== 'direct';
  });
  const container = waits ? messageState(last)?.container : undefined;
  return isRecord(container) && typeof container.id === 'string' ? container.id : undefined;
}

/** The caller's own fields, as they are. They win over what was derived from settings, and say so; `output_config` is put together. */
function withOptions(body: WireObject, options: JsonObject, warnings: Warning[]): WireObject {
  const { output_config: derived, ...others } = body;
  const { output_config: own, ...fields } = options;
  if (!isRecord(derived) || !isRecord(own)) return withOwnOptions(body, options, warnings);
  return { ...withOwnOptions(others, fields, warnings), output_config: { ...(derived as WireObject), ...(own as WireObject) } };
}
