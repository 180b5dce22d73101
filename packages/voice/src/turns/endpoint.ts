// When the user's turn is over, and what it holds.

import { mayInterrupt } from './overlap.js';
import { looksFinished } from './policy.js';
import { beginReply, cancelReply, requestReply } from './reply.js';
import type { Step } from './step.js';
import { sameWords } from './words.js';

/** Somebody speaks, or has spoken and the words are not known yet. */
export function floorIsTaken({ state }: Step): boolean {
  return state.user === 'speaking' || state.transcribing.length > 0;
}

/** So much is said before anything of the reply was heard that the agent listens again. Words will take the reply back; a noise will not. */
export function yieldsFloor(step: Step): boolean {
  const { reply, user, spokenMs, policy } = step.state;
  const { pauseMs } = policy.interrupt;
  return user === 'speaking' && pauseMs !== false && spokenMs >= pauseMs && reply?.heard === false && mayInterrupt(step);
}

/** Words before anything of the reply was heard: what was asked is taken back, or at least not answered. */
export function takeBack(step: Step): void {
  const { reply } = step.state;
  // Whether a guess was right is seen when the turn is over.
  if (!reply?.confirmed || reply.heard || reply.audible || !mayInterrupt(step)) return;
  cancelReply(step, { withdrawn: belongsToReply(step) });
}

/** The user goes on with a thought that was taken for a turn. */
function belongsToReply({ state: { reply, startedAt, endedAt, policy } }: Step): boolean {
  if (reply?.kind !== 'reply' || reply.heard || reply.usedTools) return false;
  return !reply.confirmed || startedAt - endedAt < policy.endpoint.mergeMs;
}

/** A guess of which the user's next words make something else. */
export function dropGuess(step: Step): void {
  if (step.state.reply?.confirmed === false) cancelReply(step, { withdrawn: true });
}

/** Ends the turn when its time has come, or waits for it; meanwhile the model may guess. */
export function awaitEndOfTurn(step: Step): void {
  const { fragments, policy, endedAt, finished, sourceEnded, reply } = step.state;
  // Only an interruption ends a reply that is heard, and it has done so by now.
  const blocked = reply?.confirmed === true && (reply.audible || !mayInterrupt(step));
  if (fragments.length === 0 || floorIsTaken(step) || blocked) return step.due('endpoint', undefined);
  const at = sourceEnded ? step.now : endedAt + (finished ? policy.endpoint.finishedMs : policy.endpoint.unfinishedMs);
  if (at <= step.now) return endTurn(step);
  step.due('endpoint', at);
  // Who sounds unfinished will go on.
  if (finished) guess(step);
}

/** The turn is over: what was guessed right is kept, anything else is asked for. */
export function endTurn(step: Step): void {
  const { fragments, reply, supersedes } = step.state;
  if (fragments.length === 0) return;
  step.due('endpoint', undefined);
  const text = textOf(fragments);
  const turn = step.state.turn + 1;
  const guessed = reply !== undefined && !reply.confirmed && sameWords(reply.userText, text);
  if (!guessed) cancelReply(step, { withdrawn: reply?.confirmed === false });
  const note = supersedes === undefined ? {} : { supersedes };
  step.set({ fragments: [], supersedes: undefined, turn, guesses: 0, awaitsUser: false });
  step.emit({ type: 'turn_end', turn, text, ...note });
  step.emit({ type: 'message', role: 'user', text, turn, ...note });
  if (!guessed) return requestReply(step, { turn, userText: text, confirmed: true, retried: false });
  step.setReply({ confirmed: true });
  step.do({ type: 'confirm_reply', generation: reply.generation });
}

/** The user pauses, and speech to text knows the words already. */
export function guessAtPause(step: Step, text: string): void {
  const { overlap, fragments } = step.state;
  if (!overlap && looksFinished(text)) guess(step, textOf([...fragments, { text }]));
}

export function textOf(fragments: readonly { readonly text: string }[]): string {
  return fragments.map(({ text }) => text).join(' ');
}

/** Asks the model before the turn is over: in most cases it is. */
function guess(step: Step, text = textOf(step.state.fragments)): void {
  const { reply, policy, guesses, turn } = step.state;
  if (policy.preemptive === 'off' || reply || guesses >= policy.guesses) return;
  step.set({ guesses: guesses + 1 });
  requestReply(step, { turn: turn + 1, userText: text, confirmed: false, retried: false });
}

/** The agent says what it is to say unasked, when nobody else speaks. */
export function sayNext(step: Step): void {
  const [next, ...sayings] = step.state.sayings;
  const { reply, turn } = step.state;
  if (next === undefined || reply || floorIsTaken(step) || step.state.fragments.length > 0) return;
  step.set({ sayings });
  const { text, interruptible } = next;
  const generation = beginReply(step, { turn, userText: '', kind: 'say', interruptible, confirmed: true, retried: false });
  step.do({ type: 'start_saying', turn, generation, text });
}
