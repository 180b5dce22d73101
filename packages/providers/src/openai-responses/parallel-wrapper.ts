import { isRecord, type Json } from '@antiphon/engine';
import { parseJson } from '../http/errors.js';

const WRAPPERS: ReadonlySet<string> = new Set(['parallel', 'multi_tool_use.parallel', 'multi_tool_use_parallel']);

/** A call that stood inside another. */
export interface WrappedCall {
  readonly name: string;
  readonly args: string;
}

/** True for the name of a wrapper that the request does not offer itself. Its arguments are told only when they are whole. */
export function isWrapper(name: unknown, toolNames: ReadonlySet<string>): boolean {
  return typeof name === 'string' && toolNames.size > 0 && WRAPPERS.has(name) && !toolNames.has(name);
}

/**
 * The calls in a wrapper that models were trained with and sometimes write by themselves: `parallel({ tool_uses: [{ recipient_name,
 * parameters }] })`. Undefined unless every one of them is a call of a tool that the request offers.
 */
export function unwrapCalls(args: string, toolNames: ReadonlySet<string>): WrappedCall[] | undefined {
  const value = parseJson(args);
  const uses = isRecord(value) ? value.tool_uses : undefined;
  if (!Array.isArray(uses) || uses.length === 0) return undefined;
  const calls = uses.flatMap((use): WrappedCall[] => {
    if (!isRecord(use) || typeof use.recipient_name !== 'string') return [];
    const name = use.recipient_name.replace(/^functions\./, '');
    return toolNames.has(name) ? [{ name, args: JSON.stringify((use.parameters ?? {}) as Json) }] : [];
  });
  return calls.length === uses.length ? calls : undefined;
}
