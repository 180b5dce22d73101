import type { Trace, TraceLine } from './trace.js';

/** A law that a trace breaks. */
export interface Violation {
  /** Which one, from 1 to 10; see {@link checkTrace}. */
  readonly law: number;
  readonly t: number;
  readonly message: string;
}

/** One output frame, and what is given to it. */
const STOP_WITHIN_MS = 20 + 50;

/**
 * The laws of every conversation, checked on its trace: 1 nothing of a reply that is over is synthesized or played · 2 a confirmed interruption ends the
 * sound · 3 every turn gets one reply, or is superseded, or fails openly · 4 nothing is said twice · 5 every call has its end before the next request ·
 * 6 the history holds what was sent to synthesis and heard · 7 states change as they may · 8 a closed session leaves nothing · 9 what was queued was
 * played or flushed · 10 messages stand in the order in which they were heard.
 *
 * ```ts
 * checkTrace(await runScenario(scenario)); // []
 * ```
 */
export function checkTrace(trace: Trace): Violation[] {
  const violations: Violation[] = [];
  for (const [i, check] of LAWS.entries()) for (const { t, message } of check(trace)) violations.push({ law: i + 1, t, message });
  return violations;
}

interface Fault {
  readonly t: number;
  readonly message: string;
}

type Of<T extends TraceLine['type'], L extends TraceLine = TraceLine> = L extends TraceLine
  ? T & L['type'] extends never
    ? never
    : L
  : never;

function all<T extends TraceLine['type']>(trace: Trace, ...types: readonly T[]): Of<T>[] {
  return trace.filter((line): line is Of<T> => (types as readonly string[]).includes(line.type));
}

function* nothingOld(trace: Trace): Generator<Fault> {
  const over = new Set<number>();
  for (const line of trace) {
    if (!('generation' in line) || line.generation === undefined) continue;
    const { type, generation, t } = line;
    if (
      over.has(generation) &&
      /^(?:llm_first_token|llm_done|tts_|audio_first|duck|pause|resume|unduck)/u.test(type) &&
      type !== 'tts_cancelled'
    )
      yield { t, message: `${type} of generation ${generation}, which was over` };
    if (type === 'flush' || type === 'llm_cancelled' || (type === 'message' && line.role === 'assistant')) over.add(generation);
  }
}

function* interruptionsEnd(trace: Trace): Generator<Fault> {
  for (const [i, line] of trace.entries()) {
    if (line.type !== 'overlap' || line.verdict !== 'interruption') continue;
    const speaking = trace.slice(0, i).findLast((other): other is Of<'agent_state'> => other.type === 'agent_state')?.state === 'speaking';
    const stop = trace.slice(i).find(other => other.type === 'audio_stop');
    if (speaking && !(stop && stop.t <= line.t + STOP_WITHIN_MS)) yield { t: line.t, message: 'an interruption did not end the sound' };
  }
}

function* turnsAreAnswered(trace: Trace): Generator<Fault> {
  const turns = all(trace, 'turn_end');
  const closed = all(trace, 'closed')[0]?.t ?? Number.POSITIVE_INFINITY;
  for (const { turn, t } of turns) {
    const replies = all(trace, 'message').filter(
      message => message.role === 'assistant' && message.turn === turn && message.generation !== undefined,
    );
    const requests = all(trace, 'llm_request').filter(request => request.turn === turn);
    const apologies = all(trace, 'apology').filter(apology => apology.turn === turn);
    if (requests.length === 0) yield { t, message: `turn ${turn} was never sent to the model` };
    const answered = replies.length > 0 || apologies.length > 0;
    const superseded = turns.some(other => other.turn > turn);
    const stopped = all(trace, 'llm_cancelled', 'flush').some(line => line.turn === turn);
    const empty = all(trace, 'llm_done').some(line => line.turn === turn);
    const failed = all(trace, 'error').some(error => error.t >= t);
    if (!answered && !superseded && !stopped && !empty && !failed && closed > t + STOP_WITHIN_MS)
      yield { t, message: `turn ${turn} got neither a reply nor an end` };
  }
}

function* nothingTwice(trace: Trace): Generator<Fault> {
  const seen = new Set<string>();
  for (const line of trace) {
    if (!('generation' in line) || line.generation === undefined) continue;
    const once = ['llm_request', 'llm_first_token', 'llm_done', 'audio_first', 'audio_stop', 'message', 'flush'].includes(line.type);
    const key = `${line.type} ${line.generation}`;
    if (once && seen.has(key)) yield { t: line.t, message: `${line.type} of generation ${line.generation} came twice` };
    seen.add(key);
  }
}

