import type { Json, JsonObject } from '../data/json.js';

const TAG = Symbol.for('antiphon.toolResult');

/** What a tool's `run` may return beside a plain JSON value (which means `ok`). */
export type ToolResult =
  | { readonly type: 'ok'; readonly value: unknown }
  | { readonly type: 'fail'; readonly reason: unknown }
  | { readonly type: 'ask_user'; readonly question: string; readonly options?: JsonObject }
  | { readonly type: 'halt'; readonly reason: string; readonly value?: Json };

/** The tool worked; `value` is what the model sees. `return ok({ celsius: 12 })` */
export function ok(value: unknown): ToolResult {
  return tag({ type: 'ok', value });
}

/** The tool did its work and reports a failure of its own, such as "no such city"; the model is told. `return fail('No such city.')` */
export function fail(reason: unknown): ToolResult {
  return tag({ type: 'fail', reason });
}

/** Ends the run as `interrupted` until the user has answered; the answer becomes this call's result. `return askUser('Which day?')` */
export function askUser(question: string, options?: JsonObject): ToolResult {
  return tag({ type: 'ask_user', question, ...(options === undefined ? {} : { options }) });
}

/** Ends the run as `interrupted` with `{ halt: reason }`; `value` is the call's result. `return halt('handed_over', { to: 'billing' })` */
export function halt(reason: string, value?: Json): ToolResult {
  return tag({ type: 'halt', reason, ...(value === undefined ? {} : { value }) });
}

/** True for what `ok`, `fail`, `askUser` and `halt` made; a handler's own data with the same keys is just data. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[TAG] === true;
}

/** Reasons the loop itself gives; a handler that used one could not be told apart from it. */
const RESERVED: ReadonlySet<string> = new Set([
  'ask_user',
  'approval',
  'manual_tools',
  'manual_tool_calls',
  'max_turns',
  'stop_when',
  'halt_when',
  'budget',
  'aborted',
  'cancelled',
  'tool_error',
  'error',
  'completed',
  'interrupted',
  'failed',
]);

/** True for a halt reason that only the loop may give. */
export function isReservedHaltReason(reason: string): boolean {
  return RESERVED.has(reason);
}

function tag<T extends object>(result: T): T {
  // A symbol that does not enumerate: the value stays plain for JSON and comparison, and no handler's data can look like it by chance.
  return Object.defineProperty(result, TAG, { value: true });
}
