import type { WireTurn } from './messages.js';

/** Blocks that the API takes back only while the feature that they came from is asked for. */
const NEEDED: ReadonlyMap<unknown, string> = new Map([
  ['fallback', 'server-side-fallback-2026-07-01'],
  ['compaction', 'compact-2026-01-12'],
  ['mcp_tool_use', 'mcp-client-2025-11-20'],
  ['mcp_tool_result', 'mcp-client-2025-11-20'],
]);

/** The features without which this history would be refused. */
export function replayBetas(messages: readonly WireTurn[]): string[] {
  const needed = messages.flatMap(({ content }) => content.map(({ type }) => NEEDED.get(type)));
  return [...new Set(needed.filter(beta => beta !== undefined))];
}

/** What was asked for, and of what is needed that which was not asked for in another version. */
export function joinBetas(asked: Iterable<string>, needed: Iterable<string>): string[] {
  const all = new Set([...asked].map(beta => beta.trim()));
  all.delete('');
  const families = new Set([...all].map(familyOf));
  for (const beta of needed) if (!families.has(familyOf(beta))) all.add(beta);
  return [...all];
}

/** `compact-2026-01-12` → `compact` */
function familyOf(beta: string): string {
  return beta.replace(/-\d{4}-\d{2}-\d{2}$/, '');
}
