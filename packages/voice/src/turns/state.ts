import type { Clause } from '../text/index.js';
import type { AgentState, OverlapVerdict, TimerName, UserState } from './events.js';
import type { TurnPolicy } from './policy.js';

/** A reply on its way: from the request to the last sample. */
export interface ReplyState {
  readonly generation: number;
  readonly turn: number;
  /** What the user said; empty when the agent speaks unasked. */
  readonly userText: string;
  readonly kind: 'reply' | 'say';
  /** The user may speak over it. */
  readonly interruptible: boolean;
  /** The user's turn is over. Until then a reply is a guess, of which nothing is heard. */
  readonly confirmed: boolean;
  /** The model failed once already. */
  readonly retried: boolean;
  /** The text is complete. */
  readonly done: boolean;
  /** Clauses that wait for the user's turn to end. */
  readonly waiting: readonly Clause[];
  /** What was given to synthesis, clause by clause. */
  readonly spoken: readonly string[];
  /** Clauses of which synthesis was asked, in order; and how many of them have all their audio. */
  readonly asked: number;
  readonly synthesized: number;
  /** Something is in the queue or being played. */
  readonly sounding: boolean;
  /** Something of it is being played now. */
  readonly audible: boolean;
  /** Something of it was heard. */
  readonly heard: boolean;
  /** Calls that run now. */
  readonly tools: readonly string[];
  /** When the first of them began. */
  readonly toolsSince: number | undefined;
  readonly usedTools: boolean;
}

/** Somebody makes a sound while the agent speaks, and it is not yet known what it means. */
export interface OverlapState {
  readonly generation: number;
  readonly utterances: readonly number[];
  readonly stage: 'heard' | 'ducked' | 'paused';
  /** When the last sound ended; undefined while it lasts. */
  readonly endedAt: number | undefined;
  /** Words so far, in all of its utterances. */
  readonly text: string;
  readonly verdict: OverlapVerdict | undefined;
}

/** Words of a turn that has not ended. */
export interface Fragment {
  /** Less than 0: an earlier turn, taken back. */
  readonly utterance: number;
  readonly text: string;
}

/** Everything that turn-taking knows. Plain data: a state can be printed, stored and compared. */
export interface TurnState {
  readonly policy: TurnPolicy;
  readonly user: UserState;
  readonly agent: AgentState;
  readonly turn: number;
  readonly generation: number;
  /** What was said in the turn that has not ended yet, in the order in which it was said. */
  readonly fragments: readonly Fragment[];
  /** The unanswered turn whose words stand at the beginning of `fragments`. */
  readonly supersedes: number | undefined;
  /** When the last fragment's speech ended, and whether its words look finished. */
  readonly endedAt: number;
  readonly finished: boolean;
  /** When the present or last utterance began. */
  readonly startedAt: number;
  /** Speech in it so far. */
  readonly spokenMs: number;
  /** When the last utterance ended. */
  readonly quietSince: number;
  /** Utterances whose words are not known yet. */
  readonly transcribing: readonly number[];
  readonly reply: ReplyState | undefined;
  readonly overlap: OverlapState | undefined;
  /** Guesses at the reply in the turn that has not ended. */
  readonly guesses: number;
  /** What the agent is to say unasked when it is free. */
  readonly sayings: readonly { readonly text: string; readonly interruptible: boolean }[];
  readonly outputHeld: boolean;
  readonly ducked: boolean;
  readonly holdSound: boolean;
  /** Timers that run, and when they are due. */
  readonly timers: { readonly [T in TimerName]?: number };
  /** Somebody has spoken to the user, who may now answer or be away. */
  readonly awaitsUser: boolean;
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
    supersedes: undefined,
    endedAt: 0,
    finished: true,
    startedAt: 0,
    spokenMs: 0,
    quietSince: 0,
    transcribing: [],
    reply: undefined,
    overlap: undefined,
    guesses: 0,
    sayings: [],
    outputHeld: false,
    ducked: false,
    holdSound: false,
    timers: {},
    awaitsUser: false,
    sourceEnded: false,
    closed: false,
  };
}
