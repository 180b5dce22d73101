import type { AgentState, UserState } from './events.js';
import type { TurnPolicy } from './policy.js';

/** A reply on its way: from the request to the last sample. */
export interface ReplyState {
  readonly generation: number;
  readonly turn: number;
  /** What the user said; empty when the agent speaks unasked. */
  readonly userText: string;
  readonly kind: 'reply' | 'say';
  /** The text is complete. */
  readonly done: boolean;
  /** Clauses given to synthesis. */
  readonly asked: number;
  /** Clauses whose audio is complete. */
  readonly synthesized: number;
  /** Something is in the queue or being played. */
  readonly sounding: boolean;
  /** Something of it was heard. */
  readonly heard: boolean;
  readonly usedTools: boolean;
}

/** Everything that turn-taking knows. Plain data: a state can be printed, stored and compared. */
export interface TurnState {
  readonly policy: TurnPolicy;
  readonly user: UserState;
  readonly agent: AgentState;
  readonly turn: number;
  readonly generation: number;
  /** What was said in the turn that has not ended yet. */
  readonly fragments: readonly string[];
  /** When the last fragment's speech ended. */
  readonly endedAt: number;
  /** Utterances whose words are not known yet. */
  readonly transcribing: readonly number[];
  readonly reply: ReplyState | undefined;
  /** What the agent is to say unasked when it is free. */
  readonly sayings: readonly string[];
  readonly sourceEnded: boolean;
  readonly closed: boolean;
}

export function initialTurnState(policy: TurnPolicy): TurnState {
  return {
    policy,
    user: 'quiet',
    agent: 'listening',
    turn: 0,
    generation: 0,
    fragments: [],
    endedAt: 0,
    transcribing: [],
    reply: undefined,
    sayings: [],
    sourceEnded: false,
    closed: false,
  };
}
