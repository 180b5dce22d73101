import type { ChatRequest, ReasoningEffort, Warning } from '@antiphon/engine';
import { withToolNames } from '../hand-over/tool-names.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { unsupportedSetting } from '../http/warnings.js';
import type { WireObject } from '../http/wire-values.js';

import { messagesToWire } from './messages.js';
import type { Profile } from './profiles.js';
import { cacheToWire, functionToWire, knownEffort, samplingToWire, schemaToWire, warnOfNoTools } from './settings.js';

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
  const fields = { temperature: 'temperature', topP: 'top_p', maxTokens: profile.maxTokensField, stop: 'stop', seed: profile.seedField };
  const body: WireObject = {
    model: request.model ?? model,
    messages: messagesToWire(request.messages, profile, warnings),
    stream: true,
    ...(profile.askUsage ? { stream_options: { include_usage: true } } : {}),
    ...samplingToWire(request, fields, profile.name, profile, warnings),
    ...toolsToWire(request, profile, warnings),
    ...effortToWire(request.reasoning, profile, warnings),
    ...outputToWire(request.output, profile, warnings),
    ...cacheToWire(request.promptCache, profile, warnings),
  };
  return { body: JSON.stringify(withOwnOptions(body, ownOptions(request, profile.name, 'openai'), warnings)), warnings, ownNames };
}

function toolsToWire(request: ChatRequest, profile: Profile, warnings: Warning[]): WireObject {
  const { tools = [], toolChoice } = request;
  if (tools.length === 0) {
    warnOfNoTools(toolChoice, warnings);
    return {};
  }
  const wire = tools.map(tool => ({ type: 'function', function: functionToWire(tool) }));
  if (toolChoice === undefined) return { tools: wire };
  if (profile.toolChoice === 'auto-only' && toolChoice !== 'auto') {
    // Without tools none can be called.
    if (toolChoice === 'none') return {};
    warnings.push(unsupportedSetting('toolChoice', `${profile.name} cannot be made to call a tool; the model decides.`));
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
    warnings.push(unsupportedSetting('output', `${profile.name} does not hold answers to a schema; the schema was not sent.`));
    return {};
  }
  return { response_format: { type: 'json_schema', json_schema: schemaToWire(output) } };
}

function effortToWire(effort: ReasoningEffort | undefined, profile: Profile, warnings: Warning[]): WireObject {
  if (effort === undefined) return {};
  const on = effort !== 'none';
  if (profile.effort === 'thinking' || profile.effort === 'enable_thinking') {
    if (on)
      warnings.push(unsupportedSetting('reasoning', `${profile.name} only switches reasoning on or off; "${effort}" was sent as on.`));
    return profile.effort === 'thinking' ? { thinking: { type: on ? 'enabled' : 'disabled' } } : { enable_thinking: on };
  }
  if (profile.effort === 'unsupported') {
    warnings.push(unsupportedSetting('reasoning', `${profile.name} has no such setting; it was not sent.`));
    return {};
  }
  const nearest = knownEffort(effort, profile, warnings);
  return profile.effort === 'reasoning' ? { reasoning: { effort: nearest } } : { reasoning_effort: nearest };
}
