import type { TimerName, TurnEffect, VoiceEventBody } from './events.js';
import type { OverlapState, ReplyState, TurnState } from './state.js';

/** One application of the rules: `state` is replaced, never changed; effects are gathered in order. */
export class Step {
  state: TurnState;
  readonly effects: TurnEffect[] = [];
  readonly now: number;

  constructor(state: TurnState, now: number) {
    this.state = state;
    this.now = now;
  }

  set(changes: Partial<TurnState>): void {
    this.state = { ...this.state, ...changes };
  }

  setReply(changes: Partial<ReplyState>): void {
    if (this.state.reply) this.set({ reply: { ...this.state.reply, ...changes } });
  }

  setOverlap(changes: Partial<OverlapState>): void {
    if (this.state.overlap) this.set({ overlap: { ...this.state.overlap, ...changes } });
  }

  do(effect: TurnEffect): void {
    this.effects.push(effect);
  }

  emit(event: VoiceEventBody): void {
    this.do({ type: 'emit', event });
  }

  /** The timer is to fire at this time, or not at all. */
  due(timer: TimerName, at: number | undefined): void {
    if (this.state.timers[timer] === at) return;
    const { [timer]: _, ...others } = this.state.timers;
    this.set({ timers: at === undefined ? others : { ...others, [timer]: at } });
    this.do(at === undefined ? { type: 'clear_timer', timer } : { type: 'set_timer', timer, ms: Math.max(0, at - this.now) });
  }
}
