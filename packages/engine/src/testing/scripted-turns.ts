// What the scripted twins of all capabilities share: turns that are used in order.
import type { AdapterContext } from '../adapters/chat.js';
import { AdapterError } from '../errors.js';

/** What a scripted adapter answers once: an answer, an error to throw, or a function of the request that gives either. */
export type Turn<Request, Answer> =
  | Answer
  | Error
  | ((request: Request, context: AdapterContext) => Answer | Error | Promise<Answer | Error>);

/** Turns in order; or one function that answers every request, and so is never used up. */
export type Turns<Request, Answer> = readonly Turn<Request, Answer>[] | ((request: Request, context: AdapterContext) => Answer | Error);

/** What every scripted adapter shows of its past and future. */
export interface Scripted<Request> {
  /** Every request that was sent, in order. */
  readonly requests: readonly Request[];
  /** Turns that were not used yet. */
  readonly remaining: number;
}

/** The turns of one scripted adapter. Each has its own place in its own list, however equal two lists are. */
export class Script<Request, Answer> implements Scripted<Request> {
  readonly requests: Request[] = [];
  readonly #turns: Turns<Request, Answer>;
  #next = 0;

  constructor(turns: Turns<Request, Answer>) {
    this.#turns = turns;
  }

  get remaining(): number {
    return typeof this.#turns === 'function' ? Number.POSITIVE_INFINITY : this.#turns.length - this.#next;
  }

  /** Uses the next turn. `refuse` says what a real provider would not take. */
  async answer(request: Request, context: AdapterContext, refuse: readonly (string | false)[] = []): Promise<Answer> {
    context.signal.throwIfAborted();
    const fault = refuse.find(reason => typeof reason === 'string');
    if (fault) throw new AdapterError('invalid_request', `scripted: ${fault}.`, { status: 400, provider: 'scripted' });
    this.requests.push(request);
    const turn = this.#turn();
    const said =
      typeof turn === 'function' ? await (turn as (request: Request, context: AdapterContext) => Answer)(request, context) : turn;
    context.signal.throwIfAborted();
    if (said instanceof Error) throw said;
    return said as Answer;
  }

  #turn(): Turn<Request, Answer> {
    if (typeof this.#turns === 'function') return this.#turns;
    if (this.#next < this.#turns.length) return this.#turns[this.#next++] as Turn<Request, Answer>;
    const message = `The script has ${this.#turns.length} turns, and this is call ${this.requests.length}.`;
    throw new AdapterError('script_exhausted', message, { provider: 'scripted' });
  }
}
