import { type Clock, systemClock } from '@antiphon/engine';
import type { EchoGuard } from '../interfaces/echo-guard.js';
import type { EndOfTurnDetector } from '../interfaces/end-of-turn.js';
import type { LlmBackend } from '../interfaces/llm-backend.js';
import type { AudioSink } from '../interfaces/sink.js';
import type { AudioSource } from '../interfaces/source.js';
import type { SpeechToText } from '../interfaces/stt.js';
import type { TextToSpeech } from '../interfaces/tts.js';
import type { VoiceActivityDetector } from '../interfaces/vad.js';
import { echoGuard } from '../listening/echo-guard.js';
import { guardedSink } from '../playout/guarded-sink.js';
import { Player } from '../playout/player.js';
import type { TimerName, TurnEffect, TurnEvent, VoiceEvent, VoiceEventBody } from '../turns/events.js';
import { type PolicyChanges, turnPolicy } from '../turns/policy.js';
import { reduce } from '../turns/reduce.js';
import { initialTurnState, type TurnState } from '../turns/state.js';
import { type Ear, listen } from './ear.js';
import { Replies } from './replies.js';
import { VoiceEvents } from './voice-events.js';

export interface VoiceSessionOptions {
  readonly llm: LlmBackend;
  readonly vad: VoiceActivityDetector;
  readonly stt: SpeechToText;
  readonly tts: TextToSpeech;
  readonly source: AudioSource;
  readonly sink: AudioSink;
  readonly policy?: PolicyChanges;
  /** Default: simple rules on the words. */
  readonly endOfTurn?: EndOfTurnDetector;
  /** Default: one that learns the echo; `false` where an echo canceller stands before the source, as in a browser. */
  readonly echoGuard?: EchoGuard | false;
  /** Mono samples at the sink's rate, played over and over while a tool takes its time. */
  readonly holdSound?: Float32Array;
  /** The first thing that the agent says. */
  readonly greeting?: string;
  /** BCP 47 tag of the language that is spoken, for clauses and numbers. */
  readonly locale?: string;
  readonly clock?: Clock;
  /** Closes the session. */
  readonly signal?: AbortSignal;
}

const CLOSE_WITHIN_MS = 2000;

/**
 * One spoken conversation: source → voice activity → speech to text → model → clauses → speech → sink. All decisions are `reduce`'s; this
 * carries them out. It ends when it is closed, when its signal aborts, or when the source has ended and the last reply was heard. Engines and
 * sink stay open: they belong to whoever made them.
 *
 * ```ts
 * const session = createVoiceSession({ llm: engineBackend(createSession({ engine })), vad, stt, tts, source, sink });
 * session.start();
 * for await (const event of session) if (event.type === 'message') console.log(event.role, event.text);
 * ```
 */
export class VoiceSession implements AsyncIterable<VoiceEvent> {
  readonly #options: VoiceSessionOptions;
  readonly #ear: Ear;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #guard: EchoGuard | undefined;
  readonly #player: Player;
  readonly #replies: Replies;
  readonly #events = new VoiceEvents();
  readonly #timers = new Map<TimerName, () => void>();
  readonly #inbox: TurnEvent[] = [];
  readonly #tasks = new Set<Promise<void>>();
  #state: TurnState;
  #reducing = false;
  #startedAt: number | undefined;
  #closing: Promise<void> | undefined;

