import { type ChatRequest, isRecord, type JsonObject, type Warning } from '@antiphon/engine';
import { withToolNames } from '../hand-over/tool-names.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { unsupportedSetting } from '../http/warnings.js';
import type { WireObject } from '../http/wire-values.js';

import type { Profile } from '../openai-chat/profiles.js';
import type { BuiltRequest } from '../openai-chat/request.js';
import { cacheToWire, functionToWire, knownEffort, samplingToWire, schemaToWire, warnOfNoTools } from '../openai-chat/settings.js';

import { inputItems } from './input-items.js';
import { reasonsUnasked, refusesReasoning } from './models.js';

/** A request, ready to be sent. */
export interface BuiltResponsesRequest extends BuiltRequest {
  /** Names of the function tools in it. */
  readonly toolNames: ReadonlySet<string>;
  /** Names of all tools that the caller runs, where the server also shows calls of its own. */
  readonly callable?: ReadonlySet<string>;
}

const FIELDS = { temperature: 'temperature', topP: 'top_p', maxTokens: 'max_output_tokens' } as const;

const MERGING = { lists: ['tools', 'include', 'input'], groups: ['reasoning', 'text'], defaults: ['store', 'stream'] } as const;

/** A neutral request in the protocol's terms. Pure: no key, no network. What the server cannot express comes back as a warning. */
export function buildRequest(given: ChatRequest, defaultModel: string, profile: Profile): BuiltResponsesRequest {
  const { request, ownNames } = withToolNames(given, profile.toolNames);
  const warnings: Warning[] = [];
  const own = ownOptions(request, profile.name, 'openai');
  const model = request.model ?? defaultModel;
  // What runs in the background has to be stored to be found again.
  const store = own.background === true;
  const body: WireObject = {
    model,
    input: inputItems(request.messages, profile, warnings, { reasons: !refusesReasoning(model), previous: own.previous_response_id }),
    stream: true,
    store,
    ...samplingToWire(request, FIELDS, `The Responses API of ${profile.name}`, profile, warnings),
    ...toolsToWire(request, profile, own, warnings),
    ...(request.reasoning === undefined ? {} : { reasoning: { effort: knownEffort(request.reasoning, profile, warnings) } }),
    ...(wantsEncrypted(request, model, profile) && !store && own.store !== true ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(request.output === undefined ? {} : { text: { format: { type: 'json_schema', ...schemaToWire(request.output) } } }),
    ...cacheToWire(request.promptCache, profile, warnings),
  };
  const merged = withOwnOptions(body, own, warnings, MERGING);
  const toolNames = new Set((request.tools ?? []).map(tool => tool.name));
  const callable = profile.showsOwnCalls ? { callable: new Set([...toolNames, ...namesOf(own.tools)]) } : {};
  return { body: JSON.stringify(merged), warnings, ownNames, toolNames, ...callable };
}

/** Names of the tools in the caller's own fields: custom ones, and those of other kinds that have a name. */
function namesOf(tools: unknown): string[] {
  return Array.isArray(tools) ? tools.flatMap(tool => (isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : [])) : [];
}

function toolsToWire(request: ChatRequest, profile: Profile, own: JsonObject, warnings: Warning[]): WireObject {
  const hosted = Array.isArray(own.tools) ? (own.tools as readonly JsonObject[]) : [];
  const isCustom = (name: string) => hosted.some(tool => tool.type === 'custom' && tool.name === name);
  const functions = (request.tools ?? [])
    // A tool that is declared as custom takes free text; the function's schema does not apply.
    .filter(({ name }) => !isCustom(name))
    // Left out, the server would hold calls to its own idea of the schema.
    .map(tool => ({ type: 'function', ...functionToWire(tool), strict: false }));
  const { toolChoice } = request;
  const fields = functions.length > 0 ? { tools: functions } : {};
  if (toolChoice === undefined) return fields;
  if (functions.length + hosted.length === 0) {
    warnOfNoTools(toolChoice, warnings);
    return {};
  }
  if (profile.toolChoice === 'auto-only' && toolChoice !== 'auto') {
    if (toolChoice === 'none' && hosted.length === 0) return {};
    warnings.push(unsupportedSetting('toolChoice', `${profile.name} cannot be told whether to call a tool; the model decides.`));
    return fields;
  }
  if (typeof toolChoice === 'string') return { ...fields, tool_choice: toolChoice };
  return { ...fields, tool_choice: { type: isCustom(toolChoice.tool) ? 'custom' : 'function', name: toolChoice.tool } };
}

/** What is not stored comes back encrypted, so that the next request can go on from it. Servers on this machine show their reasoning. */
function wantsEncrypted(request: ChatRequest, model: string, profile: Profile): boolean {
  if (profile.port !== undefined || request.reasoning === 'none') return false;
  return request.reasoning !== undefined || reasonsUnasked(model, profile.name);
}
