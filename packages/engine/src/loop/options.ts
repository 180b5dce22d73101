import type { ChatRequest } from '../adapters/chat.js';
import { isRecord, jsonFault } from '../data/json.js';
import { isToolContent } from '../data/validate.js';
import { ConfigurationError } from '../errors.js';
import { isStandardSchema } from '../tools/schema.js';

/** The settings of a model call, in every place where they may stand. */
export const SETTINGS = [
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

type Check = (value: unknown) => boolean;
const isText: Check = value => typeof value === 'string' && value !== '';
const isFunction: Check = value => typeof value === 'function';
const isWhole: Check = value => Number.isInteger(value) && (value as number) > 0;
const isBetween =
  (low: number, high: number): Check =>
  value =>
    typeof value === 'number' && value >= low && value <= high;
const isOneOf =
  (...words: string[]): Check =>
  value =>
    words.includes(value as string);

/** What each option must be, in words and as a test. */
const RULES: { readonly [option: string]: readonly [string, Check] } = {
  temperature: ['between 0 and 2', isBetween(0, 2)],
  topP: ['between 0 and 1', isBetween(0, 1)],
  maxTokens: ['a whole number above 0', isWhole],
  stop: ['a list of texts', value => Array.isArray(value) && value.every(isText)],
  seed: ['a whole number', value => Number.isInteger(value)],
  reasoning: ['none, minimal, low, medium or high', isOneOf('none', 'minimal', 'low', 'medium', 'high')],
  providerOptions: [
    'an object of JSON by provider name, such as { openai: {…} }',
    value => isRecord(value) && Object.values(value).every(isRecord) && jsonFault(value) === undefined,
  ],
  model: ['the name of a model', isText],
  tools: ['a list of tools made by tool()', value => Array.isArray(value)],
  toolChoice: [
    'auto, none, required or { tool: name }',
    value => isOneOf('auto', 'none', 'required')(value) || (isRecord(value) && isText(value.tool)),
  ],
  output: [
    'a schema: zod, valibot, arktype or JSON Schema',
    value => isStandardSchema(value) || (isRecord(value) && jsonFault(value) === undefined),
  ],
  outputMode: ['native, tool or instructions', isOneOf('native', 'tool', 'instructions')],
  mode: ['auto or manual', isOneOf('auto', 'manual')],
  maxTurns: ['a whole number above 0', isWhole],
  stopWhen: ['a function of the steps, or a list of them', value => isFunction(value) || (Array.isArray(value) && value.every(isFunction))],
  prepareStep: ['a function of the step', isFunction],
  budget: ['{ tokens, cost, timeMs, repeatedCalls } with numbers above 0', isBudget],
  onToolError: ['continue, halt or a function', value => isOneOf('continue', 'halt')(value) || isFunction(value)],
  resume: ['decisions by call id, such as { call_1: { type: "approved" }, call_2: { type: "result", content: "text" } }', isResume],
  promptCache: ['{ key, retention } with retention short or long', isPromptCache],
  raw: ['true or false', value => typeof value === 'boolean'],
  signal: ['an AbortSignal', value => isRecord(value) && 'aborted' in value && isFunction(value.addEventListener)],
  timeoutMs: ['a number of milliseconds above 0', value => typeof value === 'number' && value > 0],
  context: ['anything', () => true],
  sessionId: ['a text', isText],
  requestId: ['a text', isText],
  retry: ['false or { maxRetries, baseMs, capMs } with numbers that are not negative, and perhaps a function random', isRetry],
  timeouts: ['{ firstByteMs, idleMs, stepMs, toolMs } with numbers of milliseconds above 0', isTimeouts],
  onStreamError: ['surface, restart or continue', isOneOf('surface', 'restart', 'continue')],
};

const IN_DEFAULTS: ReadonlySet<string> = new Set([...SETTINGS, 'maxTurns', 'timeouts', 'onStreamError']);
const IN_REQUEST: ReadonlySet<string> = new Set([...SETTINGS, 'tools', 'toolChoice']);

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
  const bad = (message: string) => new ConfigurationError('invalid_option', message);
  if (!isRecord(values)) throw bad(`The ${kind}s must be an object.`);
  for (const [key, value] of Object.entries(values)) {
    if (!knows(key)) throw bad(`Unknown ${kind} "${key}". ${hint}`);
    const rule = RULES[key];
    if (value !== undefined && rule && !rule[1](value)) throw bad(`${key} must be ${rule[0]}, not ${shown(value)}.`);
  }
}

function isRetry(value: unknown): boolean {
  if (value === false) return true;
  if (!isRecord(value)) return false;
  return Object.entries(value).every(
    ([key, part]) =>
      part === undefined ||
      (key === 'random' ? isFunction(part) : ['maxRetries', 'baseMs', 'capMs'].includes(key) && typeof part === 'number' && part >= 0),
  );
}

function isTimeouts(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(
    ([key, ms]) => ms === undefined || (['firstByteMs', 'idleMs', 'stepMs', 'toolMs'].includes(key) && typeof ms === 'number' && ms > 0),
  );
}

function isBudget(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(
    ([key, limit]) =>
      ['tokens', 'cost', 'timeMs', 'repeatedCalls'].includes(key) && (limit === undefined || (typeof limit === 'number' && limit > 0)),
  );
}

function isResume(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(isDecision);
}

function isDecision(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { type, content, arguments: edited } = value;
  if (type === 'result') return isToolContent(content);
  return type === 'run' || (type === 'approved' && (edited === undefined || (isRecord(edited) && jsonFault(edited) === undefined)));
}

function isPromptCache(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { key, retention } = value;
  return (key === undefined || isText(key)) && (retention === undefined || isOneOf('short', 'long')(retention));
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'this list' : 'this object') : String(value);
}
