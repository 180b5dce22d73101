import { defined } from '../data/defined.js';
import type { JsonObject } from '../data/json.js';
import { type AssistantMessage, type Message, messageToolCalls, toolResult } from '../data/messages.js';
import type { ErrorJson } from '../errors.js';
import type { Pending, PendingQuestion } from '../events/outcome.js';
import { isWaiting, pendingOnly } from '../events/pending.js';
import type { EncodedResult } from '../tools/encode.js';
import { UNKNOWN_EFFECT } from './decide.js';
import { openCalls, unansweredIds } from './open-calls.js';
import type { SessionJson } from './session-json.js';
import { breakOff, type OpenTurn, type SessionState, stateOf, turnHistory } from './state.js';

/**
 * One line of a session's log. What a session is follows from its entries alone: the live one and a stored one that is read again go
 * through the same `applyEntry`.
 */
export type SessionEntry =
  /** Everything so far: the beginning of a log, or what takes the place of a long one. */
  | { readonly type: 'snapshot'; readonly session: SessionJson }
  /** A turn begins with these new messages; none when it goes on with what stands there. */
  | { readonly type: 'begin'; readonly messages: readonly Message[] }
  /** The model's answer with calls is complete; none of them has begun. */
  | { readonly type: 'message'; readonly message: AssistantMessage }
  /** A handler is about to run. */
  | { readonly type: 'start'; readonly callId: string }
  | ({ readonly type: 'result' } & CallResult)
  | ({ readonly type: 'question' } & PendingQuestion)
  /** The turn is over: its messages are the first `keep` of what the log tells, then `messages`. */
  | {
      readonly type: 'end';
      readonly status: 'idle' | 'waiting' | 'failed';
      readonly keep: number;
      readonly messages: readonly Message[];
      readonly pending: Pending;
      readonly error?: ErrorJson;
    }
  /** An open call was answered from outside. */
  | ({ readonly type: 'answer' } & CallResult)
  | { readonly type: 'approve'; readonly callId: string; readonly arguments?: JsonObject }
  /** The history was replaced: the first `keep` messages stay. */
  | { readonly type: 'replace'; readonly keep: number; readonly messages: readonly Message[] };

interface CallResult {
  readonly callId: string;
  readonly name: string;
  readonly content: EncodedResult;
  readonly isError?: boolean;
}

/** The state after an entry. */
export function applyEntry(state: SessionState, entry: SessionEntry): SessionState {
  switch (entry.type) {
    case 'snapshot':
      return stateOf(entry.session).state;
    case 'begin':
      return begin(breakOff(state), entry.messages);
    case 'message': {
      const turn = turnOf(state);
      const history = turnHistory(turn);
      return {
        ...state,
        batch: state.batch + 1,
        approved: [],
        turn: { history, step: { message: entry.message, results: [] }, ...NOTHING_OPEN },
      };
    }
    case 'start': {
      const turn = turnOf(state);
      return { ...state, turn: { ...turn, started: [...without(turn.started, entry.callId), entry.callId] } };
    }
    case 'question': {
      const turn = turnOf(state);
      const { type: _, ...question } = entry;
      return { ...state, turn: { ...turn, started: without(turn.started, entry.callId), questions: [...turn.questions, question] } };
    }
    case 'result':
      return { ...state, turn: answered(turnOf(state), entry) };
    case 'end': {
      const { turn: _, error: __, ...rest } = state;
      const { status, keep, messages, pending, error } = entry;
      const history = turnHistory(turnOf(state)).keep(keep).add(messages);
      const revision = state.revision + 1;
      return { ...rest, revision, status, history, pending, ...defined({ error }), approved: [], started: [] };
    }
    case 'answer': {
      const before = breakOff(state);
      // The end is the right place even beside earlier results: the order in which calls are answered is repaired on the way out.
      return settled(before, entry.callId, { history: before.history.add([resultOf(entry)]) });
    }
    case 'approve': {
      const before = breakOff(state);
      const { callId, arguments: edited } = entry;
      const approved = [...before.approved, { callId, ...defined({ arguments: edited }) }];
      return settled(before, callId, { approved });
    }
    case 'replace':
      return replaced(breakOff(state), entry.keep, entry.messages);
  }
}

const NOTHING_OPEN = { started: [], questions: [] };

function begin(state: SessionState, messages: readonly Message[]): SessionState {
  if (messages.length === 0) return { ...state, turn: { history: state.history, started: state.started, questions: [] } };
  // The conversation goes on without the calls that a crash cut off.
  const lost = openCalls(state.history).filter(({ id }) => state.started.includes(id));
  const results = lost.map(({ id, name }) => toolResult(id, UNKNOWN_EFFECT, { name, isError: true }));
  return { ...state, turn: { history: state.history.add([...results, ...messages]), ...NOTHING_OPEN } };
}

function answered(turn: OpenTurn, entry: CallResult): OpenTurn {
  const { step } = turn;
  const message = resultOf(entry);
  const started = without(turn.started, entry.callId);
  // A call of an earlier turn that was left open has its place in the history, not in this turn's step.
  if (!step || !messageToolCalls(step.message).some(({ id }) => id === entry.callId))
    return { ...turn, started, history: turn.history.add([message]) };
  const others = step.results.filter(({ callId }) => callId !== entry.callId);
  return { ...turn, started, step: { ...step, results: [...others, message] } };
}

function settled(state: SessionState, callId: string, change: Partial<SessionState>): SessionState {
  const pending = pendingOnly(state.pending, id => id !== callId);
  return { ...state, ...change, revision: state.revision + 1, pending, status: isWaiting(pending) ? 'waiting' : 'interrupted' };
}

function replaced(state: SessionState, keep: number, messages: readonly Message[]): SessionState {
  const history = state.history.keep(keep).add(messages);
  const [before, after] = [state.history, history].map(list => openCalls(list).map(({ id }) => id));
  const sameCalls = JSON.stringify(before) === JSON.stringify(after);
  const changed = { ...state, history, revision: state.revision + 1, batch: state.batch + (sameCalls ? 0 : 1) };
  if (state.status !== 'waiting' && state.status !== 'interrupted') return changed;
  // Nobody can answer a call that is gone.
  const open = unansweredIds(history.messages);
  const pending = pendingOnly(state.pending, id => open.has(id));
  return {
    ...changed,
    pending,
    status: isWaiting(pending) ? 'waiting' : after?.length ? 'interrupted' : 'idle',
    approved: state.approved.filter(({ callId }) => open.has(callId)),
    started: state.started.filter(id => open.has(id)),
  };
}

function turnOf({ turn }: SessionState): OpenTurn {
  if (!turn) throw new TypeError('an entry of a turn stands outside of one');
  return turn;
}

function resultOf({ callId, name, content, isError }: CallResult) {
  return toolResult(callId, content, { name, isError });
}

function without(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids.filter(other => other !== id) : ids;
}
