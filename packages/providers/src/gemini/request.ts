import { type ChatRequest, isRecord, type ReasoningEffort, type Warning } from '@antiphon/engine';
import { withToolNames } from '../hand-over/tool-names.js';
import { ownOptions } from '../http/own-options.js';
import type { WireObject } from '../http/wire-values.js';
import { contentsToWire } from './contents.js';
import { PROVIDER } from './endpoint.js';
import { effortsOf, isGemini3, thinkingOf } from './models.js';
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
} from './settings.js';

/**
 * A neutral request in the terms of generateContent. Pure: no key, no network. What the model cannot express comes back as a warning. Throws
 * `AdapterError` (`invalid_request`) for a conversation without anything that the API could answer.
 */
export function buildRequest(given: ChatRequest, ownModel: string): BuiltRequest {
  const { request, ownNames } = withToolNames(given, TOOL_NAMES);
  const warnings: Warning[] = [];
  const model = request.model ?? ownModel;
  const { systemInstruction, contents } = contentsToWire(request.messages, model, warnings);
  if (contents.length === 0) throw nothingToAnswer();
  warnOfCache(request, 'cachedContent', warnings);
  const { temperature, topP, maxTokens, seed } = request;
  const generationConfig = {
    ...{ temperature, topP, maxOutputTokens: maxTokens, stopSequences: stopTexts(request.stop, warnings), seed },
    ...effortToWire(request.reasoning, model, warnings),
    ...outputToWire(request, model, warnings),
  };
  const own = ownOptions(request, PROVIDER);
  const body: WireObject = {
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    contents,
    ...toolsToWire(request, model, own, warnings),
    ...(Object.values(generationConfig).some(value => value !== undefined) ? { generationConfig } : {}),
  };
  return { model, body: JSON.stringify(withOwnOptions(body, own, ['tools'], warnings)), warnings, ownNames };
}

function effortToWire(effort: ReasoningEffort | undefined, model: string, warnings: Warning[]): WireObject {
  const thinking = thinkingOf(model);
  const nearest = knownEffort(effort, model, effortsOf(thinking), warnings);
  if (nearest === undefined) return {};
  const amount = thinking.kind === 'budget' ? { thinkingBudget: thinking.tokens[nearest] } : { thinkingLevel: nearest };
  return { thinkingConfig: { ...amount, ...(nearest === 'none' ? {} : { includeThoughts: true }) } };
}

function outputToWire(request: ChatRequest, model: string, warnings: Warning[]): WireObject {
  const responseJsonSchema = outputSchema(request, model, warnings);
  return responseJsonSchema === undefined ? {} : { responseMimeType: 'application/json', responseJsonSchema };
}

function toolsToWire(request: ChatRequest, model: string, own: WireObject, warnings: Warning[]): WireObject {
  const functionDeclarations = functionsToWire(request, 'parametersJsonSchema', warnings);
  if (functionDeclarations === undefined) return {};
  const { toolChoice } = request;
  const toolConfig = {
    ...(toolChoice === undefined ? {} : { functionCallingConfig: choiceToWire(toolChoice) }),
    ...(isGemini3(model) && addsHostedTools(own) ? { includeServerSideToolInvocations: true } : {}),
  };
  return { tools: [{ functionDeclarations }], ...(Object.keys(toolConfig).length === 0 ? {} : { toolConfig }) };
}

/** Google's own tools beside functions are refused unless their calls are told, so that they can go back. Who says so already decides. */
function addsHostedTools({ tools, toolConfig }: WireObject): boolean {
  if (isRecord(toolConfig) && 'includeServerSideToolInvocations' in toolConfig) return false;
  const entries = Array.isArray(tools) ? tools : [tools];
  return entries.some(tool => isRecord(tool) && Object.keys(tool).some(kind => kind !== 'functionDeclarations'));
}

function choiceToWire(choice: ChatRequest['toolChoice'] & {}): WireObject {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.tool] };
  return { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() };
}
