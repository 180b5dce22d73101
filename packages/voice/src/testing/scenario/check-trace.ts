import type { Trace, TraceLine } from './trace.js';

/** A law that a trace breaks. */
export interface Violation {
  /** Which one, from 1 to 10; see {@link checkTrace}. */
  readonly law: number;
  readonly t: number;
  readonly message: string;
}

/** One output frame: how exactly the trace knows what is played. */
const FRAME_MS = 20;
/** One output frame, and what is given to it. */
const STOP_WITHIN_MS = FRAME_MS + 50;

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

/** What a reply that is over may not do. How it ended may be told. */
const OF_A_LIVING_REPLY =
  /^(?:llm_request|llm_first_token|llm_done|tts_(?!cancelled)|tool_|audio_first|duck|unduck|pause|resume|hold_start|apology)/u;

function* nothingOld(trace: Trace): Generator<Fault> {
  const over = new Set<number>();
  let newest = 0;
  for (const line of trace) {
    if (!('generation' in line) || line.generation === undefined) continue;
    const { type, generation, t } = line;
    // The apology belongs to the reply that failed.
    const isOld = over.has(generation) && type !== 'apology';
    if ((isOld || generation < newest) && OF_A_LIVING_REPLY.test(type))
      yield { t, message: `${type} of generation ${generation}, which was over` };
    newest = Math.max(newest, generation);
    if (STOPS.includes(type) || type === 'audio_stop' || (type === 'message' && line.role === 'assistant')) over.add(generation);
  }
}

const STOPS: readonly TraceLine['type'][] = ['flush', 'llm_cancelled', 'tts_cancelled'];

function* interruptionsEnd(trace: Trace): Generator<Fault> {
  for (const [i, line] of trace.entries()) {
    if (line.type !== 'overlap' || line.verdict !== 'interruption') continue;
    const before = trace.slice(0, i);
    const speaking = before.findLast((other): other is Of<'agent_state'> => other.type === 'agent_state')?.state === 'speaking';
    if (!speaking) continue;
    const first = before.findLast((other): other is Of<'audio_first'> => other.type === 'audio_first');
    const stop = all(trace.slice(i), 'audio_stop').find(({ generation }) => generation === first?.generation);
    if (!stop || stop.t > line.t + STOP_WITHIN_MS) yield { t: line.t, message: 'an interruption did not end the sound' };
  }
}

function* turnsAreAnswered(trace: Trace): Generator<Fault> {
  const turns = all(trace, 'turn_end');
  const closed = all(trace, 'closed')[0]?.t ?? Number.POSITIVE_INFINITY;
  for (const [i, { turn, t }] of turns.entries()) {
    const next = turns[i + 1];
    const after = next ? trace.indexOf(next) : trace.length;
    const requests = all(trace, 'llm_request').filter(request => request.turn === turn);
    if (requests.length === 0) yield { t, message: `turn ${turn} was never sent to the model` };
    const generations = new Set<number | undefined>(requests.map(({ generation }) => generation));
    const replies = new Set(repliesIn(trace).flatMap(reply => (generations.has(reply.generation) ? [reply.generation] : []))).size;
    const superseded = turns.filter(({ supersedes }) => supersedes === turn).length;
    if (replies + superseded > 1) yield { t, message: `turn ${turn} got ${replies} replies and was superseded ${superseded} times` };
    if (replies + superseded > 0) continue;
    // Without a reply there must be a reason: it was stopped, it failed, there was nothing to say, or the session was closed.
    // Guesses and attempts before the last request do not count.
    const last = requests.at(-1);
    if (!last) continue;
    const { generation } = last;
    const inTurn = trace.slice(trace.indexOf(last), after);
    const skipped = inTurn.some(
      line =>
        (line.type === 'error' && (line.stage === 'llm' || line.stage === 'tts')) ||
        (line.type === 'llm_done' && line.generation === generation && line.text.trim() === '') ||
        (STOPS.includes(line.type) && 'generation' in line && line.generation === generation),
    );
    // A text that was complete, and not spoken yet, leaves no trace when it is dropped.
    const has = (type: 'llm_done' | 'tts_request') => inTurn.some(line => line.type === type && line.generation === generation);
    const dropped = has('llm_done') && !has('tts_request') && (next !== undefined || closed < Number.POSITIVE_INFINITY);
    if (!skipped && !dropped) yield { t, message: `turn ${turn} got neither a reply nor an end` };
  }
}

/** What the assistant said; not what it was made to say unasked. */
function repliesIn(trace: Trace): Of<'message'>[] {
  const asked = new Set(all(trace, 'llm_request').map(({ generation }) => generation));
  return all(trace, 'message').filter(({ role, generation }) => role === 'assistant' && asked.has(generation ?? -1));
}

const ONCE: readonly TraceLine['type'][] = [
  ...(['llm_request', 'llm_first_token', 'llm_done', 'llm_cancelled', 'audio_first', 'audio_stop'] as const),
  ...(['message', 'flush', 'apology', 'tts_request', 'tts_first_byte', 'tts_done', 'tts_cancelled'] as const),
];

