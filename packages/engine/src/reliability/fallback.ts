import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import type { Clock } from '../clock.js';
import { defined } from '../data/defined.js';
import { AdapterError, type AdapterReason, type AntiphonError } from '../errors.js';
import { isContent } from '../events/content.js';
import type { AdapterEvent } from '../events/events.js';
import { invalidOption } from '../invalid-option.js';
import { around } from './around.js';
import { isDeadlineError } from './deadlines.js';
import { asAntiphonError } from './retrying.js';

/** Failures of one provider that say nothing about the next. Whatever else an adapter calls retryable counts too. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'authentication_failed',
  'permission_denied',
  'missing_key',
  'rate_limited',
  'insufficient_quota',
  'model_not_found',
  'provider_unavailable',
  'network_error',
  'timeout',
  'malformed_response',
  'truncated',
  'unsupported',
]);
/** The request's own fault, which every other model would find too. */
const NEVER: ReadonlySet<string> = new Set(['invalid_request', 'context_length_exceeded', 'content_filter']);

export interface FallbackOptions {
  /** Milliseconds for which an adapter that failed is asked last; a provider's own wait counts when it is longer. Default 30 000. */
  readonly coolDownMs?: number;
  /** For cool-downs; default the clock of each call. */
  readonly clock?: Clock;
}

/**
 * One chat model made of several: each request goes to the first; when that one fails before it has shown anything, to the next. Rate limits,
 * empty accounts, wrong keys, unknown models, overloads, lost connections and timeouts move on; a request that is refused as invalid, too
 * long or filtered does not, and neither does an answer that broke off. An adapter that failed cools down: it is asked after all others until
 * its time is over (for this instance, so share it between engines). `message_start` names who answers, and a `warning` each one that did
 * not. A `model` of the call goes to adapters of the first one's provider only.
 *
 * When all fail, the error is the most hopeful one, with a message that names every failure; the engine's retries then ask all of them again.
 * Throws `ConfigurationError` without an adapter.
 *
 * ```ts
 * const chat = fallback([openaiChat({ model: 'gpt-5.1', baseURL: 'https://api.openai.com/v1' }), openaiChat({ model: 'qwen3:8b' })]);
 * ```
 */
export function fallback(adapters: readonly ChatAdapter[], options: FallbackOptions = {}): ChatAdapter {
  const [first] = adapters;
  if (!first || adapters.some(adapter => typeof adapter?.stream !== 'function'))
    throw invalidOption('fallback takes a list of chat adapters, at least one.');
  const { coolDownMs = 30_000, clock } = options;
  if (!(coolDownMs >= 0)) throw invalidOption('coolDownMs must be a number of milliseconds, not negative.');
  const heat = new Heat(coolDownMs, clock);
  return around(first, {
    structuredOutput: adapters.every(adapter => adapter.structuredOutput === true),
    structuredOutputWithTools: adapters.every(adapter => adapter.structuredOutputWithTools !== false),
    continuation: adapters.every(adapter => adapter.continuation === true),
    stream: (request, context) => firstAnswer(adapters, heat, request, context),
  });
}

/** How long each adapter is still to be left alone. */
class Heat {
  readonly #until = new Map<ChatAdapter, number>();
  readonly #coolDownMs: number;
  readonly #clock: Clock | undefined;

  constructor(coolDownMs: number, clock: Clock | undefined) {
    this.#coolDownMs = coolDownMs;
    this.#clock = clock;
  }

  failed(adapter: ChatAdapter, clock: Clock, error?: AntiphonError): void {
    this.#until.set(adapter, this.#now(clock) + Math.max(this.#coolDownMs, error?.retryAfterMs ?? 0));
  }

  answered(adapter: ChatAdapter): void {
    this.#until.delete(adapter);
  }

