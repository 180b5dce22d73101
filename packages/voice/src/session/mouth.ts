import { type Clock, describe, sleep } from '@antiphon/engine';
import type { TextToSpeech } from '../interfaces/tts.js';
import type { Player } from '../playout/player.js';
import { type Clause, speakable } from '../text/index.js';
import type { TurnEvent } from '../turns/events.js';
import { Channel } from './channel.js';

export interface MouthOptions {
  readonly tts: TextToSpeech;
  readonly player: Player;
  readonly clock: Clock;
  readonly locale: string | undefined;
  readonly dispatch: (event: TurnEvent) => void;
}

/** Audio that may wait to be played before synthesis pauses; seconds. */
const MAX_WAITING_SECONDS = 20;

/** A voice that gives nothing for so long has died; milliseconds. */
const PIECE_WITHIN_MS = 15_000;

/** The voice of one generation: speaks its clauses one after the other until the signal aborts. */
export class Mouth {
  readonly #clauses = new Channel<{ readonly clause: Clause; readonly number: number }>();
  readonly #options: MouthOptions;

  constructor(options: MouthOptions, generation: number, signal: AbortSignal) {
    this.#options = options;
    void this.#run(generation, signal);
    signal.addEventListener('abort', () => this.#clauses.close(), { once: true });
  }

  speak(clause: Clause, number: number): void {
    this.#clauses.push({ clause, number });
  }

  close(): void {
    this.#clauses.close();
  }

  async #run(generation: number, signal: AbortSignal): Promise<void> {
    const { dispatch, player, clock } = this.#options;
    for await (const { clause, number } of this.#clauses) {
      if (signal.aborted) return;
      const place = player.ledger.open(generation, clause.text);
      try {
        while (player.waiting > MAX_WAITING_SECONDS * this.#options.tts.sampleRate) await sleep(clock, 100, signal);
        await this.#speak(clause, number, generation, place, signal);
        player.ledger.close(place);
        dispatch({ type: 'tts_done', generation, clause: number });
      } catch (error) {
        if (signal.aborted) return;
        player.ledger.fail(place);
        dispatch({ type: 'tts_error', generation, clause: number, message: describe(error), final: true });
      }
    }
  }

  /** A clause that failed before it made a sound is tried once more. */
  async #speak(clause: Clause, number: number, generation: number, place: number, signal: AbortSignal): Promise<void> {
    const { dispatch } = this.#options;
    const text = this.#speakable(clause);
    if (text === '') return;
    dispatch({ type: 'tts_request', generation, clause: number, text });
    let sounded = false;
    const onAudio = () => {
      if (!sounded) dispatch({ type: 'tts_first_byte', generation, clause: number });
      sounded = true;
    };
    try {
      await this.#synthesize(text, generation, place, signal, onAudio);
    } catch (error) {
      if (signal.aborted || sounded) throw error;
      dispatch({ type: 'tts_error', generation, clause: number, message: describe(error), final: false });
      await this.#synthesize(text, generation, place, signal, onAudio);
    }
  }

  #speakable({ text }: Clause): string {
    const { locale } = this.#options;
    return speakable(text, locale === undefined ? {} : { locale });
  }

  async #synthesize(text: string, generation: number, place: number, signal: AbortSignal, onAudio: () => void): Promise<void> {
    const { tts, player, clock } = this.#options;
    let isSilent = true;
    for await (const { samples, words } of within(PIECE_WITHIN_MS, tts.synthesize(text, { signal }), clock, signal)) {
      signal.throwIfAborted();
      // Some begin with an empty piece, which nobody hears.
      if (samples.length > 0) {
        isSilent = false;
        onAudio();
      }
      player.queue(generation, place, samples, words);
    }
    signal.throwIfAborted();
    if (isSilent) throw new Error(`${tts.name} gave no sound.`);
  }
}

/** The items as they come; throws when the next one takes longer than this, or the signal aborts: not every engine heeds it. */
async function* within<T>(ms: number, items: AsyncIterable<T>, clock: Clock, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const waiting = new AbortController();
      const stop = () => waiting.abort();
      signal.addEventListener('abort', stop, { once: true });
      const late = sleep(clock, ms, waiting.signal).then(
        () => Promise.reject(new Error(`The voice gave nothing for ${ms / 1000} s.`)),
        () => Promise.reject(signal.reason),
      );
      const next = await Promise.race([iterator.next(), late]).finally(() => {
        signal.removeEventListener('abort', stop);
        late.catch(() => {});
        waiting.abort();
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    iterator.return?.().catch(() => {});
  }
}
