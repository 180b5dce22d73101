// One call of any capability under way: its signal, its deadline, its report, its watcher. It knows no capability.
import type { AdapterContext } from '../adapters/chat.js';
import { follow } from '../async/signals.js';
import type { Clock } from '../clock.js';
import { addCost, type Cost, costOf, findPrice, type PriceTable } from '../data/cost.js';
import { isRecord } from '../data/json.js';
import { AdapterError } from '../errors.js';
import type { Warning } from '../events/finish.js';
import { quietly } from '../quietly.js';
import type { KeyResolver } from '../reliability/keys.js';
import { redact } from '../reliability/redact.js';
import { asAntiphonError, type RetryPolicy, retrying } from '../reliability/retrying.js';
import type { CapabilityEvent, CapabilityObserver, Telemetry } from '../telemetry/telemetry.js';
import {
  type CapabilityMethod,
  type CapabilityOptions,
  type CapabilityReport,
  type CapabilityUsage,
  type Ending,
  sumUsage,
} from './call.js';
import { malformed } from './refusals.js';

/** What the engine gives to each of its calls. */
export interface Runtime {
  readonly clock: Clock;
  readonly retry: RetryPolicy | false | undefined;
  readonly keys: KeyResolver | undefined;
  /** The engine's own value, for `keys`. */
  readonly context: unknown;
  readonly prices: PriceTable | undefined;
  readonly telemetry: Telemetry | undefined;
}

/** What is asked, and of whom. */
export interface About {
  readonly method: CapabilityMethod;
  readonly adapter: { readonly provider: string; readonly model: string };
  readonly request: { readonly model?: string };
}

/** Their models write nothing, so that a report without output tokens is whole. */
const WITHOUT_OUTPUT: ReadonlySet<CapabilityMethod> = new Set<CapabilityMethod>(['embed', 'moderate', 'rerank']);

export class Call {
  readonly context: AdapterContext;
  readonly provider: string;
  readonly stop: AbortController;
  readonly retry: RetryPolicy | false;
  readonly #about: About & { readonly model: string };
  readonly #prices: PriceTable | undefined;
  readonly #observer: CapabilityObserver | undefined;
  readonly #release: () => void;
  readonly #cancelDeadline: () => void;
  #deadline: AdapterError | undefined;
  /** Keys that were handed out; they are kept from everything that comes back beside the answer. */
  readonly #secrets: string[] = [];
  #usage: CapabilityUsage = {};
  #cost: Cost | 'unknown' | undefined;
  #model: string | undefined;
  readonly #warnings: Warning[] = [];
  readonly #responseIds: string[] = [];

  constructor(
    about: About,
    options: CapabilityOptions,
    runtime: Runtime,
    own: { readonly timeoutMs?: number; readonly stop?: AbortController },
  ) {
    const { clock, keys, prices, telemetry } = runtime;
    const { method, adapter, request } = about;
    const model = request.model ?? adapter.model;
    this.#about = { ...about, model };
    this.#prices = prices;
    this.provider = adapter.provider;
    this.stop = own.stop ?? new AbortController();
    this.retry = options.retry ?? runtime.retry ?? {};
    const requestId = options.requestId ?? crypto.randomUUID();
    const apiKey = async (asked: string) => {
      const key = await keys?.(asked, { context: options.context ?? runtime.context, requestId });
      if (typeof key === 'string') this.#secrets.push(key.trim());
      return key;
    };
    this.context = { signal: this.stop.signal, requestId, clock, ...(keys ? { apiKey } : {}) };
    this.#release = follow(this.stop, options.signal);
    const timeoutMs = options.timeoutMs ?? own.timeoutMs;
    this.#cancelDeadline =
      timeoutMs === undefined ? () => {} : clock.setTimer(timeoutMs, () => this.timeOut(`The call took longer than ${timeoutMs} ms`));
    this.#observer = quietly(() => telemetry?.capability?.({ method, requestId, provider: adapter.provider, model, request, clock }));
  }

