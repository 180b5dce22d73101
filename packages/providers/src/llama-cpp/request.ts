import type { ChatRequest, ToolSpec, Warning } from '@antiphon/engine';
import { ownOptions } from '../http/own-options.js';
import { unsupportedSetting } from '../http/warnings.js';

import { type GenerateOptions, type GrammarSchema, type HistoryItem, type ModelFunctions, PROVIDER } from './binding.js';
import { toHistory } from './history.js';
import { grammarSchema } from './schema.js';

/** A request in node-llama-cpp's terms, before a model is at hand. */
export interface LocalRequest {
  readonly history: readonly HistoryItem[];
  readonly functions?: ModelFunctions;
  /** The answer begins with a call. */
  readonly forceCall: boolean;
  /** The answer is one JSON value of this shape. */
  readonly grammar?: GrammarSchema;
  readonly maxTokens?: number;
  readonly sampling: Pick<
    GenerateOptions,
    'temperature' | 'topP' | 'topK' | 'minP' | 'seed' | 'customStopTriggers' | 'repeatPenalty' | 'maxParallelFunctionCalls'
  >;
  readonly warnings: readonly Warning[];
}

/** Settings of the sampler that only this provider has. */
const OWN_OPTIONS = ['topK', 'minP'] as const;

/** Pure: no model, no file. What cannot be expressed comes back as a warning. */
export function buildLocalRequest(request: ChatRequest): LocalRequest {
  const warnings: Warning[] = [];
  const history = toHistory(request.messages, warnings);
  const tools = offeredTools(request, warnings);
  const functions = tools.length === 0 ? undefined : functionsOf(tools, warnings);
  const grammar = functions === undefined ? outputGrammar(request, warnings) : undefined;
  if (functions !== undefined && request.output !== undefined) {
    warnings.push(unsupportedSetting('output', 'An answer cannot be held to a schema while tools are offered; the grammar was left out.'));
  }
  if (request.model !== undefined) warnings.push(unsupportedSetting('model', 'llamaCpp answers with the model of its file only.'));
  if (request.reasoning !== undefined) warnings.push(unsupportedSetting('reasoning', 'llamaCpp has no such setting; the model decides.'));
  if (request.promptCache !== undefined)
    warnings.push(unsupportedSetting('promptCache', 'llamaCpp keeps the last conversation by itself.'));
  const choice = request.toolChoice;
  const { maxTokens } = request;
  return {
    history,
    ...(functions === undefined ? {} : { functions }),
    forceCall: functions !== undefined && (choice === 'required' || typeof choice === 'object'),
    ...(grammar === undefined ? {} : { grammar }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    sampling: {
      ...samplingOf(request, warnings),
      // Repetition is what JSON is made of.
      ...(grammar === undefined && functions === undefined ? {} : { repeatPenalty: false as const }),
      ...(typeof choice === 'object' ? { maxParallelFunctionCalls: 1 } : {}),
    },
    warnings,
  };
}

function offeredTools({ tools = [], toolChoice }: ChatRequest, warnings: Warning[]): readonly ToolSpec[] {
  if (tools.length === 0) {
    if (toolChoice === 'required' || typeof toolChoice === 'object') {
      warnings.push(unsupportedSetting('toolChoice', 'A tool call was demanded, but the request has no tools.'));
    }
    return [];
  }
  // Without tools none can be called.
  if (toolChoice === 'none') return [];
  if (typeof toolChoice !== 'object') return tools;
  const named = tools.filter(({ name }) => name === toolChoice.tool);
  if (named.length === 0) warnings.push(unsupportedSetting('toolChoice', `There is no tool "${toolChoice.tool}"; any may be called.`));
  return named.length === 0 ? tools : named;
}

function functionsOf(tools: readonly ToolSpec[], warnings: Warning[]): ModelFunctions {
  const entries = tools.map(({ name, description, inputSchema }) => {
    const { schema, notHeld } = grammarSchema(inputSchema);
    warnLoose(`The arguments of ${name}`, 'tools', notHeld, warnings);
    const empty = 'type' in schema && schema.type === 'object' && !('properties' in schema) && !inputSchema.additionalProperties;
    return [name, { ...(description === '' ? {} : { description }), ...(empty ? {} : { params: schema }) }] as const;
  });
  return Object.fromEntries(entries);
}

function outputGrammar({ output }: ChatRequest, warnings: Warning[]): GrammarSchema | undefined {
  if (output === undefined) return undefined;
  const { schema, notHeld } = grammarSchema(output.schema);
  warnLoose('The answer', 'output', notHeld, warnings);
  return schema;
}

function warnLoose(what: string, setting: string, notHeld: readonly string[], warnings: Warning[]): void {
  if (notHeld.length > 0)
    warnings.push(unsupportedSetting(setting, `${what} cannot be held to ${notHeld.join(', ')} by a grammar; the rest of the schema is.`));
}

function samplingOf(request: ChatRequest, warnings: Warning[]): LocalRequest['sampling'] {
  const { temperature, topP, seed, stop } = request;
  const own: Record<string, number> = {};
  for (const [name, value] of Object.entries(ownOptions(request, PROVIDER))) {
    const known = OWN_OPTIONS.find(option => option === name);
    if (known && typeof value === 'number') own[known] = value;
    else
      warnings.push(
        unsupportedSetting(`providerOptions.${name}`, `llamaCpp has no such option; it has ${OWN_OPTIONS.join(' and ')}, as numbers.`),
      );
  }
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(stop === undefined || stop.length === 0 ? {} : { customStopTriggers: stop }),
    ...own,
  };
}
