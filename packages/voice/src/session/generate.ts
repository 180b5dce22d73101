import { type Clock, describe } from '@antiphon/engine';
import type { LlmBackend } from '../interfaces/llm-backend.js';
import type { Clause, ClauseSplitter } from '../text/index.js';
import type { TurnEvent } from '../turns/events.js';

/** After this long without a token, a finished sentence at the end of what has come is spoken; milliseconds. */
const IDLE_MS = 200;

export interface GenerateOptions {
  readonly llm: LlmBackend;
  readonly splitter: ClauseSplitter;
  readonly clock: Clock;
  readonly generation: number;
  readonly signal: AbortSignal;
  /** Resolves when the user's turn is over; until then nothing may take effect. */
  readonly confirmed?: Promise<void>;
  readonly dispatch: (event: TurnEvent) => void;
  /** The reply's text so far. */
  readonly onText: (text: string) => void;
}

/** Reads the model's answer to what the user said, and cuts it into clauses as it comes. Tells nothing more once the signal aborts. */
export async function generate(userText: string, options: GenerateOptions): Promise<void> {
  const { llm, splitter, clock, generation, signal, confirmed, dispatch } = options;
  const speak = (clauses: readonly Clause[]) => {
    for (const clause of clauses) dispatch({ type: 'clause', generation, clause });
  };
  let text = '';
  let cancelIdle = () => {};
  try {
    for await (const event of llm.reply(userText, { signal, ...(confirmed ? { confirmed } : {}) })) {
      if (signal.aborted) return;
      cancelIdle();
      if (event.type === 'text') {
        if (text === '') dispatch({ type: 'first_token', generation });
        text += event.delta;
        options.onText(text);
        speak(splitter.push(event.delta));
        cancelIdle = clock.setTimer(IDLE_MS, () => speak(splitter.idle()));
      } else if (event.type !== 'done') {
        // What was said before a tool must not wait for what comes after it, nor run into it.
        speak(splitter.flush());
        dispatch({ ...event, generation });
      }
    }
    if (signal.aborted) return;
    speak(splitter.flush());
    dispatch({ type: 'reply_done', generation, text });
  } catch (error) {
    if (!signal.aborted) dispatch({ type: 'reply_error', generation, message: describe(error) });
  } finally {
    cancelIdle();
  }
}
