// What one call of any capability has in common: its options, its ending, its report, its deadline. It knows no capability.
import type { AdapterContext } from '../adapters/chat.js';
import type { Clock } from '../clock.js';
import { isRecord } from '../data/json.js';
import type { Usage } from '../data/usage.js';
import { AdapterError, type AntiphonError, ConfigurationError } from '../errors.js';
import type { Warning } from '../events/finish.js';
import { follow } from '../loop/signals.js';
import type { KeyResolver } from '../reliability/keys.js';
import { redact } from '../reliability/redact.js';
import { asAntiphonError, type RetryPolicy, retrying } from '../reliability/retrying.js';
import { malformed } from './checks.js';

/** Options that every call of a capability knows. */
export interface CapabilityOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole call, waits and retries included. Default 600 000; a stream has none, but see `idleTimeoutMs` there. */
  readonly timeoutMs?: number;
  readonly requestId?: string;
  readonly retry?: RetryPolicy | false;
  /** The caller's own value, for the engine's `keys`; never sent to a provider. */
  readonly context?: unknown;
}

/** What a call consumed: tokens, and whatever else its provider counts. A missing field was not reported; 0 was reported as zero. */
export interface CapabilityUsage extends Usage {
  /** Characters of spoken text. */
  readonly characters?: number;
  readonly audioSeconds?: number;
  readonly images?: number;
  /** Units that some providers of reranking bill. */
  readonly searchUnits?: number;
}

/** What every adapter's answer may carry beside its content. */
export interface CapabilityResponse {
  readonly usage?: CapabilityUsage;
  /** The model that answered, as the provider names it. */
  readonly model?: string;
  readonly responseId?: string;
  readonly warnings?: readonly Warning[];
}

/** What every outcome carries beside its content. */
export interface CapabilityReport {
  readonly provider: string;
  readonly requestId: string;
  /** Summed over all requests. */
  readonly usage: CapabilityUsage;
  readonly warnings: readonly Warning[];
  readonly model?: string;
  /** One for each request that was answered and has one. */
  readonly responseIds: readonly string[];
}

/** The three ways to end: all of it; stopped by the signal, with what was there; failed, with what was there. */
export type CapabilityOutcome<Whole, Part> =
  | (CapabilityReport & Whole & { readonly status: 'completed' })
  | (CapabilityReport & Part & { readonly status: 'interrupted'; readonly reason: 'aborted' })
  | (CapabilityReport & Part & { readonly status: 'failed'; readonly error: AntiphonError });

export type Ending =
  | { readonly status: 'completed' }
  | { readonly status: 'interrupted'; readonly reason: 'aborted' }
  | { readonly status: 'failed'; readonly error: AntiphonError };

/**
 * The outcome itself when it is completed; throws the error of a failed one, and an error that says so for an interrupted one.
 *
 * ```ts
 * const { vectors } = completed(await engine.embed(['one', 'two']));
 * ```
 */
export function completed<O extends { readonly status: Ending['status'] }>(outcome: O): Extract<O, { readonly status: 'completed' }> {
  if (outcome.status === 'completed') return outcome as Extract<O, { readonly status: 'completed' }>;
  if ('error' in outcome) throw outcome.error;
  throw new Error('The call was aborted and has no whole answer; look at the outcome for what arrived.');
}

/** What the engine gives to each of its calls. */
export interface Runtime {
  readonly clock: Clock;
  readonly retry: RetryPolicy | false | undefined;
  readonly keys: KeyResolver | undefined;
  /** The engine's own value, for `keys`. */
  readonly context: unknown;
}

/** The adapter in a slot. Throws `ConfigurationError` (`missing_adapter`) that names an empty slot and an adapter for it. */
export function adapterIn<A>(slot: string, adapter: A | undefined, example: string): A {
  if (adapter !== undefined) return adapter;
  throw new ConfigurationError('missing_adapter', `This engine has no ${slot} model: createEngine({ ${slot}: ${example} }).`);
}

/** Sums what the answers report. A field that none reports stays missing. */
export function sumUsage(a: CapabilityUsage, b: CapabilityUsage): CapabilityUsage {
  const sum: Record<string, number> = { ...a };
  for (const [field, value] of Object.entries(b) as [string, number][]) sum[field] = (sum[field] ?? 0) + value;
  return sum;
}

/** One call under way: its signal, its clock, its report. */
export class Call {
  readonly context: AdapterContext;
  readonly provider: string;
  readonly stop: AbortController;
  readonly retry: RetryPolicy | false;
  readonly #release: () => void;
  readonly #cancelDeadline: () => void;
  #deadline: AdapterError | undefined;
  /** Keys that were handed out; they are kept from everything that comes back beside the answer. */
  readonly #secrets: string[] = [];
  #usage: CapabilityUsage = {};
  #model: string | undefined;
  readonly #warnings: Warning[] = [];
  readonly #responseIds: string[] = [];

  constructor(
    provider: string,
    options: CapabilityOptions,
    runtime: Runtime,
    own: { readonly timeoutMs?: number; readonly stop?: AbortController },
  ) {
    const { clock } = runtime;
    this.provider = provider;
    this.stop = own.stop ?? new AbortController();
    this.retry = options.retry ?? runtime.retry ?? {};
    const requestId = options.requestId ?? crypto.randomUUID();
    const { keys } = runtime;
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
    this.#usage = sumUsage(this.#usage, Object.fromEntries(reported));
    for (const warning of warnings as Warning[]) this.warn(warning);
    if (typeof model === 'string') this.#model ??= model;
    if (typeof responseId === 'string') this.#responseIds.push(responseId);
  }

  warn(warning: Warning): void {
    this.#warnings.push(redact(warning, this.#secrets));
  }

  /** How a failure ends the call: an abort was wished for, whatever its reason is; only our own deadline is a failure. */
  endingOf(thrown: unknown): Ending {
    const { signal } = this.stop;
    if (!signal.aborted) return { status: 'failed', error: redact(asAntiphonError(thrown, this.provider), this.#secrets) };
    if (this.#deadline && signal.reason === this.#deadline) return { status: 'failed', error: this.#deadline };
    return { status: 'interrupted', reason: 'aborted' };
  }

  /** Lets go of the signal and the timer, and gives the report. */
  close(): CapabilityReport {
    this.#cancelDeadline();
    this.#release();
    return {
      provider: this.provider,
      requestId: this.context.requestId,
      usage: this.#usage,
      // Copies: a try that was given up may still report something.
      warnings: [...this.#warnings],
      ...(this.#model === undefined ? {} : { model: this.#model }),
      responseIds: [...this.#responseIds],
    };
  }
}

/** Milliseconds that a call may take when it says nothing else. */
const WHOLE_CALL_MS = 600_000;

/** Runs a call that answers at once, from its gates to its ending. */
export async function runCall(
  provider: string,
  options: CapabilityOptions,
  runtime: Runtime,
  work: (call: Call) => Promise<void>,
): Promise<CapabilityReport & Ending> {
  const call = new Call(provider, options, runtime, { timeoutMs: WHOLE_CALL_MS });
  let ending: Ending = { status: 'completed' };
  try {
    call.context.signal.throwIfAborted();
    await work(call);
  } catch (thrown) {
    ending = call.endingOf(thrown);
  }
  return { ...ending, ...call.close() };
}
