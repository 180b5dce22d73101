import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import { abortable } from '../async/abortable.js';
import { costOf, findPrice, type PriceTable } from '../data/cost.js';
import { AdapterError, type AdapterReason, type AntiphonError } from '../errors.js';
import { type Burst, burstsOf } from '../events/bursts.js';
import { isContent } from '../events/content.js';
import type { AdapterEvent, MessageStart, RetryEvent, WarningEvent } from '../events/events.js';
import { CallDeadlines, type Timeouts } from '../reliability/deadlines.js';
import type { PartialAnswer } from '../reliability/partial-answer.js';
import { asAntiphonError, type RetryPolicy, retryingStream } from '../reliability/retrying.js';
import { partialAnswers } from './on-demand.js';
import type { OnStreamError } from './on-stream-error.js';

/** How a model call is made. */
export interface CallPolicy {
  readonly retry: RetryPolicy | false;
  readonly timeouts?: Timeouts;
  readonly onStreamError?: OnStreamError;
  readonly prices?: PriceTable;
  /** What the engine puts around every adapter. */
  readonly wrap?: (adapter: ChatAdapter) => ChatAdapter;
}

/**
 * One model call, in bursts. It is tried again as long as nothing of the answer was shown; after that `onStreamError` decides. Whatever an
 * adapter throws leaves as an `AntiphonError`, or as the signal's reason.
 */
export async function* callModel(
  given: ChatAdapter,
  request: ChatRequest,
  context: AdapterContext,
  policy: CallPolicy,
): AsyncGenerator<Burst<AdapterEvent | RetryEvent>, void> {
  const { clock } = context;
  const adapter = policy.wrap?.(given) ?? given;
  const { provider } = adapter;
  const deadlines = policy.timeouts && new CallDeadlines(policy.timeouts, context.signal, clock, provider);
  const signal = deadlines?.signal ?? context.signal;
  // Nobody needs to remember the answer of a call that will not be taken up again.
  const remembers = policy.retry !== false && policy.onStreamError !== undefined && policy.onStreamError !== 'surface';
  const answer = remembers ? new (await partialAnswers.get()).PartialAnswer() : undefined;
  const call = new ModelCall(adapter, request, { ...context, signal }, policy, deadlines, answer);
  const tries = retryingStream(
    () => call.attempt(),
    burst => burst.some(isContent),
    policy.retry,
    {
      signal,
      clock,
      provider,
      again: (_, shown) => (shown ? call.recovery : call.unchanged),
      lastWords: () => [call.untold],
      close: () => deadlines?.close(),
    },
  );
  for await (const item of tries) yield 'type' in item ? [item] : item;
}

/** Where the same model may go on, or begin again, although its adapter did not know what to say about that. */
const PASSING: ReadonlySet<string> = new Set<AdapterReason>([
  'network_error',
  'provider_unavailable',
  'rate_limited',
  'timeout',
  'truncated',
]);

/** The tries of one call, and what remains of each for the next. */
class ModelCall {
  readonly #adapter: ChatAdapter;
  readonly #request: ChatRequest;
  readonly #context: AdapterContext;
  readonly #policy: CallPolicy;
  readonly #deadlines: CallDeadlines | undefined;
  readonly #answer: PartialAnswer | undefined;
  /** Warnings of a try that showed nothing else. */
  untold: WarningEvent[] = [];
  /** How the next try relates to what was shown of this one; undefined when there must be none. */
  recovery: Pick<RetryEvent, 'continued'> | undefined;

  constructor(
    adapter: ChatAdapter,
    request: ChatRequest,
    context: AdapterContext,
    policy: CallPolicy,
    deadlines?: CallDeadlines,
    answer?: PartialAnswer,
  ) {
    this.#adapter = adapter;
    this.#request = request;
    this.#context = context;
    this.#policy = policy;
    this.#deadlines = deadlines;
    this.#answer = answer;
  }

  /** The same for a try that showed nothing: earlier ones may have. */
  get unchanged(): Pick<RetryEvent, 'continued'> {
    return this.#answer?.goesOn ? { continued: true } : {};
  }

  /** One try. Throws when the answer breaks off, after the events that the reader needs for what comes next. */
  async *attempt(): AsyncGenerator<AdapterEvent[]> {
    const answer = this.#answer;
    this.untold = [];
    this.recovery = undefined;
    let start: MessageStart | undefined;
    let shown = false;
    let ended = false;
    let seen: AdapterEvent[] = [];
    try {
      for await (const burst of this.#open()) {
        for (const event of burst) {
          if (event.type === 'message_start') start = event;
          else if (event.type === 'message_end') ended = true;
          if (isContent(event)) shown = true;
          else if (event.type === 'warning' && !shown) this.untold.push(event);
          if (!answer) seen.push(this.#priced(event, start));
          else for (const shownEvent of answer.show(event)) seen.push(this.#priced(shownEvent, start));
        }
        yield seen;
        seen = [];
      }
      const { provider } = this.#adapter;
      if (!shown) throw new AdapterError('malformed_response', `${provider}: the answer held nothing at all.`, { retryable: true });
      if (!ended) throw new AdapterError('truncated', `${provider}: the answer stopped before its end.`, { retryable: true });
    } catch (thrown) {
      // A burst that failed half-way.
      if (seen.length > 0) yield seen;
      answer?.breakOff(shown);
      if (answer && shown && !this.#context.signal.aborted)
        yield [...this.#recover(asAntiphonError(thrown, this.#adapter.provider), answer)];
      throw thrown;
    } finally {
      if (shown) this.untold = [];
    }
  }

  #open(): AsyncIterable<Burst<AdapterEvent>> {
    const request = this.#answer?.request(this.#request) ?? this.#request;
    if (!this.#deadlines) return burstsOf(this.#adapter.stream(request, this.#context));
    return this.#deadlines.watch((signal, deadline) => {
      const events = this.#adapter.stream(request, { ...this.#context, signal, deadline });
      return abortable(burstsOf(events), signal, this.#context.clock);
    });
  }

  /** Decides whether a try that broke off in the middle may be followed by another. */
  *#recover(error: AntiphonError, answer: PartialAnswer): Generator<AdapterEvent> {
    if (!error.retryable && !PASSING.has(error.reason)) return;
    if (answer.hasOnlyReasoning) {
      answer.restart();
      this.recovery = {};
      return;
    }
    if (this.#policy.onStreamError !== 'continue') return;
    if (answer.isOnlyText && this.#adapter.continuation) {
      yield* answer.goOn();
      this.recovery = { continued: true };
      return;
    }
    const why = this.#adapter.continuation
      ? 'the answer holds more than text'
      : `${this.#adapter.provider} cannot go on from the beginning of an answer`;
    yield {
      type: 'warning',
      warning: { code: 'other', setting: 'onStreamError', message: `The answer broke off and was not continued: ${why}.` },
    };
  }

  #priced(event: AdapterEvent, start: MessageStart | undefined): AdapterEvent {
    const { prices } = this.#policy;
    if (event.type !== 'message_end' || !prices) return event;
    // Under a fallback only the answer knows which model it is from.
    const asked = start?.provider === undefined ? (this.#request.model ?? this.#adapter.model) : undefined;
    const price = findPrice(prices, [event.model, start?.model, asked]);
    const cost = price && costOf(event.usage, price);
    return cost ? { ...event, cost } : event;
  }
}
