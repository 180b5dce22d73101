// A reply from its request to its last sample.
import type { ReplyProgress, TurnEffect } from './events.js';
import type { ReplyState } from './state.js';
import type { Step } from './step.js';

type Beginning = Pick<ReplyState, 'turn' | 'userText' | 'kind' | 'interruptible' | 'confirmed' | 'retried'>;

/** Makes a reply the present one; returns its generation. */
export function beginReply(step: Step, about: Beginning): number {
  const generation = step.state.generation + 1;
  const fresh = { done: false, waiting: [], spoken: [], asked: 0, synthesized: 0, sounding: false, audible: false, heard: false };
  step.set({ generation, reply: { ...about, ...fresh, generation, tools: [], toolsSince: undefined, usedTools: false } });
  return generation;
}

/** Asks the model. */
export function requestReply(step: Step, about: Omit<Beginning, 'kind' | 'interruptible'>): void {
  const { turn, userText: text, confirmed } = about;
  const generation = beginReply(step, { ...about, kind: 'reply', interruptible: true });
  step.emit({ type: 'llm_request', turn, generation, text, ...(confirmed ? {} : { preemptive: true }) });
  step.do({ type: 'start_reply', turn, generation, text, preemptive: !confirmed });
}

/** What belongs to an old generation is dropped here, once and for all. */
export function takeProgress(step: Step, event: ReplyProgress): void {
  const { reply } = step.state;
  if (!reply || reply.generation !== event.generation) return;
  const { generation, turn } = reply;
  switch (event.type) {
    case 'first_token':
      return step.emit({ type: 'llm_first_token', turn, generation });
    case 'clause':
      return step.setReply({ waiting: [...reply.waiting, event.clause] });
    case 'reply_done':
      step.emit({ type: 'llm_done', turn, generation, text: event.text });
      return step.setReply({ done: true });
    case 'reply_error':
      step.emit({ type: 'error', stage: 'llm', message: event.message });
      return failReply(step);
    case 'tool_start':
      step.setReply({
        usedTools: true,
        tools: [...reply.tools, event.callId],
        toolsSince: reply.tools.length > 0 ? reply.toolsSince : step.now,
      });
      return step.emit({ type: 'tool_start', turn, generation, callId: event.callId, name: event.name });
    case 'tool_end':
      step.setReply({ tools: reply.tools.filter(id => id !== event.callId) });
      return step.emit({ type: 'tool_end', turn, generation, callId: event.callId, name: event.name });
    case 'tts_request':
      step.setReply({ spoken: [...reply.spoken, event.text] });
      return step.emit({ type: 'tts_request', turn, generation, clause: event.clause, text: event.text });
    case 'tts_first_byte':
      step.setReply({ sounding: true });
      return step.emit({ type: 'tts_first_byte', turn, generation, clause: event.clause });
    case 'tts_done':
      step.setReply({ synthesized: reply.synthesized + 1 });
      return step.emit({ type: 'tts_done', turn, generation, clause: event.clause });
    case 'tts_error':
      step.emit({ type: 'error', stage: 'tts', message: event.message });
      if (!event.final) return;
      step.setReply({ synthesized: reply.synthesized + 1 });
      // Whoever heard the beginning is owed the rest; whoever heard nothing, an apology.
      return reply.heard || reply.sounding || reply.kind === 'say' ? undefined : apologize(step);
    case 'playout_started':
      if (!reply.heard) step.emit({ type: 'audio_first', turn, generation });
      return step.setReply({ heard: true, audible: true });
    case 'playout_drained':
      return step.setReply({ sounding: false, audible: false });
  }
}

/** Gives the clauses that may be spoken to synthesis. */
export function speakClauses(step: Step): void {
  const { reply, policy } = step.state;
  if (!reply || reply.waiting.length === 0 || !(reply.confirmed || policy.preemptive === 'speech')) return;
  const { generation, waiting, asked } = reply;
  step.setReply({ waiting: [], asked: asked + waiting.length });
  for (const [i, clause] of waiting.entries()) step.do({ type: 'speak', generation, clause, number: asked + i });
}

/** Ends what runs. `withdrawn`: what the user said is not dropped, but comes again with what follows. */
export function cancelReply(step: Step, { withdrawn }: { readonly withdrawn: boolean }): void {
  const { reply } = step.state;
  if (!reply) return;
  const { generation, turn } = reply;
  if (!reply.done && reply.kind === 'reply') step.emit({ type: 'llm_cancelled', turn, generation });
  // What cannot be spoken was asked, and is done, without synthesis.
  if (reply.spoken.length > 0 && reply.asked > reply.synthesized)
    step.emit({ type: 'tts_cancelled', turn, generation, clause: reply.asked - 1 });
  endReply(step, { type: 'cancel_reply', generation, withdrawn });
  if (withdrawn && reply.confirmed)
    step.set({ fragments: [{ utterance: -1, text: reply.userText }, ...step.state.fragments], supersedes: turn });
}

/** Everything was said and played. */
export function finishReply(step: Step): void {
  const { reply } = step.state;
  if (!reply?.done || !reply.confirmed || reply.waiting.length > 0 || reply.synthesized < reply.asked || reply.sounding) return;
  if (reply.heard) step.set({ awaitsUser: true });
  endReply(step, { type: 'finish_reply', generation: reply.generation });
}

function endReply(step: Step, effect: TurnEffect): void {
  step.do(effect);
  step.set({ reply: undefined });
}

/** A model that failed before anything came of it is asked once more; then the user is told. */
function failReply(step: Step): void {
  const { reply } = step.state;
  if (!reply) return;
  if (!reply.confirmed) return giveUpGuessing(step);
  const untouched = reply.asked === 0 && reply.waiting.length === 0 && !reply.usedTools;
  if (!untouched || reply.retried) return apologize(step);
  const { generation, turn, userText, confirmed } = reply;
  endReply(step, { type: 'cancel_reply', generation, withdrawn: true });
  requestReply(step, { turn, userText, confirmed, retried: true });
}

/** What fails in a guess is tried again when the turn is over. */
function giveUpGuessing(step: Step): void {
  cancelReply(step, { withdrawn: true });
  step.set({ guesses: step.state.policy.guesses });
}

function apologize(step: Step): void {
  const { reply, policy, sayings } = step.state;
  if (!reply) return;
  if (!reply.confirmed) return giveUpGuessing(step);
  const { generation, turn, heard, kind } = reply;
  cancelReply(step, { withdrawn: false });
  if (heard || kind === 'say' || policy.apology === '') return;
  step.emit({ type: 'apology', turn, generation, text: policy.apology });
  step.set({ sayings: [{ text: policy.apology, interruptible: true }, ...sayings] });
}
