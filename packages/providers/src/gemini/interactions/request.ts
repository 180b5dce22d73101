import type { ChatRequest, ReasoningEffort, Warning } from '@antiphon/engine';
import { withToolNames } from '../../hand-over/tool-names.js';
import { ownOptions } from '../../http/own-options.js';
import type { WireJson, WireObject } from '../../http/wire-values.js';
import { PROVIDER } from '../endpoint.js';
import { effortsOf, thinkingOf } from '../models.js';
import {
  type BuiltRequest,
  functionsToWire,
  knownEffort,
  nothingToAnswer,
  outputSchema,
  stopTexts,
  TOOL_NAMES,
  warnOfCache,
  withOwnOptions,
} from '../settings.js';

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
  warnOfCache(request, 'cached_content', warnings);
  const functions = functionsToWire(request, 'parameters', warnings);
  const { temperature, topP, maxTokens, seed } = request;
  const config = {
    ...{ temperature, top_p: topP, max_output_tokens: maxTokens, stop_sequences: stopTexts(request.stop, warnings), seed },
    ...effortToWire(request.reasoning, model, warnings),
    tool_choice: functions && choiceToWire(request.toolChoice),
  };
  const body: WireObject = {
    // An agent of Google's stands in the model's place.
    ...(own.agent === undefined ? { model: model.replace(/^models\//, '') } : {}),
    input: steps,
    stream: true,
    // What runs in the background has to be stored to be found again.
    store: own.background === true,
    ...(system === undefined ? {} : { system_instruction: system }),
    ...(functions === undefined ? {} : { tools: functions.map(tool => ({ type: 'function', ...tool })) }),
    ...outputToWire(request, model, warnings),
    ...(Object.values(config).some(value => value !== undefined) ? { generation_config: config } : {}),
  };
  return { model, body: JSON.stringify(withOwnOptions(body, own, LISTS, warnings)), warnings, ownNames };
}

/** This API knows levels only, for every model that thinks. */
function effortToWire(effort: ReasoningEffort | undefined, model: string, warnings: Warning[]): WireObject {
  const levels = effortsOf(thinkingOf(model)).filter(level => level !== 'none');
  const level = knownEffort(effort, model, levels, warnings);
  return level === undefined ? {} : { thinking_level: level, thinking_summaries: 'auto' };
}

function outputToWire(request: ChatRequest, model: string, warnings: Warning[]): WireObject {
  const schema = outputSchema(request, model, warnings);
  return schema === undefined ? {} : { response_format: [{ type: 'text', mime_type: 'application/json', schema }] };
}

function choiceToWire(choice: ChatRequest['toolChoice']): WireJson {
  if (typeof choice === 'object') return { allowed_tools: { mode: 'any', tools: [choice.tool] } };
  return choice === 'required' ? 'any' : choice;
}
