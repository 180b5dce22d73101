import type { ChatAdapter } from '../adapters/chat.js';
import type { Usage } from '../data/usage.js';
import type { AdapterUnderTest } from './request-conformance.js';

/** What the model's server does, in neutral words. It answers every request in the same way. */
export interface ChatScenario {
  readonly reasoning?: readonly string[];
  /** Pieces of text, each sent by itself. */
  readonly text?: readonly string[];
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly rawArguments: string }[];
  readonly finish: 'stop' | 'tool_calls' | 'length';
  /** Missing: the server reports none. */
  readonly usage?: Pick<Usage, 'inputTokens' | 'outputTokens'>;
  /**
   * `complete`: with the finish reason. `cut`: the answer ends in good order, but without one. `lost`: the connection breaks after the last
   * piece. `open`: nothing more comes, and the connection stays open. `endless`: the last piece of text comes again and again.
   */
  readonly ends: 'complete' | 'cut' | 'lost' | 'open' | 'endless';
  /** Answered instead of all that. */
  readonly failure?: { readonly status: number; readonly message: string; readonly retryAfterMs?: number };
}

/** An adapter whose server behaves as a scenario says, and what can be seen of that server. */
export interface ChatUnderTest extends AdapterUnderTest<ChatAdapter> {
  /** Pieces of an `endless` answer that the server could send. */
  sent?(): number;
}

/** Makes an adapter for a scenario; undefined when the provider cannot get into it, and then its cases pass. */
export type MakeChatAdapter = (scenario: ChatScenario) => ChatUnderTest | undefined | Promise<ChatUnderTest | undefined>;
