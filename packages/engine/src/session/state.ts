import type { Json } from '../data/json.js';
import { type AssistantMessage, type Message, messageToolCalls, type ToolMessage } from '../data/messages.js';
import type { ErrorJson } from '../errors.js';
import type { Pending, PendingQuestion } from '../events/outcome.js';
import { History } from './history.js';
import { type ApprovedCall, readSessionJson, type SessionJson } from './session-json.js';

/** A session between two entries of its log. A value: every change makes another one. */
export interface SessionState {
  readonly revision: number;
  readonly status: SessionJson['status'];
  readonly history: History;
  readonly pending: Pending;
  readonly error?: ErrorJson;
  readonly batch: number;
  readonly approved: readonly ApprovedCall[];
  /** Open calls of `history` that began before a crash. */
  readonly started: readonly string[];
  /** What a turn has done that is not over. Everything above is as it was before. */
  readonly turn?: OpenTurn;
  /** Keys that a later version added. */
  readonly more: { readonly [key: string]: Json };
}

/** A turn that has begun. */
export interface OpenTurn {
  /** What it began with, and its steps that are done. */
  readonly history: History;
  /** The answer whose calls are being run, and their results so far. */
  readonly step?: { readonly message: AssistantMessage; readonly results: readonly ToolMessage[] };
  /** Calls that have begun and have no result. */
  readonly started: readonly string[];
  readonly questions: readonly PendingQuestion[];
}

/** The state that data tells. Throws `ValidationError` (`invalid_session`). */
export function stateOf(json: unknown): { readonly id: string; readonly state: SessionState } {
  const { version: _, id, revision, status, messages, pending, error, batch, approved = [], started = [], ...more } = readSessionJson(json);
  const history = History.of(messages);
  return {
    id,
    state: { revision, status, history, pending, ...(error === undefined ? {} : { error }), batch, approved, started, more },
  };
}

/** The data of a state; a turn that is not over is left out. */
export function jsonOf(
  id: string,
  { revision, status, history, pending, error, batch, approved, started, more }: SessionState,
): SessionJson {
  return {
    version: 2,
    id,
    revision,
    status,
    messages: history.messages,
    pending,
    ...(error === undefined ? {} : { error }),
    batch,
    ...(approved.length > 0 ? { approved } : {}),
    ...(started.length > 0 ? { started } : {}),
    ...more,
  };
}

/** The history of a turn with the results of its last step, in the order of the calls. */
export function turnHistory({ history, step }: OpenTurn): History {
  if (!step) return history;
  const results = messageToolCalls(step.message).flatMap(({ id }): Message[] => step.results.filter(({ callId }) => callId === id));
  return history.add([step.message, ...results]);
}

/**
 * What is left of a turn that broke off: its finished steps stay, and its open questions wait for their answers. Counts as a change. A state
 * without an open turn is returned as it is.
 */
export function breakOff(state: SessionState): SessionState {
  const { turn, error: _, ...rest } = state;
  if (!turn) return state;
  const { questions, started } = turn;
  return {
    ...rest,
    revision: state.revision + 1,
    history: turnHistory(turn),
    pending: questions.length > 0 ? { questions } : {},
    status: questions.length > 0 ? 'waiting' : 'interrupted',
    started,
  };
}
