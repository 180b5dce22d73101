// What both of Google's APIs, generateContent and Interactions, make of the neutral settings.

import {
  AdapterError,
  type ChatRequest,
  isRecord,
  type JsonObject,
  type ModelSettings,
  type ReasoningEffort,
  type Warning,
} from '@antiphon/engine';
import type { ToolNameRule } from '../hand-over/tool-names.js';
import { replaced, unsupportedSetting } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';

import { inDraft2020 } from '../schemas/draft-2020.js';
import { PROVIDER } from './endpoint.js';
import { isGemini3 } from './models.js';
import { supportedSchema } from './schema.js';

export interface BuiltRequest {
  readonly model: string;
  /** The JSON text to send. */
  readonly body: string;
  readonly warnings: readonly Warning[];
  /** The caller's names of tools that are sent under another one. */
  readonly ownNames: ReadonlyMap<string, string>;
}

/** Both APIs take the same names of functions. */
export const TOOL_NAMES: ToolNameRule = 'letter-first-64';

const MAX_STOPS = 5;
const LADDER: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high'];
/** Fields that only have a default in the request; who sets them replaces nothing. */
const DEFAULTS: ReadonlySet<string> = new Set(['stream', 'store']);

export function nothingToAnswer(): AdapterError {
  const message = 'Gemini answers to at least one message of the user or of a tool, and the request has none. Nothing was sent.';
  return new AdapterError('invalid_request', message, { provider: PROVIDER });
}

export function stopTexts(stop: ModelSettings['stop'], warnings: Warning[]): readonly string[] | undefined {
  if (stop !== undefined && stop.length > MAX_STOPS) {
    warnings.push(unsupportedSetting('stop', `Gemini takes ${MAX_STOPS} stop texts; the other ${stop.length - MAX_STOPS} were not sent.`));
  }
  return stop?.length ? stop.slice(0, MAX_STOPS) : undefined;
}

/** Of the efforts that the model knows, the one nearest to what was asked for; undefined when nothing was, or the model does not think. */
export function knownEffort(
  effort: ReasoningEffort | undefined,
  model: string,
  known: readonly ReasoningEffort[],
  warnings: Warning[],
): ReasoningEffort | undefined {
  if (effort === undefined) return undefined;
  if (known.length === 0) {
    if (effort !== 'none') warnings.push(unsupportedSetting('reasoning', `${model} does not think; the effort was not sent.`));
    return undefined;
  }
  const place = LADDER.indexOf(effort);
  const distance = (other: ReasoningEffort) => Math.abs(LADDER.indexOf(other) - place);
  const nearest = known.reduce((best, next) => (distance(next) < distance(best) ? next : best));
  if (nearest !== effort)
    warnings.push(unsupportedSetting('reasoning', `${model} does not know the effort "${effort}"; "${nearest}" was sent.`));
  return nearest;
}

/** The schema that the answer is held to; undefined when none was asked for, or the model takes none. */
export function outputSchema({ output, tools = [], toolChoice }: ChatRequest, model: string, warnings: Warning[]): WireJson {
  if (output === undefined) return undefined;
  // The API refuses both together; the call is the whole answer anyway.
  if (tools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object')) {
    warnings.push(
      unsupportedSetting('output', 'Gemini takes no schema for an answer that has to be a tool call; the schema was not sent.'),
    );
    return undefined;
  }
  if (tools.length > 0 && !isGemini3(model)) {
    warnings.push(unsupportedSetting('output', `${model} does not hold answers to a schema while it has tools; the schema was not sent.`));
    return undefined;
  }
  return schemaToWire(output.schema as WireObject, 'output', `the schema of ${output.name}`, warnings);
}

function schemaToWire(schema: WireObject, setting: string, whose: string, warnings: Warning[]): WireJson {
  const stripped = new Set<string>();
  const supported = supportedSchema(inDraft2020(schema as JsonObject) as WireObject, stripped);
  if (stripped.size > 0) {
    warnings.push(unsupportedSetting(setting, `Gemini does not know ${[...stripped].join(', ')} in a schema; left out for ${whose}.`));
  }
  return supported;
}

/** `field`: where the API takes a cache that was made before. */
export function warnOfCache({ promptCache }: ChatRequest, field: string, warnings: Warning[]): void {
  if (promptCache === undefined) return;
  warnings.push(unsupportedSetting('promptCache', `Gemini caches by itself; a cache of your own goes into providerOptions as ${field}.`));
}

/**
 * The tools as functions of the API, whose schema stands in the field `schemaField`; undefined, and a warning when a call was demanded, if there
 * are none.
 */
export function functionsToWire(
  { tools = [], toolChoice }: ChatRequest,
  schemaField: string,
  warnings: Warning[],
): readonly WireObject[] | undefined {
  if (tools.length === 0) {
    if (toolChoice === 'required' || typeof toolChoice === 'object')
      warnings.push(unsupportedSetting('toolChoice', 'A tool call was demanded, but the request has no tools.'));
    return undefined;
  }
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    description: description === '' ? undefined : description,
    [schemaField]: schemaToWire(inputSchema as WireObject, 'tools', `the tool ${name}`, warnings),
  }));
}

/** The caller's own fields: objects are joined with what was derived from settings, `lists` are added to, anything else wins and is told. */
export function withOwnOptions(body: WireObject, own: WireObject, lists: readonly string[], warnings: Warning[]): WireObject {
  const added: Record<string, WireJson> = {};
  const fields: Record<string, WireJson> = {};
  for (const [field, value] of Object.entries(own)) {
    if (lists.includes(field) && typeof value === 'object') added[field] = [...listOf(body[field]), ...listOf(value)];
    else fields[field] = value;
  }
  return { ...joined(body, fields, '', warnings), ...added };
}

function listOf(value: WireJson): readonly WireJson[] {
  return Array.isArray(value) ? value : isRecord(value) ? [value as WireObject] : [];
}

function joined(mine: WireObject, theirs: WireObject, path: string, warnings: Warning[]): WireObject {
  const out: Record<string, WireJson> = { ...mine };
  for (const [field, value] of Object.entries(theirs)) {
    const old = Object.hasOwn(mine, field) ? mine[field] : undefined;
    const where = `${path}${field}`;
    if (isRecord(old) && isRecord(value)) out[field] = joined(old as WireObject, value as WireObject, `${where}.`, warnings);
    else {
      if (old !== undefined && !DEFAULTS.has(where)) warnings.push(replaced(where));
      out[field] = value;
    }
  }
  return out;
}