  /** `ear`: what hears instead of source, voice activity and speech to text. */
  constructor(options: VoiceSessionOptions, ear: Ear = listen) {
    check(options);
    this.#options = options;
    this.#ear = ear;
    this.#clock = options.clock ?? systemClock;
    this.#state = initialTurnState(turnPolicy(options.holdSound ? options.policy : { ...options.policy, holdMs: false }));
    const listener = {
      started: (generation: number) => this.#dispatch({ type: 'playout_started', generation }),
      drained: (generation: number) => this.#dispatch({ type: 'playout_drained', generation }),
    };
    const {
      llm,
      tts,
      source,
      sink,
      locale,
      echoGuard: guard = echoGuard({ sourceRate: source.sampleRate, sinkRate: sink.sampleRate }),
    } = options;
    this.#guard = guard || undefined;
    this.#player = new Player(guard ? guardedSink(sink, guard) : sink, this.#clock, listener, options.holdSound);
    this.#replies = new Replies({
      ...{ llm, tts, sink, locale, player: this.#player, clock: this.#clock },
      dispatch: event => this.#dispatch(event),
      emit: event => this.#emit(event),
    });
  }

  /** Opens its ears. */
  start(): void {
    if (this.#startedAt !== undefined) throw new TypeError('This voice session was started already.');
    this.#startedAt = this.#clock.now();
    const { signal, greeting } = this.#options;
    if (greeting !== undefined) this.say(greeting);
    const onAbort = () => void this.close();
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#abort.signal.addEventListener('abort', () => signal?.removeEventListener('abort', onAbort), { once: true });
    this.#track(
      this.#ear({
        ...this.#options,
        clock: this.#clock,
        policy: this.#state.policy.vad,
        guard: this.#guard,
        now: () => this.#now(),
        signal: this.#abort.signal,
        dispatch: event => this.#dispatch(event),
        fault: (stage, message) => this.#emit({ type: 'error', stage, message }),
      }).then(() => this.#dispatch({ type: 'source_end' })),
    );
  }

  /** The user types instead of speaking; what the agent is saying is stopped. */
  sendText(text: string): void {
    if (text.trim() !== '') this.#dispatch({ type: 'typed', text });
  }

  /** The agent says this when it is free. With `allowInterruptions: false` nothing that the user says stops it. */
  say(text: string, { allowInterruptions = true }: { readonly allowInterruptions?: boolean } = {}): void {
    if (text.trim() !== '') this.#dispatch({ type: 'say', text, allowInterruptions });
  }

  /** Stops the reply at once: model, tools, synthesis and what waits to be played. */
  interrupt(): void {
    this.#dispatch({ type: 'interrupt' });
  }

  /** Ends everything; resolves when no task, timer or listener is left, or after two seconds. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  get state(): TurnState {
    return this.#state;
  }

  /** Every event from now on, until the session is closed. Several readers get the same events. */
  [Symbol.asyncIterator](): AsyncIterator<VoiceEvent, void> {
    return this.#events[Symbol.asyncIterator]();
  }

  /** Tells every event the moment it happens; returns what ends that. The watcher must not throw. */
  watch(watcher: (event: VoiceEvent) => void): () => void {
    return this.#events.watch(watcher);
  }

  async #close(): Promise<void> {
    this.#startedAt ??= this.#clock.now();
    this.#dispatch({ type: 'close' });
    this.#player.end();
    this.#abort.abort();
    // Some engines do not heed their signal; nobody waits for them.
    let cancel = () => {};
    const patience = new Promise<void>(resolve => {
      cancel = this.#clock.setTimer(CLOSE_WITHIN_MS, resolve);
    });
    await Promise.race([Promise.all(this.#tasks), patience]);
    cancel();
    this.#events.close();
  }

  /** One event at a time: an effect that leads to another event waits its turn. */
  #dispatch(event: TurnEvent): void {
    // What was played before this event is known before it.
    if (!this.#reducing) this.#player.update();
    this.#inbox.push(event);
    if (this.#reducing) return;
    this.#reducing = true;
    try {
      for (let next = this.#inbox.shift(); next; next = this.#inbox.shift()) {
        const { state, effects } = reduce(this.#state, next, this.#now());
        this.#state = state;
        for (const effect of effects) this.#carryOut(effect);
      }
    } finally {
      this.#reducing = false;
    }
    const { sourceEnded, reply, fragments, transcribing, sayings, closed } = this.#state;
    if (sourceEnded && !reply && !closed && fragments.length + transcribing.length + sayings.length === 0) void this.close();
  }

  #carryOut(effect: TurnEffect): void {
    switch (effect.type) {
      case 'emit':
        return this.#emit(effect.event);
      case 'set_timer':
        this.#clearTimer(effect.timer);
        this.#timers.set(
          effect.timer,
          this.#clock.setTimer(effect.ms, () => {
            this.#timers.delete(effect.timer);
            this.#dispatch({ type: 'timer', timer: effect.timer });
          }),
        );
        return;
      case 'clear_timer':
        return this.#clearTimer(effect.timer);
      case 'start_reply':
        return this.#track(this.#replies.start(effect));
      case 'start_saying':
        return this.#replies.say(effect);
      case 'speak':
        return this.#replies.speak(effect.clause, effect.number);
      case 'confirm_reply':
        return this.#replies.confirm();
      case 'note_words':
        return this.#options.llm.noted?.(effect.text);
      case 'hold_output':
        return this.#player.hold();
      case 'release_output':
        return this.#player.release();
      case 'set_gain':
        this.#player.gain = effect.gain;
        return;
      case 'start_hold_sound':
        return this.#player.startHoldSound();
      case 'stop_hold_sound':
        return this.#player.stopHoldSound();
      case 'cancel_reply':
        return this.#replies.settle({ interrupted: true, withdrawn: effect.withdrawn });
      case 'finish_reply':
        return this.#replies.settle({ interrupted: false, withdrawn: false });
    }
  }

  #track(task: Promise<void>): void {
    const tracked = task.finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }

  #clearTimer(timer: TimerName): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
  }

  #emit(event: VoiceEventBody): void {
    this.#events.emit({ t: Math.round(this.#now()), ...event });
  }

  /** Milliseconds since the session started. */
  #now(): number {
    return this.#startedAt === undefined ? 0 : this.#clock.now() - this.#startedAt;
  }
}

/** Makes a voice session; throws `RangeError` for engines whose sample rates do not fit. See {@link VoiceSession}. */
export function createVoiceSession(options: VoiceSessionOptions): VoiceSession {
  return new VoiceSession(options);
}

function check({ source, vad, stt, tts, sink }: VoiceSessionOptions): void {
  if (source.sampleRate !== vad.sampleRate || stt.sampleRate !== vad.sampleRate) {
    throw new RangeError(
      `Source (${source.sampleRate} Hz), ${vad.name} (${vad.sampleRate} Hz) and ${stt.name} (${stt.sampleRate} Hz) must have one sample rate; wrap the source in resampledSource() of @antiphon/speech.`,
    );
  }
  if (tts.sampleRate !== sink.sampleRate) {
    throw new RangeError(
      `${tts.name} gives ${tts.sampleRate} Hz but the sink takes ${sink.sampleRate} Hz; wrap the synthesizer in resampledTts() of @antiphon/speech.`,
    );
  }
}
