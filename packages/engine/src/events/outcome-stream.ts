import { burstsOf } from './bursts.js';
import { OneByOne, type Watcher } from './one-by-one.js';

/** Events that end with an outcome, of a run that is read once and sends nothing before somebody reads. */
export class OutcomeStream<Event extends { readonly type: string; readonly outcome?: unknown }, Outcome> implements AsyncIterable<Event> {
  readonly #run: OneByOne<Event>;
  readonly #stop: () => void;
  readonly #outcome: Promise<Outcome>;
  #driven = false;

  /** `run` must end with an `end` event; `stop` makes it end soon. */
  constructor(run: AsyncIterable<Event>, stop: () => void) {
    this.#stop = stop;
    let watcher: Watcher<Event> | undefined;
    this.#outcome = new Promise((resolve, failure) => {
      watcher = { item: event => event.type === 'end' && resolve(event.outcome as Outcome), failure };
    });
    this.#run = new OneByOne(burstsOf(run), { watcher });
    // A bug in the run is seen by whoever iterates or awaits; it must not take the process down when nobody does.
    this.#outcome.catch(() => {});
  }

  /** How the run ended, with everything that arrived. */
  get outcome(): Promise<Outcome> {
    // A loop that begins in the same turn takes precedence over draining.
    queueMicrotask(() => {
      if (!this.#driven) void this.#drain();
    });
    return this.#outcome;
  }

  [Symbol.asyncIterator](): AsyncIterator<Event, void> {
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
