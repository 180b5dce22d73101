import { type ChatRequest, type Message, user } from '@antiphon/engine';
import { buildRequest } from '../../src/anthropic/request.js';
import type { WireBlock } from './anthropic-wire.js';

export type Body = Record<string, unknown> & { messages: { role: string; content: WireBlock[] }[] };

/** The body of a request, read again. */
export function build(request: Partial<ChatRequest>, model = 'claude-sonnet-4-5') {
  const { body, warnings, betas } = buildRequest({ messages: [user('Hi')], ...request }, { model });
  return { body: JSON.parse(body) as Body, warnings, betas };
}

export const thread = (...messages: Message[]) => build({ messages });
export const own = (state: object) => ({ providerState: { anthropic: state as never } });
export const call = (id: string, more: object = {}) => ({
  type: 'tool_call' as const,
  id,
  name: 'look',
  arguments: { a: 1 },
  rawArguments: '{"a": 1}',
  ...more,
});
export const thought = (text: string, signature?: string) => ({
  type: 'reasoning' as const,
  text,
  ...(signature === undefined ? {} : own({ signature })),
});
export const opaque = (block: object) => ({ type: 'reasoning' as const, text: '', ...own({ block }) });
export const TOOL = { name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: {} } };
