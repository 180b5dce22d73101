// What both of OpenAI's chat protocols, chat completions and Responses, make of the neutral settings.

import type { ChatRequest, JsonObject, ModelSettings, ReasoningEffort, ToolSpec, Warning } from '@antiphon/engine';
import { unsupportedSetting } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';

import { ALL_EFFORTS, type Profile } from './profiles.js';
import { strictSchema } from './strict-schema.js';

const SETTINGS = ['temperature', 'topP', 'maxTokens', 'stop', 'seed'] as const;

/** The settings under the names of `fields`. One that has none there, or that the server does not have, is told. */
export function samplingToWire(
  request: ModelSettings,
  fields: { readonly [S in (typeof SETTINGS)[number]]?: string },
  api: string,
  profile: Profile,
  warnings: Warning[],
): WireObject {
  const wire: Record<string, WireJson> = {};
  for (const setting of SETTINGS) {
    const value = request[setting];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const field = profile.unsupported.includes(setting) ? undefined : fields[setting];
    if (field === undefined) warnings.push(unsupportedSetting(setting, `${api} has no such setting; it was not sent.`));
    else wire[field] = value;
  }
  return wire;
}

/** A tool's own part of its declaration. */
export function functionToWire({ name, description, inputSchema }: ToolSpec): WireObject {
  return { name, description: description === '' ? undefined : description, parameters: inputSchema as WireObject };
}

/** Warns of a call that was demanded in a request without tools. */
export function warnOfNoTools(toolChoice: ChatRequest['toolChoice'], warnings: Warning[]): void {
  if (toolChoice === undefined || toolChoice === 'none' || toolChoice === 'auto') return;
  warnings.push(unsupportedSetting('toolChoice', 'A tool call was demanded, but the request has no tools.'));
}

/** The schema of the answer. What strict mode cannot take is sent without it: the engine checks the answer all the same. */
export function schemaToWire({ name, schema }: { readonly name: string; readonly schema: JsonObject }): WireObject {
  const strict = strictSchema(schema);
  return { name, schema: (strict ?? schema) as WireObject, strict: strict !== undefined };
}

export function cacheToWire(cache: ChatRequest['promptCache'], profile: Profile, warnings: Warning[]): WireObject {
  if (cache === undefined) return {};
  if (!profile.promptCacheKey) {
    warnings.push(unsupportedSetting('promptCache', `${profile.name} takes no such setting; what it caches, it caches by itself.`));
    return {};
  }
  return {
    ...(cache.key === undefined ? {} : { prompt_cache_key: cache.key }),
    ...(cache.retention === 'long' ? { prompt_cache_retention: '24h' } : {}),
  };
}

/** The effort that the server knows and that is nearest to the one asked for. Little reasoning is not none. */
export function knownEffort(effort: ReasoningEffort, { name, efforts: all }: Profile, warnings: Warning[]): ReasoningEffort {
  const efforts = effort === 'none' ? all : all.filter(other => other !== 'none');
  const distance = (other: ReasoningEffort) => Math.abs(ALL_EFFORTS.indexOf(other) - ALL_EFFORTS.indexOf(effort));
  const nearest = efforts.reduce((best, next) => (distance(next) < distance(best) ? next : best), efforts[0] ?? effort);
  if (nearest !== effort) {
    warnings.push(unsupportedSetting('reasoning', `${name} does not know the effort "${effort}"; "${nearest}" was sent.`));
  }
  return nearest;
}
