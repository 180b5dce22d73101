import type { Message } from '@antiphon/engine';

/**
 * Ids of tool calls as the API accepts them: letters, digits, `_` and `-`. A history may come from another provider. Ids that fit stay;
 * each other one becomes one that fits, the same in each request, and no two become one.
 */
export function toolIdMapper(messages: readonly Message[]): (id: string) => string {
  const ids = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') ids.add(message.callId);
    else if (message.role === 'assistant' && typeof message.content !== 'string') {
      for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
    }
  }
  const taken = new Set([...ids].filter(fits));
  const mapped = new Map<string, string>();
  for (const id of ids) {
    if (fits(id)) continue;
    const base = plain(id) || 'call';
    let candidate = base;
    for (let n = 2; taken.has(candidate); n++) candidate = `${base}_${n}`;
    taken.add(candidate);
    mapped.set(id, candidate);
  }
  return id => mapped.get(id) ?? id;
}

/** The name of a tool in an earlier call: models make names up, and one bad name would make the whole history unacceptable. */
export function toolName(name: string): string {
  return plain(name).slice(0, 128) || 'unknown';
}

function fits(id: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(id);
}

function plain(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_');
}
