import type { StreamEvent } from './events.js';
import type { Outcome } from './outcome.js';

/**
 * A run that can be watched once. Nothing is sent before somebody reads. Iterating drives it, one event per pull; awaiting `outcome`
 * without iterating drives it too. Leaving the loop early stops the request and gives an `interrupted` outcome. `outcome` never rejects.
 *
 * ```ts
 * const stream = engine.stream('Tell me a story.');
 * for await (const text of stream.textStream) process.stdout.write(text);
 * const { usage } = await stream.outcome;
 * ```
 */
export class EventStream<Output = unknown> implements AsyncIterable<StreamEvent> {
  readonly #run: AsyncGenerator<StreamEvent, void>;
  readonly #stop: () => void;
  readonly #outcome: Promise<Outcome<Output>>;
  #settle: { resolve: (outcome: Outcome) => void; reject: (error: unknown) => void } | undefined;
  #driven = false;

  /** `run` must end with an `end` event; `stop` makes it end soon. */
  constructor(run: AsyncGenerator<StreamEvent, void>, stop: () => void) {
    this.#run = run;
    this.#stop = stop;
    this.#outcome = new Promise((resolve, reject) => {
      // What the schema's validation gave is what the schema says.
      this.#settle = { resolve: outcome => resolve(outcome as Outcome<Output>), reject };
    });
    // A bug in the loop is seen by whoever iterates or awaits; it must not take the process down when nobody does.
    this.#outcome.catch(() => {});
  }

  /** How the run ended, with everything that arrived. */
  get outcome(): Promise<Outcome<Output>> {
    // A loop that begins in the same turn takes precedence over draining.
    queueMicrotask(() => {
      if (!this.#driven) void this.#drain();
    });
    return this.#outcome;
  }

  /** Only the text, as it arrives. */
  get textStream(): AsyncIterable<string> {
    return textOf(this);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent, void> {
    if (this.#driven) throw new TypeError('This stream was read already: iterate it once, or collect its events to read them again.');
    this.#driven = true;
    return {
      next: async () => {
        try {
          const result = await this.#run.next();
          if (!result.done && result.value.type === 'end') this.#settle?.resolve(result.value.outcome);
          return result;
        } catch (error) {
          this.#settle?.reject(error);
          throw error;
        }
      },
      return: async () => {
        this.#stop();
        await this.#drain();
        return { done: true, value: undefined };
      },
    };
  }

  async #drain(): Promise<void> {
    this.#driven = true;
    try {
      for await (const event of this.#run) if (event.type === 'end') this.#settle?.resolve(event.outcome);
    } catch (error) {
      this.#settle?.reject(error);
    }
  }
}

async function* textOf(stream: EventStream): AsyncGenerator<string> {
  for await (const event of stream) if (event.type === 'text_delta') yield event.delta;
}
