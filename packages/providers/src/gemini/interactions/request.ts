import type { ChatRequest, ReasoningEffort, Warning } from '@antiphon/engine';
import { withToolNames } from '../../hand-over/tool-names.js';
import { ownOptions } from '../../http/own-options.js';
import { PROVIDER } from '../endpoint.js';
import { thinkingOf } from '../models.js';
import {
  type BuiltRequest,
  knownEffort,
  nothingToAnswer,
  outputSchema,
  schemaToWire,
  stopTexts,
  TOOL_NAMES,
  unsupported,
  warnOfNoTools,
  withOwnOptions,
} from '../settings.js';
import type { WireJson, WireObject } from '../wire.js';
import { historyToSteps } from './history.js';

/** Fields that hold a list: the caller's entries come behind the request's. */
const LISTS = ['tools', 'input', 'response_format'];

/**
 * A neutral request in the terms of the Interactions API. Pure: no key, no network. What the model cannot express comes back as a warning.
 * Throws `AdapterError` (`invalid_request`) for a conversation without anything that the API could answer.
 */
export function buildInteraction(given: ChatRequest, ownModel: string): BuiltRequest {
  const { request, ownNames } = withToolNames(given, TOOL_NAMES);
  const warnings: Warning[] = [];
  const model = request.model ?? ownModel;
  const own = ownOptions(request, PROVIDER);
  const { system, steps } = historyToSteps(request.messages, model, own.previous_interaction_id, warnings);
  if (steps.length === 0 && own.input === undefined) throw nothingToAnswer();
  if (request.promptCache !== undefined) {
    warnings.push(unsupported('promptCache', 'Gemini caches by itself; a cache of your own goes into providerOptions as cached_content.'));
  }
  const { tools, toolChoice } = toolsToWire(request, warnings);
  const { temperature, topP, maxTokens, seed } = request;
  const config = {
    ...{ temperature, top_p: topP, max_output_tokens: maxTokens, stop_sequences: stopTexts(request.stop, warnings), seed },
    ...effortToWire(request.reasoning, model, warnings),
    tool_choice: toolChoice,
  };
  const body: WireObject = {
    // An agent of Google's stands in the model's place.
    ...(own.agent === undefined ? { model: model.replace(/^models\//, '') } : {}),
    input: steps,
    stream: true,
    // What runs in the background has to be stored to be found again.
    store: own.background === true,
    ...(system === undefined ? {} : { system_instruction: system }),
    ...(tools === undefined ? {} : { tools }),
    ...outputToWire(request, model, warnings),
    ...(Object.values(config).some(value => value !== undefined) ? { generation_config: config } : {}),
  };
  return { model, body: JSON.stringify(withOwnOptions(body, own, LISTS, warnings)), warnings, ownNames };
}

/** This API knows levels only, for every model that thinks. */
function effortToWire(effort: ReasoningEffort | undefined, model: string, warnings: Warning[]): WireObject {
  if (effort === undefined) return {};
  const thinking = thinkingOf(model);
  if (thinking.kind === 'none') {
    if (effort !== 'none') warnings.push(unsupported('reasoning', `${model} does not think; the effort was not sent.`));
    return {};
  }
  const named = thinking.kind === 'level' ? thinking.efforts : (Object.keys(thinking.tokens) as ReasoningEffort[]);
  const levels = named.filter(level => level !== 'none');
  return { thinking_level: knownEffort(effort, model, levels, warnings), thinking_summaries: 'auto' };
}

function outputToWire(request: ChatRequest, model: string, warnings: Warning[]): WireObject {
  const schema = outputSchema(request, model, warnings);
  return schema === undefined ? {} : { response_format: [{ type: 'text', mime_type: 'application/json', schema }] };
}

function toolsToWire(
  { tools = [], toolChoice }: ChatRequest,
  warnings: Warning[],
): { tools?: readonly WireObject[]; toolChoice?: WireJson } {
  if (tools.length === 0) {
    warnOfNoTools(toolChoice, warnings);
    return {};
  }
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description: description === '' ? undefined : description,
    parameters: schemaToWire(inputSchema as WireObject, 'tools', `the tool ${name}`, warnings),
  }));
  return { tools: functions, toolChoice: choiceToWire(toolChoice) };
}

function choiceToWire(choice: ChatRequest['toolChoice']): WireJson {
  if (typeof choice === 'object') return { allowed_tools: { mode: 'any', tools: [choice.tool] } };
  return choice === 'required' ? 'any' : choice;
}
