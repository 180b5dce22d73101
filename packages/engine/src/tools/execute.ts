import type { Tool, ToolContext, ToolOutcome } from '../contract.js';
import { type Json, jsonFault } from '../data/json.js';
import { describe, ToolError } from '../errors.js';
import { checkArguments } from './arguments.js';
import { isReservedHaltReason, isToolResult, ok } from './result.js';
import { checkHandler } from './tool.js';

export { invalidArguments } from './arguments.js';

/**
 * The default executor: checks the arguments, calls the handler and gives its result. Tagged results pass untouched; a plain value becomes
 * `ok(value)`. What goes wrong resolves to a `ToolError`: `invalid_arguments`, `handler_raised` (with the cause), `invalid_return`
 * (undefined, functions, symbols, bigints, cycles, maps and the like, a reserved halt reason), `not_found` (no handler). It neither retries nor times out.
 * Rejects only with `TypeError` for a tool that `tool()` would have refused.
 *
 * ```ts
 * const result = await executeTool(add, { a: 1, b: 2 }, context);
 * if (result.type === 'ok') console.log(result.value);
 * ```
 */
export async function executeTool(tool: Tool, args: unknown, context: ToolContext): Promise<ToolOutcome> {
  checkHandler(`tool "${tool.name}"`, tool.run);
  if (!tool.run) return new ToolError('not_found', `The tool "${tool.name}" has no handler here.`);
  const input = await checkArguments(tool, args);
  if (input instanceof ToolError) return input;
  let returned: unknown;
  try {
    returned = await (tool.run as (args: unknown, context: ToolContext) => unknown)(input.value, context);
    if (isAsyncIterable(returned)) returned = await lastOf(returned, context);
  } catch (cause) {
    return new ToolError('handler_raised', `The tool "${tool.name}" failed: ${describe(cause)}`, { cause });
  }
  try {
    return checkReturn(tool.name, returned);
  } catch (cause) {
    // A getter or a toJSON of the value itself threw.
    return new ToolError('invalid_return', `The tool "${tool.name}" returned a value that cannot be read: ${describe(cause)}`, { cause });
  }
}

function checkReturn(name: string, returned: unknown): ToolOutcome {
  const bad = (why: string) => new ToolError('invalid_return', `The tool "${name}" returned what it must not: ${why}.`);
  if (!isToolResult(returned)) {
    const fault = jsonFault(returned);
    return fault ? bad(`${fault}; return a JSON value`) : ok(returned);
  }
  switch (returned.type) {
    case 'ok':
    case 'fail': {
      const inner = returned.type === 'ok' ? returned.value : returned.reason;
      const fault = inner instanceof Error ? undefined : jsonFault(inner);
      return fault ? bad(`${fault} in ${returned.type}()`) : returned;
    }
    case 'ask_user': {
      if (typeof returned.question !== 'string') return bad('the question of askUser() is no string');
      const fault = returned.options === undefined ? undefined : jsonFault(returned.options);
      return fault ? bad(`${fault} in the options of askUser()`) : returned;
    }
    case 'halt': {
      if (typeof returned.reason !== 'string' || returned.reason === '') return bad('the reason of halt() is no text');
      if (isReservedHaltReason(returned.reason)) return bad(`halt reason "${returned.reason}" is the loop's own; choose another word`);
      const fault = returned.value === undefined ? undefined : jsonFault(returned.value);
      return fault ? bad(`${fault} in halt()`) : returned;
    }
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Json, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** A handler that yields shows each value as progress; what it returns, or else yielded last, is its result. */
async function lastOf(values: AsyncIterable<Json, unknown>, { signal, progress }: ToolContext): Promise<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  let last: unknown;
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) return value === undefined ? last : value;
    last = value;
    progress(value);
    if (signal.aborted) {
      await iterator.return?.();
      throw signal.reason;
    }
  }
}
