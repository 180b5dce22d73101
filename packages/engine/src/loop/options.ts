import type { ChatRequest, ModelSettings } from '../adapters/chat.js';
import { defined } from '../data/defined.js';
import { isRecord } from '../data/json.js';
import {
  anything,
  flag,
  isFunction,
  isJsonObject,
  isText,
  oneOf,
  providerOptions,
  type Rule,
  type Rules,
  shown,
  signal,
  wholeNumber,
} from '../data/rules.js';
import { isToolContent } from '../data/validate.js';
import { invalidOption } from '../invalid-option.js';
import { retryPolicy } from '../reliability/retrying.js';
import { isStandardSchema } from '../tools/schema.js';

/** The settings of a model call, in every place where they may stand. */
const SETTINGS = [
  'temperature',
  'topP',
  'maxTokens',
  'stop',
  'seed',
  'reasoning',
  'providerOptions',
  'model',
  'promptCache',
  'raw',
] as const;

const isAbove0 = (value: unknown) => typeof value === 'number' && value > 0;
const between = (low: number, high: number): Rule => [
  `between ${low} and ${high}`,
  value => typeof value === 'number' && value >= low && value <= high,
];
/** Some of these numbers, and nothing else. */
const numbers =
  (...keys: readonly string[]) =>
  (value: unknown) =>
    isRecord(value) && Object.entries(value).every(([key, number]) => number === undefined || (keys.includes(key) && isAbove0(number)));

/** What each option must be. */
const RULES: Rules = {
  temperature: between(0, 2),
  topP: between(0, 1),
  maxTokens: wholeNumber,
  stop: ['a list of texts', value => Array.isArray(value) && value.every(isText)],
  seed: ['a whole number', Number.isInteger],
  reasoning: oneOf('none', 'minimal', 'low', 'medium', 'high'),
  providerOptions,
  model: ['the name of a model', isText],
  tools: ['a list of tools made by tool()', Array.isArray],
  toolChoice: [
    'auto, none, required or { tool: name }',
    value => ['auto', 'none', 'required'].includes(value as string) || (isRecord(value) && isText(value.tool)),
  ],
  output: ['a schema: zod, valibot, arktype or JSON Schema', value => isStandardSchema(value) || isJsonObject(value)],
  outputMode: oneOf('native', 'tool', 'instructions'),
  mode: oneOf('auto', 'manual'),
  maxTurns: wholeNumber,
  stopWhen: ['a function of the steps, or a list of them', value => isFunction(value) || (Array.isArray(value) && value.every(isFunction))],
  prepareStep: ['a function of the step', isFunction],
  budget: ['{ tokens, cost, timeMs, repeatedCalls } with numbers above 0', numbers('tokens', 'cost', 'timeMs', 'repeatedCalls')],
  onToolError: ['continue, halt or a function', value => value === 'continue' || value === 'halt' || isFunction(value)],
  resume: [
    'decisions by call id, such as { call_1: { type: "approved" }, call_2: { type: "result", content: "text" } }',
    value => isRecord(value) && Object.values(value).every(isDecision),
  ],
  promptCache: ['{ key, retention } with retention short or long', isPromptCache],
  raw: flag,
  signal,
  timeoutMs: ['a number of milliseconds above 0', isAbove0],
  context: anything,
  sessionId: ['a text', isText],
  requestId: ['a text', isText],
  retry: retryPolicy,
  timeouts: [
    '{ firstByteMs, idleMs, stepMs, toolMs } with numbers of milliseconds above 0',
    numbers('firstByteMs', 'idleMs', 'stepMs', 'toolMs'),
  ],
  onStreamError: oneOf('surface', 'restart', 'continue'),
};

const IN_DEFAULTS: ReadonlySet<string> = new Set([...SETTINGS, 'maxTurns', 'timeouts', 'onStreamError']);
const IN_REQUEST: ReadonlySet<string> = new Set([...SETTINGS, 'tools', 'toolChoice']);

type Settings = ModelSettings & { readonly model?: string };

/** The settings of several sources, the most important first. */
export function mergeSettings(...sources: readonly (Settings | undefined)[]): Settings {
  const merged: Record<string, unknown> = {};
  for (const key of SETTINGS) merged[key] = sources.find(source => source?.[key] !== undefined)?.[key];
  return defined(merged);
}

/** Throws `ConfigurationError` for an option that no call knows, or whose value cannot work. */
export function checkOptions(options: object): void {
  const hint = `The options are ${Object.keys(RULES).join(', ')}; what only one provider knows goes into providerOptions.`;
  check('option', options, key => Object.hasOwn(RULES, key), hint);
}

/** The same for the engine's `defaults`. */
export function checkDefaults(defaults: object): void {
  check('default', defaults, key => IN_DEFAULTS.has(key), `defaults takes ${[...IN_DEFAULTS].join(', ')}.`);
}

/** The same for a request. Other keys than settings are the caller's own: a thread may carry what it likes. */
export function checkRequest(request: Partial<ChatRequest>): void {
  const settings = Object.entries(request).filter(([key]) => IN_REQUEST.has(key));
  check('setting', Object.fromEntries(settings), () => true, '');
}

/** The same for what `prepareStep` gives. */
export function checkChanges(changes: object): void {
  check(
    'change',
    changes,
    key => IN_REQUEST.has(key) || key === 'chat' || key === 'messages',
    'prepareStep may change chat, messages, tools, toolChoice and settings.',
  );
}

/** Throws `ConfigurationError` for a retry policy that cannot work. */
export function checkRetry(retry: unknown): void {
  check('part', { retry }, () => true, '');
}

function check(kind: string, values: object, knows: (key: string) => boolean, hint: string): void {
  if (!isRecord(values)) throw invalidOption(`The ${kind}s must be an object.`);
  for (const [key, value] of Object.entries(values)) {
    if (!knows(key)) throw invalidOption(`Unknown ${kind} "${key}". ${hint}`);
    const rule = RULES[key];
    if (value !== undefined && rule && rule[1](value) !== true) throw invalidOption(`${key} must be ${rule[0]}, not ${shown(value)}.`);
  }
}

function isDecision(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { type, content, arguments: edited } = value;
  if (type === 'result') return isToolContent(content);
  return type === 'run' || (type === 'approved' && (edited === undefined || isJsonObject(edited)));
}

function isPromptCache(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { key, retention } = value;
  return (key === undefined || isText(key)) && (retention === undefined || retention === 'short' || retention === 'long');
}
