import type { ChatAdapter } from '../adapters/chat.js';
import { defined } from '../data/defined.js';

/** An adapter that stands before another one and says of itself what that one says, but for the changes. */
export function around(inner: ChatAdapter, changes: Partial<ChatAdapter> & Pick<ChatAdapter, 'stream'>): ChatAdapter {
  const { structuredOutput, structuredOutputWithTools, continuation } = inner;
  return {
    provider: inner.provider,
    model: inner.model,
    ...defined({ structuredOutput, structuredOutputWithTools, continuation }),
    ...(inner.prepare ? { prepare: (request, context) => inner.prepare!(request, context) } : {}),
    ...changes,
  };
}
