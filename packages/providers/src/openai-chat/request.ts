import type { ChatRequest, ModelSettings, ReasoningEffort, Warning } from '@antiphon/engine';
import { withToolNames } from '../hand-over/tool-names.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { messagesToWire } from './messages.js';
import type { Profile } from './profiles.js';
import { strictSchema } from './strict-schema.js';
import type { WireJson, WireObject } from './wire.js';

export interface BuiltRequest {
  /** The JSON text to send. */
  readonly body: string;
  readonly warnings: readonly Warning[];
  /** The caller's names of tools that are sent under another one. */
  readonly ownNames: ReadonlyMap<string, string>;
}

/** A neutral request in the dialect's terms. Pure: no key, no network. What the server cannot express comes back as a warning. */
export function buildRequest(given: ChatRequest, model: string, profile: Profile): BuiltRequest {
  const { request, ownNames } = withToolNames(given, profile.toolNames);
  const warnings: Warning[] = [];
  const body: WireObject = {
    model: request.model ?? model,
    messages: messagesToWire(request.messages, profile, warnings),
    stream: true,
    ...(profile.askUsage ? { stream_options: { include_usage: true } } : {}),
    ...settingsToWire(request, profile, warnings),
    ...toolsToWire(request, profile, warnings),
    ...effortToWire(request.reasoning, profile, warnings),
    ...outputToWire(request.output, profile, warnings),
    ...cacheToWire(request.promptCache, profile, warnings),
  };
  return { body: JSON.stringify(withOwnOptions(body, ownOptions(request, profile.name, 'openai'), warnings)), warnings, ownNames };
}

function settingsToWire(request: ModelSettings, profile: Profile, warnings: Warning[]): WireObject {
  const fields: Record<string, WireJson> = {};
  const set = (setting: Profile['unsupported'][number], field: string, value: WireJson) => {
    if (value === undefined) return;
    if (profile.unsupported.includes(setting)) warnings.push(unsupported(setting, `${profile.name} has no such setting; it was not sent.`));
    else fields[field] = value;
  };
  set('temperature', 'temperature', request.temperature);
  set('topP', 'top_p', request.topP);
  set('maxTokens', profile.maxTokensField, request.maxTokens);
  set('stop', 'stop', request.stop?.length ? request.stop : undefined);
  set('seed', profile.seedField, request.seed);
  return fields;
}

function toolsToWire(request: ChatRequest, profile: Profile, warnings: Warning[]): WireObject {
  const { tools = [], toolChoice } = request;
  if (tools.length === 0) {
    if (toolChoice !== undefined && toolChoice !== 'none' && toolChoice !== 'auto') {
      warnings.push(unsupported('toolChoice', 'A tool call was demanded, but the request has no tools.'));
    }
    return {};
  }
  const wire = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description: description === '' ? undefined : description, parameters: inputSchema as WireObject },
  }));
  if (toolChoice === undefined) return { tools: wire };
  if (profile.toolChoice === 'auto-only' && toolChoice !== 'auto') {
    // Without tools none can be called.
    if (toolChoice === 'none') return {};
    warnings.push(unsupported('toolChoice', `${profile.name} cannot be made to call a tool; the model decides.`));
    return { tools: wire };
  }
  return {
    tools: wire,
    tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } },
  };
}

function outputToWire(output: ChatRequest['output'], profile: Profile, warnings: Warning[]): WireObject {
  if (output === undefined) return {};
  if (!profile.structuredOutput) {
    warnings.push(unsupported('output', `${profile.name} does not hold answers to a schema; the schema was not sent.`));
    return {};
  }
  const { name, schema } = output;
  const strict = strictSchema(schema);
  // What strict mode cannot take is sent without it: the engine checks the answer all the same.
  return {
    response_format: { type: 'json_schema', json_schema: { name, schema: (strict ?? schema) as WireJson, strict: strict !== undefined } },
  };
}

function cacheToWire(cache: ChatRequest['promptCache'], profile: Profile, warnings: Warning[]): WireObject {
  if (cache === undefined) return {};
  if (!profile.promptCacheKey) {
    warnings.push(unsupported('promptCache', `${profile.name} takes no such setting; what it caches, it caches by itself.`));
    return {};
  }
  return {
    ...(cache.key === undefined ? {} : { prompt_cache_key: cache.key }),
    ...(cache.retention === 'long' ? { prompt_cache_retention: '24h' } : {}),
  };
}

const LADDER: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high'];

function effortToWire(effort: ReasoningEffort | undefined, profile: Profile, warnings: Warning[]): WireObject {
  if (effort === undefined) return {};
  const on = effort !== 'none';
  if (profile.effort === 'thinking' || profile.effort === 'enable_thinking') {
    if (on) warnings.push(unsupported('reasoning', `${profile.name} only switches reasoning on or off; "${effort}" was sent as on.`));
    return profile.effort === 'thinking' ? { thinking: { type: on ? 'enabled' : 'disabled' } } : { enable_thinking: on };
  }
  if (profile.effort === 'unsupported') {
    warnings.push(unsupported('reasoning', `${profile.name} has no such setting; it was not sent.`));
    return {};
  }
  const nearest = nearestEffort(effort, profile.efforts);
  if (nearest !== effort)
    warnings.push(unsupported('reasoning', `${profile.name} does not know the effort "${effort}"; "${nearest}" was sent.`));
  return profile.effort === 'reasoning' ? { reasoning: { effort: nearest } } : { reasoning_effort: nearest };
}

function nearestEffort(effort: ReasoningEffort, known: readonly ReasoningEffort[]): ReasoningEffort {
  const place = LADDER.indexOf(effort);
  const distance = (other: ReasoningEffort) => Math.abs(LADDER.indexOf(other) - place);
  return known.reduce((best, next) => (distance(next) < distance(best) ? next : best), known[0] ?? effort);
}

function unsupported(setting: string, message: string): Warning {
  return { code: 'unsupported_setting', setting, message };
}
