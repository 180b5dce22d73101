// Sounds while the agent speaks: made quieter, paused, and then either an interruption or nothing.

import type { OverlapVerdict } from './events.js';
import { cancelReply } from './reply.js';
import type { Step } from './step.js';
import { beyondBackchannel, repeats } from './words.js';

/** A sound has begun. While the agent speaks, and may be interrupted, it is looked at. */
export function openOverlap(step: Step, utterance: number): void {
  const { reply, overlap } = step.state;
  if (overlap) return step.setOverlap({ utterances: [...overlap.utterances, utterance], endedAt: undefined });
  // Also where it pauses, to think or for a tool: it would go on in the middle of what is said.
  if (!reply?.heard || !mayInterrupt(step)) return;
  const { generation } = reply;
  step.set({ overlap: { generation, utterances: [utterance], stage: 'heard', endedAt: undefined, text: '', verdict: undefined } });
}

export function mayInterrupt({ state: { reply, policy } }: Step): boolean {
  return reply?.interruptible === true && policy.interrupt.pauseMs !== false;
}

/** There is so much speech in the utterance by now. */
export function soundGoesOn(step: Step, spokenMs: number): void {
  const { overlap, reply, policy } = step.state;
  const { duckMs, pauseMs, minWords } = policy.interrupt;
  if (!overlap || !reply || pauseMs === false || overlap.verdict) return;
  const { generation, turn } = reply;
  if (overlap.stage === 'heard' && spokenMs >= duckMs) {
    step.setOverlap({ stage: 'ducked' });
    step.emit({ type: 'duck', turn, generation });
  }
  // Who asks for several words is not moved by a sound alone.
  if (overlap.stage === 'paused' || spokenMs < pauseMs || (minWords > 1 && newWords(step, overlap.text).length < minWords)) return;
  step.setOverlap({ stage: 'paused' });
  step.emit({ type: 'pause', turn, generation });
  if (newWords(step, overlap.text).length >= minWords) interruptReply(step);
}

/** Words that are not final yet. True when they belong to the overlap. */
export function overlapPartial(step: Step, utterance: number, text: string): void {
  const { overlap, policy } = step.state;
  if (!overlap?.utterances.includes(utterance) || overlap.verdict) return;
  const all = joined(overlap.text, text);
  const { words, minWords } = policy.interrupt;
  const count = newWords(step, all).length;
  if (count >= Math.max(minWords, overlap.stage === 'paused' ? 1 : words)) interruptReply(step);
}

/** All words of an utterance; false when they are no part of what the user wants to say. */
export function overlapFinal(step: Step, utterance: number, text: string): boolean {
  const { overlap, policy } = step.state;
  if (!overlap?.utterances.includes(utterance)) return true;
  if (overlap.verdict === 'interruption') return true;
  if (isEcho(step, text)) {
    decide(step, 'echo');
    return false;
  }
  const all = joined(overlap.text, text);
  step.setOverlap({ text: all });
  const words = newWords(step, all);
  if (words.length >= policy.interrupt.minWords) {
    interruptReply(step);
    return true;
  }
  if (words.length === 0 && text.trim() !== '') decide(step, 'backchannel');
  // Too few words to stop the agent are not lost: they are answered when it is done.
  return words.length > 0;
}

/** The last sound has ended; what follows from silence is left to the timer. */
export function soundEnds(step: Step, endedAt: number): void {
  if (step.state.overlap) step.setOverlap({ endedAt });
}

/** Nothing came of it: the agent goes on where it stood. */
export function resumeReply(step: Step): void {
  const { overlap, transcribing } = step.state;
  if (!overlap) return;
  leaveStage(step);
  if (!overlap.utterances.some(utterance => transcribing.includes(utterance))) decide(step, 'noise');
}

/** What is left of an overlap when the world has moved on. */
export function settleOverlap(step: Step): void {
  const { overlap, reply, user, transcribing, policy } = step.state;
  if (!overlap) return;
  const open = overlap.utterances.some(utterance => transcribing.includes(utterance));
  const sounds = user === 'speaking';
  if (reply?.generation !== overlap.generation) {
    step.due('resume', undefined);
    if (sounds || open) return;
    decide(step, 'noise');
    return step.set({ overlap: undefined });
  }
  if (overlap.stage === 'paused') {
    if (overlap.endedAt === undefined || sounds) return step.due('resume', undefined);
    // Words that are still to come decide; but nobody waits for them for ever.
    return step.due('resume', overlap.endedAt + policy.interrupt.resumeMs);
  }
  step.due('resume', undefined);
  if (sounds) return;
  leaveStage(step);
  // Words that were too few to interrupt count with those that follow.
  if (open || (!overlap.verdict && newWords(step, overlap.text).length > 0)) return;
  decide(step, 'noise');
  step.set({ overlap: undefined });
}

function leaveStage(step: Step): void {
  const { overlap, reply } = step.state;
  if (!overlap || overlap.stage === 'heard') return;
  step.setOverlap({ stage: 'heard' });
  if (!reply || reply.generation !== overlap.generation) return;
  const about = { turn: reply.turn, generation: reply.generation };
  if (overlap.stage === 'paused') step.emit({ type: 'resume', ...about });
  step.emit({ type: 'unduck', ...about });
}

function interruptReply(step: Step): void {
  decide(step, 'interruption');
  cancelReply(step, { withdrawn: false });
}

function decide(step: Step, verdict: OverlapVerdict): void {
  if (!step.state.overlap || step.state.overlap.verdict) return;
  step.setOverlap({ verdict });
  step.emit({ type: 'overlap', verdict });
}

function isEcho({ state: { reply } }: Step, text: string): boolean {
  return reply !== undefined && repeats(text, reply.spoken.join(' '));
}

function newWords(step: Step, text: string): readonly string[] {
  return isEcho(step, text) ? [] : beyondBackchannel(text, step.state.policy.backchannels);
}

function joined(a: string, b: string): string {
  return a === '' ? b : `${a} ${b}`;
}
