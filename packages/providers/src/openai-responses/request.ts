import { type ChatRequest, isRecord, type JsonObject, type ReasoningEffort, type Warning } from '@antiphon/engine';
import { withToolNames } from '../hand-over/tool-names.js';
import { ownOptions } from '../http/own-options.js';
import type { Profile } from '../openai-chat/profiles.js';
import { strictSchema } from '../openai-chat/strict-schema.js';
import type { WireJson, WireObject } from '../openai-chat/wire.js';
import { inputItems } from './input-items.js';
import { reasonsUnasked, refusesReasoning } from './models.js';
import { mergeOptions } from './options.js';

/** A request, ready to be sent. */
export interface BuiltRequest {
  /** The JSON text to send. */
  readonly body: string;
  readonly warnings: readonly Warning[];
  /** The caller's names of tools that are sent under another one. */
  readonly ownNames: ReadonlyMap<string, string>;
  /** Names of the function tools in it. */
  readonly toolNames: ReadonlySet<string>;
  /** Names of all tools that the caller runs, where the server also shows calls of its own. */
  readonly callable?: ReadonlySet<string>;
}

/** A neutral request in the protocol's terms. Pure: no key, no network. What the server cannot express comes back as a warning. */
export function buildRequest(given: ChatRequest, defaultModel: string, profile: Profile): BuiltRequest {
  const { request, ownNames } = withToolNames(given, profile.toolNames);
  const warnings: Warning[] = [];
  const own = ownOptions(request, profile.name, 'openai');
  const model = request.model ?? defaultModel;
  // What runs in the background has to be stored to be found again.
  const store = own.background === true;
  const body: WireObject = {
    model,
    input: inputItems(request.messages, profile, warnings, {
      reasons: !refusesReasoning(model),
      previous: own.previous_response_id,
    }),
    stream: true,
    store,
    ...settings(request, profile, warnings),
    ...tools(request, profile, own, warnings),
    ...reasoning(request.reasoning, profile, warnings),
    ...(wantsEncrypted(request, model, profile) && !store && own.store !== true ? { include: ['reasoning.encrypted_content'] } : {}),
    ...output(request.output),
    ...cache(request.promptCache, profile, warnings),
  };
  const merged = mergeOptions(body, own, warnings);
  const toolNames = new Set((request.tools ?? []).map(tool => tool.name));
  const callable = profile.showsOwnCalls ? { callable: new Set([...toolNames, ...namesOf(own.tools)]) } : {};
  return { body: JSON.stringify(merged), warnings, ownNames, toolNames, ...callable };
}

/** Names of the tools in the caller's own fields: custom ones, and those of other kinds that have a name. */
function namesOf(tools: unknown): string[] {
  return Array.isArray(tools) ? tools.flatMap(tool => (isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : [])) : [];
}

function settings(request: ChatRequest, profile: Profile, warnings: Warning[]): WireObject {
  const { temperature, topP, maxTokens, stop, seed } = request;
  const given = { temperature, topP, maxTokens, stop: stop?.length ? stop : undefined, seed };
  const without = new Set<keyof typeof given>([...profile.unsupported, 'stop', 'seed']);
  const sent = (setting: keyof typeof given): WireJson => {
    if (given[setting] === undefined || !without.has(setting)) return given[setting];
    warnings.push(unsupported(setting, `The Responses API of ${profile.name} has no such setting; it was not sent.`));
    return undefined;
  };
  sent('stop');
  sent('seed');
  return { temperature: sent('temperature'), top_p: sent('topP'), max_output_tokens: sent('maxTokens') };
}

function tools(request: ChatRequest, profile: Profile, own: JsonObject, warnings: Warning[]): WireObject {
  const hosted = Array.isArray(own.tools) ? (own.tools as readonly JsonObject[]) : [];
  const isCustom = (name: string) => hosted.some(tool => tool.type === 'custom' && tool.name === name);
  const functions = (request.tools ?? [])
    // A tool that is declared as custom takes free text; the function's schema does not apply.
    .filter(({ name }) => !isCustom(name))
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      ...(description === '' ? {} : { description }),
      parameters: inputSchema as WireObject,
      // Left out, the server would hold calls to its own idea of the schema.
      strict: false,
    }));
  const { toolChoice } = request;
  const fields = functions.length > 0 ? { tools: functions } : {};
  if (toolChoice === undefined) return fields;
  if (functions.length + hosted.length === 0) {
    if (toolChoice === 'none' || toolChoice === 'auto') return {};
    warnings.push(unsupported('toolChoice', 'A tool call was demanded, but the request has no tools.'));
    return {};
  }
  if (profile.toolChoice === 'auto-only' && toolChoice !== 'auto') {
    if (toolChoice === 'none' && hosted.length === 0) return {};
    warnings.push(unsupported('toolChoice', `${profile.name} cannot be told whether to call a tool; the model decides.`));
    return fields;
  }
  if (typeof toolChoice === 'string') return { ...fields, tool_choice: toolChoice };
  return { ...fields, tool_choice: { type: isCustom(toolChoice.tool) ? 'custom' : 'function', name: toolChoice.tool } };
}

const EFFORTS: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high'];

function reasoning(effort: ReasoningEffort | undefined, { name, efforts }: Profile, warnings: Warning[]): WireObject {
  if (effort === undefined) return {};
  const steps = (known: ReasoningEffort) => Math.abs(EFFORTS.indexOf(known) - EFFORTS.indexOf(effort));
  const [nearest = effort] = [...efforts].sort((a, b) => steps(a) - steps(b));
  if (nearest !== effort) warnings.push(unsupported('reasoning', `${name} does not know the effort "${effort}"; "${nearest}" was sent.`));
  return { reasoning: { effort: nearest } };
}

/** What is not stored comes back encrypted, so that the next request can go on from it. Servers on this machine show their reasoning. */
function wantsEncrypted(request: ChatRequest, model: string, profile: Profile): boolean {
  if (profile.port !== undefined || request.reasoning === 'none') return false;
  return request.reasoning !== undefined || reasonsUnasked(model, profile.name);
}

function output(spec: ChatRequest['output']): WireObject {
  if (spec === undefined) return {};
  const strict = strictSchema(spec.schema);
  // What strict mode cannot take is sent without it: the engine checks the answer all the same.
  const format = { type: 'json_schema', name: spec.name, schema: (strict ?? spec.schema) as WireObject, strict: strict !== undefined };
  return { text: { format } };
}

function cache(promptCache: ChatRequest['promptCache'], profile: Profile, warnings: Warning[]): WireObject {
  if (promptCache === undefined) return {};
  if (profile.promptCacheKey) {
    return { prompt_cache_key: promptCache.key, prompt_cache_retention: promptCache.retention === 'long' ? '24h' : undefined };
  }
  warnings.push(unsupported('promptCache', `${profile.name} takes no such setting; what it caches, it caches by itself.`));
  return {};
}

function unsupported(setting: string, message: string): Warning {
  return { code: 'unsupported_setting', setting, message };
}