function* nothingTwice(trace: Trace): Generator<Fault> {
  const seen = new Set<string>();
  for (const line of trace) {
    if (!ONCE.includes(line.type)) continue;
    const generation = 'generation' in line ? line.generation : undefined;
    const what =
      generation !== undefined
        ? `generation ${generation}${'clause' in line ? `, clause ${line.clause},` : ''}`
        : `turn ${'turn' in line && line.turn}`;
    const key = `${line.type} of ${what}`;
    if (seen.has(key)) yield { t: line.t, message: `${key} came twice` };
    seen.add(key);
  }
}

function* callsEnd(trace: Trace): Generator<Fault> {
  const open = new Map<string, number>();
  const known = new Set<string>();
  const unfinished = (generation?: number) =>
    [...open].filter(([, of]) => generation === undefined || of === generation).map(([call]) => call);
  for (const line of trace) {
    if (line.type === 'tool_start') {
      if (known.has(line.callId)) yield { t: line.t, message: `call ${line.callId} began twice` };
      known.add(line.callId);
      open.set(line.callId, line.generation);
    } else if (line.type === 'tool_end') {
      if (!open.delete(line.callId)) yield { t: line.t, message: `call ${line.callId} ended without having begun` };
    } else if (line.type === 'llm_cancelled') {
      for (const call of unfinished(line.generation)) open.delete(call);
    } else if (line.type === 'llm_request' || line.type === 'llm_done') {
      // A model that is done was asked again after its calls.
      const calls = unfinished(line.type === 'llm_done' ? line.generation : undefined);
      if (calls.length > 0) yield { t: line.t, message: `the model went on while ${calls.join(', ')} had no end` };
      for (const call of calls) open.delete(call);
    }
  }
}

function* historyIsHeard(trace: Trace): Generator<Fault> {
  for (const line of all(trace, 'message')) {
    const { role, text, generation, interrupted, t, playedMs = 0 } = line;
    if (role !== 'assistant' || generation === undefined) continue;
    const sent = all(trace, 'tts_request').filter(request => request.generation === generation);
    const whole = all(trace, 'llm_done').find(done => done.generation === generation)?.text;
    const stop = all(trace, 'audio_stop').find(other => other.generation === generation);
    // Numbers and signs are spelt out for the voice, so only plain text can be compared.
    const spoken = wordsOf(sent.map(request => request.text).join(' '));
    const said = wordsOf(text);
    if (isPlain(text) && !isBeginning(said, spoken))
      yield { t, message: `"${text}" is no beginning of what was spoken, or ends inside a word` };
    else if (whole !== undefined && !whole.startsWith(text)) yield { t, message: `"${text}" is no beginning of what the model wrote` };
    if (!interrupted && isPlain(text) && said.join('').length < spoken.join('').length)
      yield { t, message: `"${text}" lacks what was spoken behind it` };
    if (interrupted && playedMs === 0) yield { t, message: 'a reply of which nothing was heard left a message' };
    if (interrupted && /\s$/u.test(text)) yield { t, message: 'a cut message ends in white space' };
    if (interrupted && stop && stop.playedMs < stop.queuedMs && text === whole?.trimEnd())
      yield { t, message: `the whole reply is in the history, though ${stop.queuedMs - stop.playedMs} ms of it were not heard` };
  }
}

