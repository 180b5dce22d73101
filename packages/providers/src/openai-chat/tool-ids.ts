import type { Message } from '@antiphon/engine';
import type { Profile } from './profiles.js';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Ids of tool calls as this server accepts them. A history may come from another provider, whose ids are too long or have other
 * characters. Ids that fit stay; each other one becomes a hash of itself, the same in each request, and no two become one.
 */
export function toolIdMapper(messages: readonly Message[], rule: Profile['toolCallIds']): (id: string) => string {
  const fits = RULES[rule];
  const ids = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') ids.add(message.callId);
    else if (message.role === 'assistant' && typeof message.content !== 'string') {
      for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
    }
  }
  const mapped = new Map<string, string>();
  const taken = new Set<string>();
  for (const id of ids) if (fits(id)) taken.add(id);
  for (const id of ids) {
    if (fits(id)) continue;
    let candidate = shortId(id);
    for (let salt = 1; taken.has(candidate); salt++) candidate = shortId(`${salt}:${id}`);
    taken.add(candidate);
    mapped.set(id, candidate);
  }
  return id => mapped.get(id) ?? id;
}

const RULES: Record<Profile['toolCallIds'], (id: string) => boolean> = {
  any: id => id !== '',
  'max-40': id => id !== '' && id.length <= 40,
  'nine-alphanumeric': id => /^[A-Za-z0-9]{9}$/.test(id),
};

/** Nine letters and digits (53 bits) from a text: two rounds of FNV-1a with different beginnings. */
function shortId(text: string): string {
  let number = fnv1a(text, 0x811c9dc5) * 0x20_0000 + (fnv1a(text, 0x01000193) >>> 11);
  let id = '';
  for (let i = 0; i < 9; i++) {
    id += ALPHABET.charAt(number % ALPHABET.length);
    number = Math.floor(number / ALPHABET.length);
  }
  return id;
}

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
