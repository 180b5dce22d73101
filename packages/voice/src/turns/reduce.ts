import type { TurnEffect, TurnEvent, VoiceEventBody } from './events.js';
import { looksFinished } from './policy.js';
import type { ReplyState, TurnState } from './state.js';

/** A new state and what is to be done. `now` is the time of the event, in milliseconds since the session started. */
export interface Reduction {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

/**
 * The core of turn-taking, without time, sound or promises: the state and one event give the next state and effects. Rules that need the
 * whole picture live here; how long and how loud lives in the policy.
 */
export function reduce(state: TurnState, event: TurnEvent, now: number): Reduction {
  if (state.closed) return { state, effects: [] };
  const turn = new Step(state, now);
  turn.take(event);
  return { state: turn.state, effects: turn.effects };
}

/** One application of the rules: `state` is replaced, never changed. */
class Step {
  state: TurnState;
  readonly effects: TurnEffect[] = [];
  readonly #now: number;

  constructor(state: TurnState, now: number) {
    this.state = state;
    this.#now = now;
  }

  take(event: TurnEvent): void {
    switch (event.type) {
      case 'speech_start':
        this.#emit({ type: 'user_speech_start', utterance: event.utterance, startedAt: Math.round(event.startedAt) });
        this.#setUser('speaking');
        this.#set({ transcribing: [...this.state.transcribing, event.utterance] });
        return this.#do({ type: 'clear_timer', timer: 'endpoint' });
      case 'speech_goes_on':
        return this.#perhapsInterrupt(event.spokenMs);
      case 'speech_end':
        this.#emit({ type: 'user_speech_end', utterance: event.utterance, endedAt: Math.round(event.endedAt), accepted: event.accepted });
        this.#setUser('quiet');
        if (!event.accepted) this.#forgetUtterance(event.utterance);
        return;
      case 'stt_partial':
        return this.#emit({ type: 'stt_partial', utterance: event.utterance, text: event.text });
      case 'stt_final':
        this.#emit({ type: 'stt_final', utterance: event.utterance, text: event.text });
        if (event.text.trim() !== '') this.#set({ fragments: [...this.state.fragments, event.text.trim()], endedAt: event.endedAt });
        return this.#forgetUtterance(event.utterance);
      case 'stt_error':
        this.#emit({ type: 'error', stage: 'stt', message: event.message });
        return this.#forgetUtterance(event.utterance);
      case 'typed':
        this.#set({ fragments: [...this.state.fragments, event.text.trim()] });
        return this.#endTurn();
      case 'say':
        this.#set({ sayings: [...this.state.sayings, event.text] });
        return this.#sayNext();
      case 'interrupt':
        return this.#cancelReply('drop_question');
      case 'timer':
        return this.#endTurn();
      case 'source_end':
        this.#set({ sourceEnded: true });
        this.#emit({ type: 'source_end' });
        return this.#awaitEndOfTurn();
      case 'close':
        this.#cancelReply('drop_question');
        this.#do({ type: 'clear_timer', timer: 'endpoint' });
        this.#emit({ type: 'closed' });
        return this.#set({ closed: true });
      default:
        return this.#takeFromReply(event);
    }
  }

  /** What belongs to an old generation is dropped here, once and for all. */
  #takeFromReply(event: Extract<TurnEvent, { readonly generation: number }>): void {
    const reply = this.state.reply;
    if (!reply || reply.generation !== event.generation) return;
    const { generation } = event;
    switch (event.type) {
      case 'first_token':
        return this.#emit({ type: 'llm_first_token', generation });
      case 'clause':
        this.#setReply({ asked: reply.asked + 1 });
        return this.#do({ type: 'speak', generation, clause: event.clause, number: reply.asked });
      case 'reply_done':
        this.#emit({ type: 'llm_done', generation, text: event.text });
        this.#setReply({ done: true });
        return this.#finishReply();
      case 'reply_error':
        this.#emit({ type: 'error', stage: 'llm', message: event.message });
        return this.#failReply();
      case 'tool_start':
        this.#setReply({ usedTools: true });
        return this.#emit({ type: 'tool_start', generation, callId: event.callId, name: event.name });
      case 'tool_end':
        return this.#emit({ type: 'tool_end', generation, callId: event.callId, name: event.name });
      case 'tts_first_byte':
        this.#setReply({ sounding: true });
        return this.#emit({ type: 'tts_first_byte', generation, clause: event.clause });
      case 'tts_done':
        this.#setReply({ synthesized: reply.synthesized + 1 });
        this.#emit({ type: 'tts_done', generation, clause: event.clause });
        return this.#finishReply();
      case 'tts_error':
        this.#emit({ type: 'error', stage: 'tts', message: event.message });
        this.#setReply({ synthesized: reply.synthesized + 1 });
        return this.#finishReply();
      case 'playout_started':
        if (!reply.heard) this.#emit({ type: 'audio_first', generation });
        this.#setReply({ heard: true });
        return this.#setAgent('speaking');
      case 'playout_drained':
        this.#setReply({ sounding: false });
        return this.#finishReply();
    }
  }