  /** Ends the call as a failure. */
  timeOut(what: string): void {
    if (this.stop.signal.aborted) return;
    this.#deadline = new AdapterError('timeout', `${what} and was stopped.`, { retryable: true, provider: this.provider });
    this.stop.abort(this.#deadline);
  }

  /** One request, tried again as the policy says; `accept` reads the answer and throws for one that cannot be right. */
  async send<T>(ask: (context: AdapterContext) => Promise<unknown>, accept: (answer: Record<string, unknown>) => T, noMore?: AbortSignal) {
    const { signal, clock } = this.context;
    const about = { signal, clock, provider: this.provider, ...(noMore === undefined ? {} : { noMore }) };
    return retrying(
      async () => {
        const answer: unknown = await ask(this.context);
        if (!isRecord(answer)) throw malformed(this.provider, 'the adapter gave no answer object');
        const content = accept(answer);
        this.add(answer);
        return content;
      },
      this.retry,
      about,
      event => this.saw(event),
    );
  }

  /** Takes an answer's report into the call's. Throws when it is not one. */
  add(answer: Record<string, unknown>): void {
    const { usage = {}, warnings = [], model, responseId } = answer;
    if (!isRecord(usage)) throw malformed(this.provider, 'usage is no object');
    const reported = Object.entries(usage).filter(([, value]) => value !== undefined && value !== null);
    const bad = reported.find(([, value]) => typeof value !== 'number' || !(value >= 0) || value === Number.POSITIVE_INFINITY);
    if (bad) throw malformed(this.provider, `usage.${bad[0]} is no number`);
    if (!Array.isArray(warnings)) throw malformed(this.provider, 'warnings are no list');
    const own: CapabilityUsage = Object.fromEntries(reported);
    const named = typeof model === 'string' ? model : undefined;
    this.#usage = sumUsage(this.#usage, own);
    this.#addCost(own, named);
    for (const warning of warnings as Warning[]) this.warn(warning);
    this.#model ??= named;
    if (typeof responseId === 'string') this.#responseIds.push(responseId);
  }

  /** One answer whose cost is not known leaves the sum unknown: less than it was would be a lie. */
  #addCost(usage: CapabilityUsage, answered: string | undefined): void {
    if (!this.#prices || this.#cost === 'unknown') return;
    const { method, model } = this.#about;
    const price = findPrice(this.#prices, [answered, model]);
    const cost = price && costOf(WITHOUT_OUTPUT.has(method) ? { outputTokens: 0, ...usage } : usage, price);
    this.#cost = cost ? addCost(this.#cost, cost) : 'unknown';
  }

  warn(warning: Warning): void {
    this.#warnings.push(redact(warning, this.#secrets));
  }

  /** Tells the watcher. */
  saw(event: CapabilityEvent): void {
    quietly(() => this.#observer?.event?.(event));
  }

  /** How a failure ends the call: an abort was wished for, whatever its reason is; only our own deadline is a failure. */
  endingOf(thrown: unknown): Ending {
    const { signal } = this.stop;
    if (!signal.aborted) return { status: 'failed', error: redact(asAntiphonError(thrown, this.provider), this.#secrets) };
    if (this.#deadline && signal.reason === this.#deadline) return { status: 'failed', error: this.#deadline };
    return { status: 'interrupted', reason: 'aborted' };
  }

  /** Lets go of the signal and the timer, tells the watcher, and gives the outcome. */
  close<Content extends object>(ending: Ending, content: Content): Ending & CapabilityReport & Content {
    this.#cancelDeadline();
    this.#release();
    const outcome = {
      ...ending,
      provider: this.provider,
      requestId: this.context.requestId,
      usage: this.#usage,
      ...(typeof this.#cost === 'object' ? { cost: this.#cost } : {}),
      // Copies: a try that was given up may still report something.
      warnings: [...this.#warnings],
      ...(this.#model === undefined ? {} : { model: this.#model }),
      responseIds: [...this.#responseIds],
      ...content,
    };
    quietly(() => this.#observer?.end?.(outcome));
    return outcome;
  }
}

/** Milliseconds that a call may take when it says nothing else. */
const WHOLE_CALL_MS = 600_000;

/** Runs a call that answers at once, from its gates to its ending; `content` is what there is of the answer then. */
export async function runCall<Content extends object>(
  about: About,
  options: CapabilityOptions,
  runtime: Runtime,
  work: (call: Call) => Promise<void>,
  content: (ending: Ending) => Content,
): Promise<Ending & CapabilityReport & Content> {
  const call = new Call(about, options, runtime, { timeoutMs: WHOLE_CALL_MS });
  let ending: Ending = { status: 'completed' };
  try {
    call.context.signal.throwIfAborted();
    await work(call);
  } catch (thrown) {
    ending = call.endingOf(thrown);
  }
  return call.close(ending, content(ending));
}
