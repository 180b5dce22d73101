import type { Clock } from '../clock.js';
import type { JsonObject } from '../data/json.js';
import type { Message } from '../data/messages.js';
import type { AdapterEvent } from '../events/events.js';
import type { Warning } from '../events/finish.js';

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high';

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
}

/** Settings of a model call; each is neutral, and one that a provider cannot express comes back as a warning. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly reasoning?: ReasoningEffort;
  readonly promptCache?: PromptCache;
  /** Yield the provider's own events too, as `raw`. */
  readonly raw?: boolean;
  /** Sent as they are, by provider name: `{ openai: { logit_bias: {…} } }`. Only the adapter of that name reads them. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

/** The shape that the answer's text must have. */
export interface OutputSpec {
  readonly name: string;
  /** JSON Schema of the whole answer. */
  readonly schema: JsonObject;
}

/** Prompt caching, in neutral words; a provider that caches by itself needs none of it. */
export interface PromptCache {
  /** Requests with the same key share a cache. */
  readonly key?: string;
  /** `short` is minutes, `long` up to a day, as far as the provider has them. */
  readonly retention?: 'short' | 'long';
}

/** One model call, as plain data. */
export interface ChatRequest extends ModelSettings {
  /** Overrides the adapter's model. */
  readonly model?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  /** Only asked of an adapter that says `structuredOutput`. */
  readonly output?: OutputSpec;
}

/** What a call needs beside data. */
export interface AdapterContext {
  /** Ends the request: the adapter must close its socket and stop within bounded time. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly clock: Clock;
  /**
   * The engine's key for a provider, for adapters that were given none; asked for each request, after local checks and before the socket.
   * Undefined when there is none. An adapter keeps it out of everything it yields and throws.
   */
  readonly apiKey?: (provider: string) => Promise<string | undefined>;
  /** For adapters that stand before others. */
  readonly deadline?: Deadline;
}

/** The first-byte and idle deadlines of a request, seen from an adapter that knows more than its events tell. */
export interface Deadline {
  /** Time stands still, for example while a request waits in a queue. */
  pause(): void;
  /** Time begins anew: a request leaves, or there was a sign of life that gives no event. */
  restart(): void;
}

/** The HTTP request that a call would send. Whatever is secret in it is replaced by `[redacted]`. */
export interface PreparedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: { readonly [name: string]: string };
  /** The body as it would be sent. */
  readonly body: string;
  /** What was asked for and cannot be said to this provider, and what had to be repaired in the history. */
  readonly warnings: readonly Warning[];
}

/**
 * The contract of a chat model.
 *
 * `stream` sends one request when its iteration begins and yields events as they arrive: `message_start`, then blocks, then exactly one
 * `message_end`. It pulls: a consumer that stops reading stops the socket. Leaving the iteration closes the request. A failure of the
 * world is thrown as an `AdapterError` (also when the answer ends without a finish reason: `truncated`); an abort throws the signal's
 * reason. It does not retry and keeps no timers: the engine does both. `BlockWriter` does the bookkeeping of blocks.
 */
export interface ChatAdapter {
  /** Short name of the protocol or vendor, such as `openai`; the key for provider options and state. */
  readonly provider: string;
  readonly model: string;
  /** True when the provider itself holds the answer to `request.output`. */
  readonly structuredOutput?: boolean;
  /** False when it does not while tools are offered; the engine then asks for the answer by a tool. */
  readonly structuredOutputWithTools?: boolean;
  /** True when an answer to messages that end with an assistant's goes on behind that text and does not repeat it. */
  readonly continuation?: boolean;
  /** The request that `stream` would send, without sending it and without asking for a key. Throws for what `stream` refuses by itself. */
  prepare?(request: ChatRequest, context: AdapterContext): Promise<PreparedRequest>;
  stream(request: ChatRequest, context: AdapterContext): AsyncIterable<AdapterEvent>;
}