  /** Milliseconds left for each; those that are ready have 0. */
  of(adapters: readonly ChatAdapter[], clock: Clock): ReadonlyMap<ChatAdapter, number> {
    const now = this.#now(clock);
    return new Map(adapters.map(adapter => [adapter, Math.max(0, (this.#until.get(adapter) ?? 0) - now)]));
  }

  #now(clock: Clock): number {
    return (this.#clock ?? clock).now();
  }
}

async function* firstAnswer(
  adapters: readonly ChatAdapter[],
  heat: Heat,
  request: ChatRequest,
  context: AdapterContext,
): AsyncGenerator<AdapterEvent> {
  const { clock, signal, deadline } = context;
  const left = heat.of(adapters, clock);
  // Sorting is stable: among those that are ready the given order stands.
  const order = [...left].sort(([, a], [, b]) => a - b).map(([adapter]) => adapter);
  const errors: AntiphonError[] = [];
  const told: AdapterEvent[] = [];
  for (const [place, adapter] of order.entries()) {
    deadline?.restart();
    const held: AdapterEvent[] = [];
    let shown = false;
    try {
      for await (const event of adapter.stream(requestFor(adapter, request, adapters, told), context)) {
        if (shown) {
          yield event;
          continue;
        }
        deadline?.restart();
        held.push(event.type === 'message_start' ? { ...event, provider: adapter.provider, model: event.model ?? adapter.model } : event);
        if (!isContent(event)) continue;
        shown = true;
        heat.answered(adapter);
        const untried = order.slice(place + 1).filter(other => adapters.indexOf(other) < adapters.indexOf(adapter));
        const passedOver = untried.map(other =>
          warning(`${nameOf(other)} failed lately and is left alone for ${left.get(other)} ms more.`),
        );
        yield* [...told, ...passedOver, ...held];
      }
      if (shown) return;
      throw new AdapterError('malformed_response', `${adapter.provider}: the answer held nothing at all.`, { retryable: true });
    } catch (thrown) {
      if (signal.aborted) {
        // The engine's deadline: when it sends the request again, another adapter's turn has come.
        if (isDeadlineError(signal.reason)) heat.failed(adapter, clock);
        throw thrown;
      }
      const error = asAntiphonError(thrown, adapter.provider);
      const elsewhere = !NEVER.has(error.reason) && (error.retryable || ELSEWHERE.has(error.reason));
      if (elsewhere) heat.failed(adapter, clock, error);
      if (!shown && !elsewhere) yield* told;
      if (shown || !elsewhere) throw error;
      errors.push(error);
      told.push(warning(`${nameOf(adapter)} did not answer (${error.reason}): ${error.message}`));
    }
  }
  yield* told;
  throw allFailed(errors);
}

/** A model's name means something to its own provider only. */
function requestFor(adapter: ChatAdapter, request: ChatRequest, adapters: readonly ChatAdapter[], told: AdapterEvent[]): ChatRequest {
  const { model, ...rest } = request;
  if (model === undefined || adapter.provider === adapters[0]?.provider) return request;
  told.push(warning(`The call asks for the model "${model}", which ${adapter.provider} cannot know; ${nameOf(adapter)} was asked.`));
  return rest;
}

function allFailed(errors: readonly AntiphonError[]): AntiphonError {
  // One that may pass is more hopeful than one that stays, and the shorter its wait the better.
  const wait = (error: AntiphonError) => (error.retryable ? (error.retryAfterMs ?? 0) : Number.POSITIVE_INFINITY);
  const best = errors.reduce((a, b) => (wait(b) < wait(a) ? b : a));
  if (errors.length === 1) return best;
  const { reason, retryable, status, retryAfterMs, provider, requestId } = best;
  const each = errors.map(error => `${error.provider ?? 'one'}: ${error.message}`).join(' | ');
  return new AdapterError(
    reason === 'missing_key' ? 'authentication_failed' : (reason as AdapterReason),
    `None of ${errors.length} models answered. ${each}`,
    { cause: best, retryable, ...defined({ status, retryAfterMs, provider, requestId }) },
  );
}

function warning(message: string): AdapterEvent {
  return { type: 'warning', warning: { code: 'other', message } };
}

function nameOf(adapter: ChatAdapter): string {
  return `${adapter.provider} (${adapter.model})`;
}
