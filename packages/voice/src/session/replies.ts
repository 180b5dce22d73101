import type { Clock } from '@antiphon/engine';
import type { LlmBackend } from '../interfaces/llm-backend.js';
import type { AudioSink } from '../interfaces/sink.js';
import type { TextToSpeech } from '../interfaces/tts.js';
import type { Player } from '../playout/player.js';
import { type Clause, ClauseSplitter } from '../text/index.js';
import type { TurnEffect, TurnEvent, VoiceEventBody } from '../turns/events.js';
import { generate } from './generate.js';
import { Mouth } from './mouth.js';

export interface RepliesOptions {
  readonly llm: LlmBackend;
  readonly tts: TextToSpeech;
  readonly sink: AudioSink;
  readonly player: Player;
  readonly locale: string | undefined;
  readonly clock: Clock;
  readonly dispatch: (event: TurnEvent) => void;
  readonly emit: (event: VoiceEventBody) => void;
}

/** A reply that is being made or spoken. */
interface LiveReply {
  readonly turn: number;
  readonly generation: number;
  readonly abort: AbortController;
  readonly mouth: Mouth;
  readonly kind: 'reply' | 'say';
  /** Says that the user's turn is over. */
  readonly confirm: () => void;
  text: string;
}

type Effect<T extends TurnEffect['type']> = Extract<TurnEffect, { readonly type: T }>;

/** Makes the agent's replies, one at a time: model, clauses, synthesis; and tells history what was heard. */
export class Replies {
  readonly #options: RepliesOptions;
  #reply: LiveReply | undefined;

  constructor(options: RepliesOptions) {
    this.#options = options;
  }

  /** Asks the model; resolves when its answer is over. */
  async start({ turn, generation, text, preemptive }: Effect<'start_reply'>): Promise<void> {
    let confirm = () => {};
    const confirmed = new Promise<void>(resolve => {
      confirm = resolve;
    });
    const reply = this.#open({ turn, generation, kind: 'reply', confirm });
    const { llm, clock, dispatch } = this.#options;
    await generate(text, {
      ...{ llm, clock, generation, dispatch, splitter: this.#splitter(), signal: reply.abort.signal },
      ...(preemptive ? { confirmed } : {}),
      onText: said => {
        reply.text = said;
      },
    });
  }

  /** Says a text of our own. */
  say({ turn, generation, text }: Effect<'start_saying'>): void {
    const { dispatch } = this.#options;
    this.#open({ turn, generation, kind: 'say', confirm: () => {} }).text = text;
    const splitter = this.#splitter();
    for (const clause of [...splitter.push(text), ...splitter.flush()]) dispatch({ type: 'clause', generation, clause });
    dispatch({ type: 'reply_done', generation, text });
  }

  speak(clause: Clause, number: number): void {
    this.#reply?.mouth.speak(clause, number);
  }

  confirm(): void {
    this.#reply?.confirm();
  }

  /** A reply is over: stops what still runs, and tells history what was heard. */
  settle({ interrupted, withdrawn }: { readonly interrupted: boolean; readonly withdrawn: boolean }): void {
    const reply = this.#reply;
    if (!reply) return;
    this.#reply = undefined;
    const { llm, sink, player, emit } = this.#options;
    const { generation, turn, kind } = reply;
    reply.mouth.close();
    if (interrupted) {
      reply.abort.abort();
      player.flush(generation);
      if (player.ledger.count(generation).queued > 0) emit({ type: 'flush', turn, generation });
    }
    const { played, queued } = player.ledger.count(generation);
    // A clause without a sound is not heard before something else is.
    const heard = played > 0 ? player.ledger.heard(generation) : '';
    // A voice that died before the end has cut the reply too.
    const cut = interrupted || (player.ledger.hasFailed(generation) && heard !== reply.text);
    const text = cut ? heard.trimEnd() : reply.text;
    player.ledger.forget(generation);
    const toMs = (samples: number) => Math.round((samples * 1000) / sink.sampleRate);
    const playedMs = toMs(played);
    if (played > 0) emit({ type: 'audio_stop', turn, generation, playedMs, queuedMs: toMs(queued) });
    if (text.trim() !== '')
      emit({ type: 'message', role: 'assistant', text, turn, generation, playedMs, ...(cut ? { interrupted: true } : {}) });
    const report = { text, interrupted: cut, ...(withdrawn ? { withdrawn } : {}) };
    if (kind === 'reply') llm.heard(report);
    else if (text.trim() !== '') llm.said?.(report);
  }

  #open(about: Pick<LiveReply, 'turn' | 'generation' | 'kind' | 'confirm'>): LiveReply {
    const { tts, locale, player, clock, dispatch } = this.#options;
    const abort = new AbortController();
    const mouth = new Mouth({ tts, locale, player, clock, dispatch }, about.generation, abort.signal);
    const reply = { ...about, abort, mouth, text: '' };
    this.#reply = reply;
    return reply;
  }

  #splitter(): ClauseSplitter {
    const { locale } = this.#options;
    return new ClauseSplitter({ firstClause: 'fast', ...(locale === undefined ? {} : { locale }) });
  }
}
