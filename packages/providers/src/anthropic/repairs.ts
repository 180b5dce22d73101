import { isRecord, type Warning } from '@antiphon/engine';
import type { WireObject } from '../http/wire-values.js';

import { isServerToolUse, lastWord, type WireTurn } from './messages.js';

/**
 * One block that refers to something which the request does not hold has the whole request refused, and with it every later one of the
 * conversation. Changes the turns that it is given; what can stay stays as it came.
 */
export function mendReferences(messages: readonly WireTurn[], tools: readonly WireObject[], warnings: Warning[]): void {
  unbindCalls(messages.slice(0, lastWord(messages) + 1), warnings);
  dropLostTools(messages, tools, warnings);
}

/** A call that names the code it came from is refused without that code; while the code waits, it is the server that knows it. */
function unbindCalls(messages: readonly WireTurn[], warnings: Warning[]): void {
  const uses = new Set(messages.flatMap(({ content }) => content.filter(isServerToolUse).map(({ id }) => id)));
  const changed = change(messages, block => {
    const { caller, ...rest } = block;
    return isRecord(caller) && caller.tool_id !== undefined && !uses.has(caller.tool_id as string) ? rest : block;
  });
  if (changed) warn('The code that made a call is no longer in the history; the call was sent as one of the model.', warnings);
}

/** A search for tools may have found some that are no longer offered. */
function dropLostTools(messages: readonly WireTurn[], tools: readonly WireObject[], warnings: Warning[]): void {
  // A whole server's tools have no names here.
  if (tools.some(({ name }) => typeof name !== 'string')) return;
  const names = new Set(tools.map(({ name }) => name));
  const changed = change(messages, block => {
    if (block.type !== 'tool_search_tool_result' || !isRecord(block.content)) return block;
    const content = block.content as WireObject;
    const found = content.tool_references;
    if (!Array.isArray(found)) return block;
    const left = found.filter(reference => names.has((reference as WireObject).tool_name ?? ''));
    return left.length === found.length ? block : { ...block, content: { ...content, tool_references: left } };
  });
  if (changed) warn('Tools that a search found are no longer offered; they were left out of its result.', warnings);
}

/** Puts another block in the place of each in the model's turns; tells whether anything is different now. */
function change(turns: readonly WireTurn[], by: (block: WireObject) => WireObject): boolean {
  let changed = false;
  for (const { role, content } of turns) {
    if (role !== 'assistant') continue;
    const next = content.map(by);
    if (next.every((block, i) => block === content[i])) continue;
    changed = true;
    content.splice(0, content.length, ...next);
  }
  return changed;
}

function warn(message: string, warnings: Warning[]): void {
  warnings.push({ code: 'repaired_history', message });
}
