import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import type { AdapterEvent } from '../events/events.js';
import { around } from './around.js';
import { redact, redactor } from './redact.js';

/** Whom a key is for. */
export interface KeyInfo {
  /** The call's own value, as tools see it; the place for a tenant. */
  readonly context: unknown;
  readonly requestId: string;
  readonly sessionId?: string;
}

/**
 * Gives the API key for a provider (`openai`, `anthropic`, …), for one call of one tenant. Asked for each request of an adapter that was
 * given no key, after local checks and before anything is sent, so a key may change at any time. `undefined` leaves the adapter to its
 * environment variable; a throw fails the call with `missing_key`, and what was thrown is not shown.
 *
 * ```ts
 * createEngine({ chat, keys: (provider, { context }) => vault.read(`${(context as Tenant).id}/${provider}`) });
 * ```
 */
export type KeyResolver = (provider: string, info: KeyInfo) => string | undefined | Promise<string | undefined>;

/** Hands the resolver's keys to an adapter, and keeps each key that was handed out from everything that comes back beside the answer. */
export function withKeys(inner: ChatAdapter, keys: KeyResolver, info: KeyInfo): ChatAdapter {
  const { prepare } = inner;
  return around(inner, {
    ...(prepare ? { prepare: (request, context) => prepare.call(inner, request, { ...context, apiKey: async () => undefined }) } : {}),
    async *stream(request: ChatRequest, context: AdapterContext): AsyncGenerator<AdapterEvent> {
      const secrets: string[] = [];
      let hide: ((text: string) => string) | undefined;
      const apiKey = async (provider: string) => {
        const key = await keys(provider, info);
        if (typeof key === 'string') secrets.push(key.trim());
        hide = redactor(secrets);
        return key;
      };
      try {
        for await (const event of inner.stream(request, { ...context, apiKey })) {
          yield hide && (event.type === 'raw' || event.type === 'warning') ? redact(event, hide) : event;
        }
      } catch (thrown) {
        throw hide ? redact(thrown, hide) : thrown;
      }
    },
  });
}
