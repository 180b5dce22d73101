import { type Clock, systemClock } from '@antiphon/engine';
import type { LlmBackend } from '../interfaces/llm-backend.js';
import type { AudioSink } from '../interfaces/sink.js';
import type { AudioSource } from '../interfaces/source.js';
import type { SpeechToText } from '../interfaces/stt.js';
import type { TextToSpeech } from '../interfaces/tts.js';
import type { VoiceActivityDetector } from '../interfaces/vad.js';
import { Player } from '../playout/player.js';
import { ClauseSplitter } from '../text/index.js';
import type { TimerName, TurnEffect, TurnEvent, VoiceEvent, VoiceEventBody } from '../turns/events.js';
import { type PolicyChanges, turnPolicy } from '../turns/policy.js';
import { reduce } from '../turns/reduce.js';
import { initialTurnState, type TurnState } from '../turns/state.js';
import { Channel } from './channel.js';
import { listen } from './ear.js';
import { generate } from './generate.js';
import { Mouth } from './mouth.js';

export interface VoiceSessionOptions {
  readonly llm: LlmBackend;
  readonly vad: VoiceActivityDetector;
  readonly stt: SpeechToText;
  readonly tts: TextToSpeech;
  readonly source: AudioSource;
  readonly sink: AudioSink;
  readonly policy?: PolicyChanges;
  /** BCP 47 tag of the language that is spoken, for clauses and numbers. */
  readonly locale?: string;
  readonly clock?: Clock;
  /** Closes the session. */
  readonly signal?: AbortSignal;
}

/** A reply that is being made or spoken. */
interface LiveReply {
  readonly turn: number;
  readonly generation: number;
  readonly abort: AbortController;
  readonly mouth: Mouth;
  readonly kind: 'reply' | 'say';
  text: string;
}

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
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #player: Player;
  readonly #readers = new Set<Channel<VoiceEvent>>();
  readonly #timers = new Map<TimerName, () => void>();
  readonly #inbox: TurnEvent[] = [];
  readonly #tasks = new Set<Promise<void>>();
  #state: TurnState;
  #reply: LiveReply | undefined;
  #reducing = false;
  #startedAt: number | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: VoiceSessionOptions) {
    check(options);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#state = initialTurnState(turnPolicy(options.policy));
    this.#player = new Player(options.sink, this.#clock, {
      started: generation => this.#dispatch({ type: 'playout_started', generation }),
      drained: generation => this.#dispatch({ type: 'playout_drained', generation }),
    });
  }

  /** Opens its ears. */
  start(): void {
    if (this.#startedAt !== undefined) throw new TypeError('This voice session was started already.');
    this.#startedAt = this.#clock.now();
    const { signal } = this.#options;
    const onAbort = () => void this.close();
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#abort.signal.addEventListener('abort', () => signal?.removeEventListener('abort', onAbort), { once: true });
    this.#track(
      listen({
        ...this.#options,
        policy: this.#state.policy.vad,
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

  /** The agent says this when it is free. */
  say(text: string): void {
    this.#dispatch({ type: 'say', text });
  }

  /** Stops the reply at once: model, tools, synthesis and what waits to be played. */
  interrupt(): void {
    this.#dispatch({ type: 'interrupt' });
  }

  /** Ends everything; resolves when no task, timer or listener is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  get state(): TurnState {
    return this.#state;
  }

  /** Every event from now on, until the session is closed. Several readers get the same events. */
  [Symbol.asyncIterator](): AsyncIterator<VoiceEvent, void> {
    const reader = new Channel<VoiceEvent>();
    if (this.#state.closed) reader.close();
    this.#readers.add(reader);
    const events = reader[Symbol.asyncIterator]();
    return {
      next: () => events.next(),
      return: async () => {
        this.#readers.delete(reader);
        reader.close();
        return { done: true, value: undefined };
      },
    };
  }

  async #close(): Promise<void> {
    this.#startedAt ??= this.#clock.now();
    this.#dispatch({ type: 'close' });
    this.#abort.abort();
    await Promise.all(this.#tasks);
    for (const reader of this.#readers) reader.close();
    this.#readers.clear();
  }

  /** One event at a time: an effect that leads to another event waits its turn. */
  #dispatch(event: TurnEvent): void {
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
      case 'start_reply': {
        const reply = this.#open(effect, 'reply');
        const { generation, abort } = reply;
        return this.#track(
          generate(effect.text, {
            llm: this.#options.llm,
            splitter: this.#splitter(),
            clock: this.#clock,
            generation,
            signal: abort.signal,
            dispatch: event => this.#dispatch(event),
            onText: text => {
              reply.text = text;
            },
          }),
        );
      }
      case 'start_saying': {
        const reply = this.#open(effect, 'say');
        reply.text = effect.text;
        const splitter = this.#splitter();
        for (const clause of [...splitter.push(effect.text), ...splitter.flush()]) {
          this.#dispatch({ type: 'clause', generation: reply.generation, clause });
        }
        return this.#dispatch({ type: 'reply_done', generation: reply.generation, text: effect.text });
      }
      case 'speak':
        return this.#reply?.mouth.speak(effect.clause, effect.number);
      case 'cancel_reply':
        return this.#settle({ interrupted: true, withdrawn: effect.withdrawn });
      case 'finish_reply':
        return this.#settle({ interrupted: false, withdrawn: false });
    }
  }

  #open({ turn, generation }: { readonly turn: number; readonly generation: number }, kind: LiveReply['kind']): LiveReply {
    const abort = new AbortController();
    const { tts, locale } = this.#options;
    const mouth = new Mouth(
      {
        tts,
        locale,
        player: this.#player,
        clock: this.#clock,
        dispatch: event => this.#dispatch(event),
        emit: event => this.#emit(event),
      },
      generation,
      abort.signal,
    );
    this.#reply = { turn, generation, abort, mouth, kind, text: '' };
    return this.#reply;
  }

  /** A reply is over: stops what still runs, and tells history what was heard. */
  #settle({ interrupted, withdrawn }: { readonly interrupted: boolean; readonly withdrawn: boolean }): void {
    const reply = this.#reply;
    if (!reply) return;
    this.#reply = undefined;
    const { generation, turn, kind } = reply;
    reply.mouth.close();
    if (interrupted) {
      reply.abort.abort();
      this.#player.flush(generation);
      this.#emit({ type: 'flush', generation });
    }
    const { played } = this.#player.ledger.count(generation);
    const text = interrupted ? this.#player.ledger.heard(generation) : reply.text;
    this.#player.ledger.forget(generation);
    const playedMs = Math.round((played * 1000) / this.#options.sink.sampleRate);
    if (played > 0) this.#emit({ type: 'audio_stop', generation, playedMs });
    if (text.trim() !== '')
      this.#emit({ type: 'message', role: 'assistant', text, turn, playedMs, ...(interrupted ? { interrupted } : {}) });
    const report = { text, interrupted, ...(withdrawn ? { withdrawn } : {}) };
    if (kind === 'reply') this.#options.llm.heard(report);
    else if (text.trim() !== '') this.#options.llm.said?.(report);
  }

  #splitter(): ClauseSplitter {
    const { locale } = this.#options;
    return new ClauseSplitter({ firstClause: 'fast', ...(locale === undefined ? {} : { locale }) });
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
    const stamped: VoiceEvent = { t: Math.round(this.#now()), ...event };
    for (const reader of this.#readers) reader.push(stamped);
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