function* callsEnd(trace: Trace): Generator<Fault> {
  const open = new Map<string, number>();
  const known = new Set<string>();
  for (const line of trace) {
    if (line.type === 'tool_start') {
      if (known.has(line.callId)) yield { t: line.t, message: `call ${line.callId} began twice` };
      known.add(line.callId);
      open.set(line.callId, line.generation);
    } else if (line.type === 'tool_end') {
      if (!open.delete(line.callId)) yield { t: line.t, message: `call ${line.callId} ended without having begun` };
    } else if (line.type === 'llm_cancelled') {
      for (const [call, generation] of open) if (generation === line.generation) open.delete(call);
    } else if (line.type === 'llm_request' && open.size > 0)
      yield { t: line.t, message: `the model was asked while ${[...open.keys()].join(', ')} had no end` };
  }
}

function* historyIsHeard(trace: Trace): Generator<Fault> {
  for (const line of all(trace, 'message')) {
    if (line.role !== 'assistant' || line.generation === undefined) continue;
    const sent = all(trace, 'tts_request').filter(request => request.generation === line.generation);
    const letters = (text: string) =>
      text
        .normalize('NFKC')
        .replace(/[^\p{L}\p{N}]+/gu, '')
        .toLowerCase();
    const spoken = letters(sent.map(request => request.text).join(' '));
    // Numbers and signs are spelt out for the voice, so only plain text can be compared.
    if (/^[\p{L}\s.,!?…'’-]*$/u.test(line.text) && !spoken.startsWith(letters(line.text)))
      yield { t: line.t, message: `"${line.text}" is no beginning of what was spoken` };
    if (line.interrupted && (line.playedMs ?? 0) === 0) yield { t: line.t, message: 'a reply of which nothing was heard left a message' };
    if (line.interrupted && /\s$/u.test(line.text)) yield { t: line.t, message: 'a cut message ends in white space' };
  }
}

const NEXT: Record<string, readonly string[]> = {
  listening: ['thinking', 'speaking'],
  thinking: ['speaking', 'listening'],
  speaking: ['thinking', 'listening'],
};

function* statesAreLegal(trace: Trace): Generator<Fault> {
  let state = 'listening';
  let heard = false;
  for (const line of trace) {
    if (line.type === 'audio_first') heard = true;
    if (line.type !== 'agent_state') continue;
    if (!NEXT[state]?.includes(line.state)) yield { t: line.t, message: `the agent went from ${state} to ${line.state}` };
    if (line.state === 'speaking' && !heard) yield { t: line.t, message: 'the agent speaks before its first sample was played' };
    state = line.state;
  }
  const voices = all(trace, 'vad_start', 'vad_end');
  for (const [i, { type, t }] of voices.entries())
    if (type !== (i % 2 === 0 ? 'vad_start' : 'vad_end')) yield { t, message: `${type} came out of turn` };
}

function* closedLeavesNothing(trace: Trace): Generator<Fault> {
  const at = trace.findIndex(({ type }) => type === 'closed');
  if (at === -1) yield { t: trace.at(-1)?.t ?? 0, message: 'the session was never closed' };
  for (const line of at === -1 ? [] : trace.slice(at + 1)) {
    if (line.type === 'left' && line.timers > 0) yield { t: line.t, message: `${line.timers} timers are left` };
    if (line.type !== 'left' && !line.type.startsWith('user_speech')) yield { t: line.t, message: `${line.type} came after closed` };
  }
}

function* soundAddsUp(trace: Trace): Generator<Fault> {
  for (const line of all(trace, 'audio_stop')) {
    if (line.playedMs > line.queuedMs) yield { t: line.t, message: `${line.playedMs} ms were played of ${line.queuedMs}` };
    const flushed = all(trace, 'flush').some(flush => flush.generation === line.generation);
    if (!flushed && line.playedMs !== line.queuedMs)
      yield { t: line.t, message: `${line.queuedMs - line.playedMs} ms of generation ${line.generation} were lost` };
  }
}

function* messagesAreInOrder(trace: Trace): Generator<Fault> {
  let last = { turn: 0, t: 0 };
  for (const { turn, t, role } of all(trace, 'message')) {
    if (t < last.t || turn < last.turn) yield { t, message: `a message of the ${role} in turn ${turn} came after turn ${last.turn}` };
    last = { turn, t };
  }
}

const LAWS = [
  nothingOld,
  interruptionsEnd,
  turnsAreAnswered,
  nothingTwice,
  callsEnd,
  historyIsHeard,
  statesAreLegal,
  closedLeavesNothing,
  soundAddsUp,
  messagesAreInOrder,
];