  /** Speech over a reply stops it, but not at once: a click must not. */
  #perhapsInterrupt(spokenMs: number): void {
    const { pauseMs } = this.state.policy.interrupt;
    if (pauseMs !== false && spokenMs >= pauseMs) this.#cancelReply();
  }

  #forgetUtterance(utterance: number): void {
    this.#set({ transcribing: this.state.transcribing.filter(other => other !== utterance) });
    this.#awaitEndOfTurn();
    if (this.state.fragments.length === 0) this.#sayNext();
  }

  /** All words are known and nobody speaks: the turn ends after a silence, counted from the true end of speech. */
  #awaitEndOfTurn(): void {
    const { user, transcribing, fragments, policy, endedAt, sourceEnded } = this.state;
    if (user === 'speaking' || transcribing.length > 0 || fragments.length === 0) return;
    if (sourceEnded) return this.#endTurn();
    const wait = looksFinished(fragments.join(' ')) ? policy.endpoint.finishedMs : policy.endpoint.unfinishedMs;
    const left = endedAt + wait - this.#now;
    if (left <= 0) return this.#endTurn();
    this.#do({ type: 'set_timer', timer: 'endpoint', ms: left });
  }

  #endTurn(): void {
    if (this.state.fragments.length === 0) return;
    // A reply of which nothing was heard is taken back, and its question comes along with the new words.
    this.#cancelReply();
    this.#do({ type: 'clear_timer', timer: 'endpoint' });
    const text = this.state.fragments.join(' ');
    const turn = this.state.turn + 1;
    const generation = this.state.generation + 1;
    this.#set({ fragments: [], turn, generation });
    this.#emit({ type: 'turn_end', turn, text });
    this.#emit({ type: 'message', role: 'user', text, turn });
    this.#begin({ generation, turn, userText: text, kind: 'reply' });
    this.#emit({ type: 'llm_request', turn, generation, text });
    this.#do({ type: 'start_reply', turn, generation, text });
  }

  #sayNext(): void {
    const [text, ...sayings] = this.state.sayings;
    if (text === undefined || this.state.reply || this.state.user === 'speaking') return;
    const generation = this.state.generation + 1;
    this.#set({ sayings, generation });
    this.#begin({ generation, turn: this.state.turn, userText: '', kind: 'say' });
    this.#do({ type: 'start_saying', turn: this.state.turn, generation, text });
  }

  #begin(about: Pick<ReplyState, 'generation' | 'turn' | 'userText' | 'kind'>): void {
    const fresh = { done: false, asked: 0, synthesized: 0, sounding: false, heard: false, usedTools: false };
    this.#set({ reply: { ...about, ...fresh } });
    this.#setAgent('thinking');
  }

  #cancelReply(question: 'keep_question' | 'drop_question' = 'keep_question'): void {
    const reply = this.state.reply;
    if (!reply) return;
    const unanswered = reply.kind === 'reply' && !reply.heard && !reply.usedTools;
    const withdrawn = unanswered && question === 'keep_question';
    if (!reply.done) this.#emit({ type: 'llm_cancelled', generation: reply.generation });
    this.#do({ type: 'cancel_reply', generation: reply.generation, withdrawn });
    // The unanswered question stays part of what the user is saying.
    if (withdrawn) this.#set({ fragments: [reply.userText, ...this.state.fragments] });
    this.#free();
  }

  #failReply(): void {
    const reply = this.state.reply;
    if (!reply) return;
    this.#do({ type: 'cancel_reply', generation: reply.generation, withdrawn: false });
    this.#free();
    const { apology } = this.state.policy;
    if (reply.heard || apology === '') return;
    this.#emit({ type: 'apology', generation: reply.generation, text: apology });
    this.#set({ sayings: [apology, ...this.state.sayings] });
    this.#sayNext();
  }

  #finishReply(): void {
    const reply = this.state.reply;
    if (!reply?.done || reply.synthesized < reply.asked || reply.sounding) return;
    this.#do({ type: 'finish_reply', generation: reply.generation });
    this.#free();
    this.#sayNext();
  }

  #free(): void {
    this.#set({ reply: undefined });
    this.#setAgent('listening');
  }

  #setAgent(agent: TurnState['agent']): void {
    if (this.state.agent === agent) return;
    this.#set({ agent });
    this.#emit({ type: 'agent_state', state: agent });
  }

  #setUser(user: TurnState['user']): void {
    if (this.state.user === user) return;
    this.#set({ user });
    this.#emit({ type: 'user_state', state: user });
  }

  #setReply(changes: Partial<ReplyState>): void {
    if (this.state.reply) this.#set({ reply: { ...this.state.reply, ...changes } });
  }

  #set(changes: Partial<TurnState>): void {
    this.state = { ...this.state, ...changes };
  }

  #do(effect: TurnEffect): void {
    this.effects.push(effect);
  }

  #emit(event: VoiceEventBody): void {
    this.#do({ type: 'emit', event });
  }
}