function isPlain(text: string): boolean {
  return /^[\p{L}\p{M}\s.,;!?…。、！？'’-]*$/u.test(text);
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/** A word that is cut is none, except in scripts that put no space between words. */
function isBeginning(words: readonly string[], of: readonly string[]): boolean {
  const unspaced = /\p{sc=Han}|\p{sc=Hiragana}|\p{sc=Katakana}|\p{sc=Thai}|\p{sc=Lao}|\p{sc=Khmer}|\p{sc=Myanmar}/u;
  return words.every((word, i) => word === of[i] || (i === words.length - 1 && unspaced.test(word) && of[i]?.startsWith(word) === true));
}

const NEXT: Readonly<Record<string, readonly string[]>> = {
  'agent listening': ['thinking', 'speaking'],
  'agent thinking': ['speaking', 'listening'],
  'agent speaking': ['thinking', 'listening'],
  'user quiet': ['speaking', 'away'],
  'user speaking': ['quiet'],
  'user away': ['speaking', 'quiet'],
};

function* statesAreLegal(trace: Trace): Generator<Fault> {
  let [agent, user]: [string, string] = ['listening', 'quiet'];
  let sounds = false;
  let hears = false;
  /** Generations that are ducked, paused, or play the hold sound. */
  const now = { duck: new Set<number>(), pause: new Set<number>(), hold: new Set<number>() };
  for (const line of trace) {
    const { t } = line;
    switch (line.type) {
      case 'audio_first':
        sounds = true;
        break;
      case 'audio_stop':
        sounds = false;
        break;
      case 'agent_state':
        if (!NEXT[`agent ${agent}`]?.includes(line.state)) yield { t, message: `the agent went from ${agent} to ${line.state}` };
        if (line.state === 'speaking' && !sounds) yield { t, message: 'the agent speaks before its first sample was played' };
        agent = line.state;
        break;
      case 'user_state':
        if (!NEXT[`user ${user}`]?.includes(line.state)) yield { t, message: `the user went from ${user} to ${line.state}` };
        if (line.state === 'speaking' && !hears) yield { t, message: 'the user speaks, and nothing was heard' };
        if (line.state === 'away' && agent !== 'listening') yield { t, message: `the user is away while the agent is ${agent}` };
        user = line.state;
        break;
      case 'vad_start':
      case 'vad_end':
        if (hears === (line.type === 'vad_start')) yield { t, message: `${line.type} came out of turn` };
        hears = line.type === 'vad_start';
        break;
      case 'away':
        if (user !== 'away') yield { t, message: `away came, but the user is ${user}` };
        break;
      case 'duck':
      case 'pause':
        // Between two clauses it thinks.
        if (agent === 'listening') yield { t, message: `${line.type} came while nobody spoke` };
        if (now[line.type].has(line.generation)) yield { t, message: `${line.type} came twice` };
        now[line.type].add(line.generation);
        break;
      case 'resume':
        if (!now.pause.delete(line.generation)) yield { t, message: 'resume came without a pause' };
        now.duck.add(line.generation);
        break;
      case 'unduck':
        if (!now.duck.delete(line.generation) || now.pause.has(line.generation)) yield { t, message: 'unduck came out of turn' };
        break;
      case 'hold_start':
        if (now.hold.size > 0) yield { t, message: 'hold_start came twice' };
        now.hold.add(line.generation);
        break;
      case 'hold_stop':
        if (now.hold.size === 0) yield { t, message: 'hold_stop came without a start' };
        now.hold.clear();
    }
  }
}

function* closedLeavesNothing(trace: Trace): Generator<Fault> {
  const at = trace.findIndex(({ type }) => type === 'closed');
  if (at === -1) yield { t: trace.at(-1)?.t ?? 0, message: 'the session was never closed' };
  const closed = trace[at];
  if (closed && 'timers' in closed && closed.timers > 0) yield { t: closed.t, message: `${closed.timers} timers are left` };
  for (const line of at === -1 ? [] : trace.slice(at + 1))
    if (!line.type.startsWith('user_speech')) yield { t: line.t, message: `${line.type} came after closed` };
}

function* soundAddsUp(trace: Trace): Generator<Fault> {
  const firsts = all(trace, 'audio_first');
  const stops = all(trace, 'audio_stop');
  for (const { generation, t } of firsts)
    if (!stops.some(stop => stop.generation === generation)) yield { t, message: `the sound of generation ${generation} has no end` };
  for (const { generation, t, playedMs = 0 } of all(trace, 'message')) {
    const sounded = stops.find(stop => stop.generation === generation)?.playedMs ?? 0;
    if (playedMs !== sounded) yield { t, message: `a message tells of ${playedMs} ms played, the sound of ${sounded}` };
  }
  for (const { generation, t, playedMs, queuedMs } of stops) {
    const first = firsts.find(other => other.generation === generation);
    const flushed = all(trace, 'flush').some(flush => flush.generation === generation);
    if (playedMs > queuedMs) yield { t, message: `${playedMs} ms were played of ${queuedMs}` };
    else if (!flushed && playedMs !== queuedMs) yield { t, message: `${queuedMs - playedMs} ms of generation ${generation} were lost` };
    if (!first) yield { t, message: `the sound of generation ${generation} has no beginning` };
    if (first && playedMs > t - first.t + FRAME_MS) yield { t, message: `${playedMs} ms were played in ${t - first.t} ms` };
  }
}

function* messagesAreInOrder(trace: Trace): Generator<Fault> {
  const messages = all(trace, 'message');
  let last = { turn: 0, t: 0, generation: 0 };
  for (const { turn, t, role, generation = last.generation } of messages) {
    if (t < last.t || turn < last.turn) yield { t, message: `a message of the ${role} in turn ${turn} came after turn ${last.turn}` };
    else if (generation < last.generation) yield { t, message: `generation ${generation} stands behind generation ${last.generation}` };
    last = { turn, t, generation };
  }
  for (const reply of repliesIn(trace)) {
    const question = messages.findIndex(({ role, turn }) => role === 'user' && turn === reply.turn);
    if (question === -1 || question > messages.indexOf(reply))
      yield { t: reply.t, message: `a reply in turn ${reply.turn} stands before its question` };
    const stop = all(trace, 'audio_stop').find(({ generation }) => generation === reply.generation);
    if (stop && trace.indexOf(stop) > trace.indexOf(reply))
      yield { t: reply.t, message: `a reply in turn ${reply.turn} stands before its sound ended` };
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
