import { AdapterError, type ChatRequest, isRecord, type ModelSettings, type ReasoningEffort, type Warning } from '@antiphon/engine';
import { contentsToWire } from './contents.js';
import { PROVIDER } from './endpoint.js';
import { isGemini3, thinkingOf } from './models.js';
import { supportedSchema } from './schema.js';
import type { WireJson, WireObject } from './wire.js';

export interface BuiltRequest {
  readonly model: string;
  /** The JSON text to send. */
  readonly body: string;
  readonly warnings: readonly Warning[];
}

const MAX_STOPS = 5;

/**
 * A neutral request in the API's terms. Pure: no key, no network. What the model cannot express comes back as a warning. Throws
 * `AdapterError` (`invalid_request`) for a conversation without anything that the API could answer.
 */
export function buildRequest(request: ChatRequest, ownModel: string): BuiltRequest {
  const warnings: Warning[] = [];
  const model = request.model ?? ownModel;
  const { systemInstruction, contents } = contentsToWire(request.messages, model, warnings);
  if (contents.length === 0) {
    const message = 'Gemini answers to at least one message of the user or of a tool, and the request has none. Nothing was sent.';
    throw new AdapterError('invalid_request', message, { provider: PROVIDER });
  }
  if (request.promptCache !== undefined) {
    warnings.push(unsupported('promptCache', 'Gemini caches by itself; a cache of your own goes into providerOptions as cachedContent.'));
  }
  const generationConfig = {
    ...settingsToWire(request, warnings),
    ...effortToWire(request.reasoning, model, warnings),
    ...outputToWire(request, model, warnings),
  };
  const body: WireObject = {
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    contents,
    ...toolsToWire(request, warnings),
    ...(Object.values(generationConfig).some(value => value !== undefined) ? { generationConfig } : {}),
  };
  return { model, body: JSON.stringify(withOwnOptions(body, request.providerOptions, warnings)), warnings };
}

function settingsToWire({ temperature, topP, maxTokens, stop, seed }: ModelSettings, warnings: Warning[]): WireObject {
  if (stop !== undefined && stop.length > MAX_STOPS) {
    warnings.push(unsupported('stop', `Gemini takes ${MAX_STOPS} stop texts; the other ${stop.length - MAX_STOPS} were not sent.`));
  }
  return { temperature, topP, maxOutputTokens: maxTokens, stopSequences: stop?.length ? stop.slice(0, MAX_STOPS) : undefined, seed };
}

function effortToWire(effort: ReasoningEffort | undefined, model: string, warnings: Warning[]): WireObject {
  if (effort === undefined) return {};
  const thinking = thinkingOf(model);
  if (thinking.kind === 'none') {
    if (effort !== 'none') warnings.push(unsupported('reasoning', `${model} does not think; the effort was not sent.`));
    return {};
  }
  const known = thinking.kind === 'level' ? thinking.efforts : (Object.keys(thinking.tokens) as ReasoningEffort[]);
  const nearest = nearestEffort(effort, known);
  if (nearest !== effort) warnings.push(unsupported('reasoning', `${model} does not know the effort "${effort}"; "${nearest}" was sent.`));
  const amount = thinking.kind === 'level' ? { thinkingLevel: nearest } : { thinkingBudget: thinking.tokens[nearest] };
  return { thinkingConfig: { ...amount, ...(nearest === 'none' ? {} : { includeThoughts: true }) } };
}

const LADDER: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high'];

function nearestEffort(effort: ReasoningEffort, known: readonly ReasoningEffort[]): ReasoningEffort {
  const place = LADDER.indexOf(effort);
  const distance = (other: ReasoningEffort) => Math.abs(LADDER.indexOf(other) - place);
  return known.reduce((best, next) => (distance(next) < distance(best) ? next : best), known[0] ?? effort);
}

function outputToWire({ output, tools = [] }: ChatRequest, model: string, warnings: Warning[]): WireObject {
  if (output === undefined) return {};
  if (tools.length > 0 && !isGemini3(model)) {
    warnings.push(unsupported('output', `${model} does not hold answers to a schema while it has tools; the schema was not sent.`));
    return {};
  }
  const responseJsonSchema = schemaToWire(output.schema as WireObject, 'output', `the schema of ${output.name}`, warnings);
  return { responseMimeType: 'application/json', responseJsonSchema };
}

function toolsToWire({ tools = [], toolChoice }: ChatRequest, warnings: Warning[]): WireObject {
  if (tools.length === 0) {
    if (toolChoice !== undefined && toolChoice !== 'none' && toolChoice !== 'auto') {
      warnings.push(unsupported('toolChoice', 'A tool call was demanded, but the request has no tools.'));
    }
    return {};
  }
  const functionDeclarations = tools.map(({ name, description, inputSchema }) => ({
    name,
    description: description === '' ? undefined : description,
    parametersJsonSchema: schemaToWire(inputSchema as WireObject, 'tools', `the tool ${name}`, warnings),
  }));
  return {
    tools: [{ functionDeclarations }],
    ...(toolChoice === undefined ? {} : { toolConfig: { functionCallingConfig: choiceToWire(toolChoice) } }),
  };
}

function choiceToWire(choice: ChatRequest['toolChoice'] & {}): WireObject {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.tool] };
  return { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() };
}

function schemaToWire(schema: WireObject, setting: string, whose: string, warnings: Warning[]): WireJson {
  const stripped = new Set<string>();
  const supported = supportedSchema(schema, stripped);
  if (stripped.size > 0) {
    warnings.push(unsupported(setting, `Gemini does not know ${[...stripped].join(', ')} in a schema; left out for ${whose}.`));
  }
  return supported;
}

/** The caller's own fields: objects are joined with what was derived from settings, tools are added, anything else wins and is told. */
function withOwnOptions(body: WireObject, options: ModelSettings['providerOptions'], warnings: Warning[]): WireObject {
  const own = options !== undefined && Object.hasOwn(options, PROVIDER) ? options[PROVIDER] : undefined;
  if (own === undefined) return body;
  const { tools, ...fields } = own as WireObject;
  const added = Array.isArray(tools) ? { tools: [...(Array.isArray(body.tools) ? body.tools : []), ...tools] } : {};
  return { ...joined(body, fields, '', warnings), ...added };
}

function joined(mine: WireObject, theirs: WireObject, path: string, warnings: Warning[]): WireObject {
  const out: Record<string, WireJson> = { ...mine };
  for (const [field, value] of Object.entries(theirs)) {
    const old = Object.hasOwn(mine, field) ? mine[field] : undefined;
    const where = `${path}${field}`;
    if (isRecord(old) && isRecord(value)) out[field] = joined(old as WireObject, value as WireObject, `${where}.`, warnings);
    else {
      if (old !== undefined)
        warnings.push({ code: 'other', setting: where, message: `providerOptions replace the field "${where}" of the request.` });
      out[field] = value;
    }
  }
  return out;
}

function unsupported(setting: string, message: string): Warning {
  return { code: 'unsupported_setting', setting, message };
}
