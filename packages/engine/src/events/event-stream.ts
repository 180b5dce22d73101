import { burstsOf } from './bursts.js';
import type { StreamEvent } from './events.js';
import { OneByOne, type Watcher } from './one-by-one.js';
import type { Outcome } from './outcome.js';

/**
 * A run that can be watched once. Nothing is sent before somebody reads. Iterating drives it, one event per pull; awaiting `outcome`
 * without iterating drives it too; awaiting it inside of the loop waits for ever, since only the loop pulls. Leaving the loop early stops the
 * request and gives an `interrupted` outcome. `outcome` never rejects.
 *
 * ```ts
 * const stream = engine.stream('Tell me a story.');
 * for await (const text of stream.textStream) process.stdout.write(text);
 * const { usage } = await stream.outcome;
 * ```
 */
export class EventStream<Output = unknown> implements AsyncIterable<StreamEvent> {
  readonly #run: OneByOne<StreamEvent>;
  readonly #stop: () => void;
  readonly #outcome: Promise<Outcome<Output>>;
  #driven = false;

  /** `run` must end with an `end` event; `stop` makes it end soon. */
  constructor(run: AsyncIterable<StreamEvent>, stop: () => void) {
    this.#stop = stop;
    let watcher: Watcher<StreamEvent> | undefined;
    this.#outcome = new Promise((resolve, failure) => {
      // What the schema's validation gave is what the schema says.
      watcher = { item: event => event.type === 'end' && resolve(event.outcome as Outcome<Output>), failure };
    });
    this.#run = new OneByOne(burstsOf(run), { watcher });
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
      next: () => this.#run.next(),
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
      while (!(await this.#run.next()).done);
    } catch {
      // `outcome` tells.
    }
  }
}

async function* textOf(stream: EventStream): AsyncGenerator<string> {
  for await (const event of stream) if (event.type === 'text_delta') yield event.delta;
}
