import { awaitEndOfTurn, dropGuess, endTurn, floorIsTaken, guessAtPause, sayNext, takeBack, textOf, yieldsFloor } from './endpoint.js';
import type { TimerName, TurnEffect, TurnEvent } from './events.js';
import { openOverlap, overlapFinal, overlapPartial, resumeReply, settleOverlap, soundEnds, soundGoesOn } from './overlap.js';
import { cancelReply, finishReply, speakClauses, takeProgress } from './reply.js';
import type { TurnState } from './state.js';
import { Step } from './step.js';
import { beyondBackchannel } from './words.js';

/** A new state and what is to be done. `now` is the time of the event, in milliseconds since the session started. */
export interface Reduction {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

/**
 * The core of turn-taking, without time, sound or promises: the state and one event give the next state and effects. An event changes what is
 * known; what follows from that, whichever event it was, is settled afterwards. How long and how loud lives in the policy.
 */
export function reduce(state: TurnState, event: TurnEvent, now: number): Reduction {
  if (state.closed) return { state, effects: [] };
  const step = new Step(state, now);
  take(step, event);
  if (!step.state.closed) settle(step);
  return { state: step.state, effects: step.effects };
}

function take(step: Step, event: TurnEvent): void {
  switch (event.type) {
    case 'speech_start':
      step.emit({ type: 'vad_start', utterance: event.utterance, startedAt: Math.round(event.startedAt) });
      return beginUtterance(step, event);
    case 'speech_resumes':
      return beginUtterance(step, event);
    case 'speech_goes_on': {
      // A guess was made because nothing more was said.
      if (event.spokenMs > step.state.spokenMs) dropGuess(step);
      step.set({ spokenMs: event.spokenMs });
      return soundGoesOn(step, event.spokenMs);
    }
    case 'speech_end':
      step.emit({ type: 'vad_end', utterance: event.utterance, endedAt: Math.round(event.endedAt), accepted: event.accepted });
      setUser(step, 'quiet');
      step.set({ quietSince: event.endedAt });
      soundEnds(step, event.endedAt);
      return event.accepted ? undefined : forget(step, event.utterance);
    case 'echo':
      return step.emit({ type: 'overlap', verdict: 'echo' });
    case 'stt_partial':
      step.emit({ type: 'stt_partial', utterance: event.utterance, text: event.text });
      if (beyondBackchannel(event.text).length >= step.state.policy.interrupt.words) takeBack(step);
      overlapPartial(step, event.utterance, event.text);
      return event.stable ? guessAtPause(step, event.text.trim()) : undefined;
    case 'stt_final': {
      step.emit({ type: 'stt_final', utterance: event.utterance, text: event.text });
      const text = event.text.trim();
      const counts = overlapFinal(step, event.utterance, text) && text !== '';
      if (counts) {
        takeBack(step);
        addFragment(step, text, event);
      }
      return forget(step, event.utterance);
    }
    case 'stt_error':
      step.emit({ type: 'error', stage: 'stt', message: event.message });
      return event.final ? forget(step, event.utterance) : undefined;
    case 'typed':
      if (step.state.user === 'away') setUser(step, 'quiet');
      step.set({ fragments: [...step.state.fragments, { utterance: Number.POSITIVE_INFINITY, text: event.text.trim() }] });
      dropGuess(step);
      return endTurn(step);
    case 'say':
      return step.set({ sayings: [...step.state.sayings, { text: event.text, interruptible: event.allowInterruptions }] });
    case 'interrupt':
      // What a guess was asked is asked again when the turn is over.
      return cancelReply(step, { withdrawn: step.state.reply?.confirmed === false });
    case 'timer':
      return timer(step, event.timer);
    case 'source_end':
      step.emit({ type: 'source_end' });
      return step.set({ sourceEnded: true });
    case 'close':
      return close(step);
    default:
      return takeProgress(step, event);
  }
}

function beginUtterance(step: Step, { utterance, startedAt }: { readonly utterance: number; readonly startedAt: number }): void {
  step.set({ startedAt, spokenMs: 0, transcribing: [...step.state.transcribing, utterance], awaitsUser: false });
  setUser(step, 'speaking');
  dropGuess(step);
  openOverlap(step, utterance);
}

/** What follows from what is known now. */
function settle(step: Step): void {
  awaitWords(step);
  speakClauses(step);
  finishReply(step);
  awaitEndOfTurn(step);
  speakClauses(step);
  sayNext(step);
  settleOverlap(step);
  showAgent(step);
  tuneOutput(step);
  awaitUser(step);
}

function timer(step: Step, name: TimerName): void {
  const { [name]: _, ...timers } = step.state.timers;
  step.set({ timers });
  switch (name) {
    case 'endpoint':
      return endTurn(step);
    case 'resume':
      return resumeReply(step);
    case 'hold':
      return startHoldSound(step);
    case 'away':
      step.set({ awaitsUser: false });
      setUser(step, 'away');
      return step.emit({ type: 'away' });
    case 'words':
      step.set({ transcribing: [] });
      return step.emit({ type: 'error', stage: 'stt', message: 'Speech to text gave no words.' });
  }
}

/** Words come in the order in which they were recognized, and are kept in the one in which they were said. */
function addFragment(step: Step, text: string, { utterance, endedAt, finished }: Extract<TurnEvent, { readonly type: 'stt_final' }>): void {
  const { fragments } = step.state;
  const later = fragments.findIndex(fragment => fragment.utterance > utterance);
  if (later !== -1) return step.set({ fragments: fragments.toSpliced(later, 0, { utterance, text }) });
  step.set({ fragments: [...fragments, { utterance, text }], endedAt, finished });
}

function forget(step: Step, utterance: number): void {
  step.set({ transcribing: step.state.transcribing.filter(other => other !== utterance) });
}

/** Words that no turn has taken yet are not lost. */
function close(step: Step): void {
  cancelReply(step, { withdrawn: step.state.reply?.confirmed === false });
  showAgent(step);
  tuneOutput(step);
  const { fragments, turn } = step.state;
  if (fragments.length > 0) {
    const text = textOf(fragments);
    step.emit({ type: 'message', role: 'user', text, turn: turn + 1 });
    step.do({ type: 'note_words', text });
  }
  for (const name of Object.keys(step.state.timers) as TimerName[]) step.due(name, undefined);
  step.emit({ type: 'closed' });
  step.set({ closed: true, fragments: [] });
}

function showAgent(step: Step): void {
  const { reply, agent } = step.state;
  const shows = !reply?.confirmed || yieldsFloor(step) ? 'listening' : reply.audible ? 'speaking' : 'thinking';
  if (shows === agent) return;
  step.set({ agent: shows });
  step.emit({ type: 'agent_state', state: shows });
}

/** What the loudspeaker does: whether it plays, how loud, and whether it tells that a tool works. */
function tuneOutput(step: Step): void {
  const { reply, overlap } = step.state;
  const own = reply && overlap?.generation === reply.generation ? overlap.stage : 'heard';
  // Nobody is talked over by a reply that has not begun.
  const held = reply !== undefined && (!reply.confirmed || own === 'paused' || (!reply.heard && reply.interruptible && floorIsTaken(step)));
  if (held !== step.state.outputHeld) {
    step.set({ outputHeld: held });
    step.do({ type: held ? 'hold_output' : 'release_output' });
  }
  const ducked = own !== 'heard' || (step.state.holdSound && step.state.user === 'speaking');
  if (ducked !== step.state.ducked) {
    step.set({ ducked });
    step.do({ type: 'set_gain', gain: ducked ? 'ducked' : 'full' });
  }
  tuneHoldSound(step);
}

/** A tool that takes its time is heard, as long as nothing else is. */
function tuneHoldSound(step: Step): void {
  const { reply, policy, holdSound, timers } = step.state;
  const works = policy.holdMs !== false && reply?.confirmed === true && reply.tools.length > 0 && !reply.sounding;
  if (works && !holdSound) {
    const at = (reply.toolsSince ?? step.now) + (policy.holdMs as number);
    if (at <= step.now) startHoldSound(step);
    else if (timers.hold !== at) step.due('hold', at);
  }
  if (works) return;
  step.due('hold', undefined);
  if (!holdSound) return;
  step.set({ holdSound: false });
  step.do({ type: 'stop_hold_sound' });
  const { turn, generation } = reply ?? step.state;
  step.emit({ type: 'hold_stop', turn, generation });
}

function startHoldSound(step: Step): void {
  const { reply } = step.state;
  if (!reply) return;
  step.due('hold', undefined);
  step.set({ holdSound: true });
  step.emit({ type: 'hold_start', turn: reply.turn, generation: reply.generation });
  step.do({ type: 'start_hold_sound' });
}

function awaitWords(step: Step): void {
  const { user, transcribing, quietSince, policy } = step.state;
  step.due('words', user !== 'speaking' && transcribing.length > 0 ? quietSince + policy.endpoint.wordsMs : undefined);
}

function awaitUser(step: Step): void {
  const { awaitsUser, reply, policy, user, fragments, sayings, timers } = step.state;
  const waits = awaitsUser && policy.awayMs !== false && !reply && user === 'quiet' && fragments.length + sayings.length === 0;
  if (!waits) return step.due('away', undefined);
  if (timers.away === undefined) step.due('away', step.now + (policy.awayMs as number));
}

function setUser(step: Step, user: TurnState['user']): void {
  if (step.state.user === user) return;
  step.set({ user });
  step.emit({ type: 'user_state', state: user });
}
