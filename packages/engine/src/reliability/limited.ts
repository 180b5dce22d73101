import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import type { Clock } from '../clock.js';
import type { AdapterEvent } from '../events/events.js';
import { estimateTokens } from '../history/estimate.js';
import { invalidOption } from '../invalid-option.js';
import { around } from './around.js';

/** Limits that a client keeps by itself; whole numbers above 0. What is left out is not limited. */
export interface Limits {
  /** Requests whose answers are being read at the same time. */
  readonly maxConcurrent?: number;
  /** Requests in any 60 seconds. */
  readonly requestsPerMinute?: number;
  /**
   * Tokens of prompts and answers in any 60 seconds. A request is let through by an estimate of its prompt, which its reported usage replaces;
   * one that is larger than the whole limit goes when nothing else counts.
   */
  readonly tokensPerMinute?: number;
}

/**
 * The same model, asked no faster than its provider allows. Requests wait in the order in which they came, on the engine's clock, whichever
 * engine or session they are from: share the instance to share the limit. An abort leaves the queue at once; the first-byte deadline stands
 * still meanwhile. Throws `ConfigurationError` for a limit that is none.
 *
 * ```ts
 * const chat = limited(openaiChat({ model: 'gpt-5.1' }), { maxConcurrent: 4, requestsPerMinute: 60 });
 * ```
 */
export function limited(adapter: ChatAdapter, limits: Limits): ChatAdapter {
  for (const key of Object.keys(limits)) {
    const value = (limits as Record<string, unknown>)[key];
    if (!KNOWN.includes(key)) throw invalidOption(`limited does not know "${key}". It takes ${KNOWN.join(', ')}.`);
    if (value !== undefined && !(Number.isInteger(value) && (value as number) > 0))
      throw invalidOption(`${key} must be a whole number above 0, not ${String(value)}.`);
  }
  const gate = new Gate(limits);
  return around(adapter, {
    async *stream(request: ChatRequest, context: AdapterContext): AsyncGenerator<AdapterEvent> {
      const { clock, signal, deadline } = context;
      deadline?.pause();
      const pass = await gate.enter(limits.tokensPerMinute === undefined ? 0 : estimateTokens(request.messages), clock, signal);
      deadline?.restart();
      try {
        for await (const event of adapter.stream(request, context)) {
          if (event.type === 'message_end') {
            const { inputTokens, outputTokens, totalTokens = (inputTokens ?? 0) + (outputTokens ?? 0) } = event.usage;
            if (totalTokens > 0) pass.tokens = totalTokens;
          }
          yield event;
        }
      } finally {
        gate.leave();
      }
    },
  });
}

const KNOWN = ['maxConcurrent', 'requestsPerMinute', 'tokensPerMinute'];
const WINDOW_MS = 60_000;

/** One request that was let through, as long as it counts. */
interface Pass {
  readonly at: number;
  tokens: number;
}

interface Waiter {
  readonly tokens: number;
  readonly clock: Clock;
  readonly go: (pass: Pass) => void;
}

/** A queue before a door. Only its head may go in, so nobody is overtaken. */
class Gate {
  readonly #limits: Limits;
  readonly #queue: Waiter[] = [];
  /** The last 60 seconds, the oldest first. */
  readonly #passes: Pass[] = [];
  #active = 0;
  #cancelTimer = () => {};

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Resolves when the request may leave; rejects with the signal's reason when it aborts before that. */
  enter(tokens: number, clock: Clock, signal: AbortSignal): Promise<Pass> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1);
        reject(signal.reason);
        // It may have been its size that held the others up.
        this.#admit();
      };
      const waiter: Waiter = {
        tokens,
        clock,
        go: pass => {
          signal.removeEventListener('abort', onAbort);
          resolve(pass);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiter);
      this.#admit();
    });
  }

  leave(): void {
    this.#active--;
    this.#admit();
  }

  #admit(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
    for (let head = this.#queue[0]; head; head = this.#queue[0]) {
      const { maxConcurrent = Number.POSITIVE_INFINITY } = this.#limits;
      // Whoever leaves calls again.
      if (this.#active >= maxConcurrent) return;
      const waitMs = this.#waitMs(head);
      if (waitMs > 0) {
        this.#cancelTimer = head.clock.setTimer(waitMs, () => this.#admit());
        return;
      }
      this.#queue.shift();
      this.#active++;
      const pass = { at: head.clock.now(), tokens: head.tokens };
      this.#passes.push(pass);
      head.go(pass);
    }
  }

  /** Milliseconds until enough of the last minute is forgotten. */
  #waitMs({ clock, tokens }: Waiter): number {
    const { requestsPerMinute = Number.POSITIVE_INFINITY, tokensPerMinute = Number.POSITIVE_INFINITY } = this.#limits;
    const now = clock.now();
    while (this.#passes[0] && this.#passes[0].at + WINDOW_MS <= now) this.#passes.shift();
    let requests = this.#passes.length;
    let spent = this.#passes.reduce((sum, pass) => sum + pass.tokens, 0);
    let until = now;
    for (const pass of this.#passes) {
      if (requests < requestsPerMinute && spent + tokens <= tokensPerMinute) break;
      requests--;
      spent -= pass.tokens;
      until = pass.at + WINDOW_MS;
    }
    return until - now;
  }
}
