import type { CallOptions, Engine } from '../contract.js';
import type { JsonObject } from '../data/json.js';
import type { Message } from '../data/messages.js';
import type { SessionState } from './state.js';
import type { SessionStore } from './store.js';

/**
 * `waiting`: `pending` says for what. `failed`: the last turn failed; `retry()` runs it again, `send()` goes on. `interrupted`: a turn broke off
 * in the middle, because the process ended or answers were given with `run: false`; `resume()` goes on with it.
 */
export type SessionStatus = 'idle' | 'running' | 'waiting' | 'failed' | 'interrupted';

/** What a session is made of. */
export interface SessionOptions {
  readonly engine: Engine;
  readonly id?: string;
  /** Where every change is written before anything follows from it. Without one a session lives in memory. */
  readonly store?: SessionStore;
  /** What the conversation begins with, such as `[system('Answer briefly.')]`. */
  readonly messages?: readonly Message[];
  /** Handed to tool handlers in every turn. */
  readonly context?: unknown;
}

/** Options of an answer, and of the run that follows when nothing is open any more. */
export interface AnswerOptions extends CallOptions {
  /** False only writes the answer down; `resume()` or `resumeStream()` goes on later. */
  readonly run?: boolean;
}

export interface ApproveOptions extends AnswerOptions {
  /** Take the place of the model's own arguments. */
  readonly arguments?: JsonObject;
}

/** Where a session begins to live. */
export interface SessionStart {
  readonly id: string;
  readonly state: SessionState;
  /** The place in its log, for one that was loaded. */
  readonly position: number;
  readonly entries: number;
}
