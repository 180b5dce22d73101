// What was asked of a capability and what it gave, as messages in the conventions' JSON shape. Bytes, vectors and scores are left out.
import { isRecord } from '../data/json.js';
import type { UserPart } from '../data/parts.js';
import { messagesJson } from './attributes.js';

/** Fields of requests that hold what is asked, in the order in which they are shown. */
const ASKED = ['prompt', 'text', 'query', 'state', 'questions', 'input', 'documents', 'images', 'mask', 'audio'];

/** The content of a request; undefined when it has none, as that of a text which is still being written. */
export function askedOf(request: object): string | undefined {
  return message('user', request, ASKED);
}

/** The content of an outcome. */
export function givenIn(outcome: object): string | undefined {
  return message('assistant', outcome, ['text', 'answers', 'images', 'audio']);
}

function message(role: 'user' | 'assistant', source: object, fields: readonly string[]): string | undefined {
  const parts = fields.flatMap(field => partsOf((source as Record<string, unknown>)[field]));
  // Each part of ours may stand in both roles there.
  return parts.length === 0 ? undefined : messagesJson([{ role, content: parts as never }]);
}

function partsOf(value: unknown): UserPart[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (Array.isArray(value)) return value.flatMap(partsOf);
  if (isRecord(value) && isPart(value)) return [value];
  return [{ type: 'text', text: JSON.stringify(value) }];
}

function isPart(value: Record<string, unknown>): value is Record<string, unknown> & UserPart {
  return value.type === 'text' || value.type === 'image' || value.type === 'audio';
}
