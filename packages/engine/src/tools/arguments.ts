import type { Tool } from '../contract.js';
import { describe, type Issue, ToolError } from '../errors.js';
import { validate } from './validation.js';

/** The arguments as the tool's schema gives them; or an `invalid_arguments` error with every fault. */
export async function checkArguments(tool: Tool, args: unknown): Promise<{ readonly value: unknown } | ToolError> {
  try {
    // A copy: what a handler does to its arguments must not change what the thread says the model wrote.
    const checked = await validate(tool.input, structuredClone(args));
    return checked.ok ? checked : invalidArguments(tool.name, checked.issues);
  } catch (cause) {
    return new ToolError('invalid_arguments', `The arguments of "${tool.name}" could not be checked: ${describe(cause)}`, { cause });
  }
}

/** An error that tells the model every fault, so that it can mend its call. */
export function invalidArguments(name: string, issues: readonly Issue[]): ToolError {
  const list = issues
    .slice(0, 10)
    .map(({ path, reason }) => `${path}: ${reason}`)
    .join('; ');
  return new ToolError('invalid_arguments', `The arguments of "${name}" do not fit its schema, so it was not run. ${list}`);
}
