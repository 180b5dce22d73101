/** What a reply says while it is made. Reasoning, tool arguments and citations are never part of it: they are not spoken. */
export type ReplyEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'tool_start'; readonly callId: string; readonly name: string }
  | { readonly type: 'tool_end'; readonly callId: string; readonly name: string }
  /** The last event. `interrupted` names why the reply stopped before its end, such as `max_turns`. */
  | { readonly type: 'done'; readonly interrupted?: string };

/** What became of a reply, by the playout ledger. */
export interface HeardReport {
  /** The beginning of the reply's text that was heard, whole words only. */
  readonly text: string;
  /** The reply was cut; what follows `text` was never heard. */
  readonly interrupted: boolean;
  /** Nothing was heard and the user goes on with the same thought: the turn comes again, merged with what follows. */
  readonly withdrawn?: boolean;
}

/**
 * The mind of a voice session: one conversation. `reply` sends the user's words and yields the answer as it comes; it throws when the model
 * fails, and ends soon after the signal aborts. `heard` is called once for each reply, after it: history must hold what was heard. With
 * `confirmed` the user may not be done: the answer may be made, but nothing that takes effect (a tool) may run before it resolves.
 */
export interface LlmBackend {
  readonly name: string;
  reply(user: string, options: { readonly signal: AbortSignal; readonly confirmed?: Promise<void> }): AsyncIterable<ReplyEvent>;
  heard(report: HeardReport): void;
  /** The agent said this unasked. */
  said?(report: HeardReport): void;
  /** The user said this, and the session was closed before it could be answered. */
  noted?(text: string): void;
  /** Forgets the conversation. */
  reset(): void;
}
