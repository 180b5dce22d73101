// What every conformance kit is made of: named cases that throw when a contract is broken, for any test runner.
import type { AdapterContext } from '../adapters/chat.js';
import { sleep, systemClock } from '../clock.js';
import { AdapterError, AntiphonError, describe } from '../errors.js';

/**
 * One rule of a contract, ready to run: `run` rejects when the rule is broken.
 *
 * ```ts
 * for (const { name, run } of adapterConformance(makeAdapter)) test(name, run);
 * ```
 */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/** A violated rule. */
export function violation(message: string): Error {
  return new Error(`Contract broken: ${message}`);
}

export function expectThat(holds: boolean, message: string): void {
  if (!holds) throw violation(message);
}

/** Both as JSON; the message shows them. */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  expectThat(a === b, `${what} is ${a}, not ${b}`);
}

/** Milliseconds after which a case has hung. */
const LIMIT_MS = 5_000;

/** A case whose work must end within five seconds of the machine's clock. */
function bounded(name: string, work: () => Promise<void>): ConformanceCase {
  return {
    name,
    async run() {
      let cancel = () => {};
      const hung = new Promise<never>((_, reject) => {
        cancel = systemClock.setTimer(LIMIT_MS, () => reject(violation(`"${name}" did not end within ${LIMIT_MS} ms`)));
      });
      await Promise.race([work(), hung]).finally(cancel);
    },
  };
}

/** Names cases and gives each an adapter of its own. `make` gives none when the provider cannot get into a scenario; then the case passes. */
export function caseMaker<Test, Scenario>(make: (scenario: Scenario) => Test | undefined | Promise<Test | undefined>) {
  return (name: string, scenario: Scenario, work: (test: Test, watched: WatchedSignal) => Promise<void>) =>
    bounded(name, async () => {
      const test = await make(scenario);
      if (test) await work(test, new WatchedSignal());
    });
}

/** Waits until something that the other side does has happened. */
export async function eventually(holds: () => boolean, message: string): Promise<void> {
  const end = systemClock.now() + LIMIT_MS / 2;
  while (!holds()) {
    expectThat(systemClock.now() < end, message);
    await sleep(systemClock, 1);
  }
}

/** A signal that can be aborted and that counts its listeners. */
export class WatchedSignal {
  readonly #controller = new AbortController();
  readonly #listeners = new Set<unknown>();

  constructor() {
    const { signal } = this.#controller;
    const { addEventListener, removeEventListener } = signal;
    Object.assign(signal, {
      addEventListener: (type: string, listener: EventListener, options?: AddEventListenerOptions) => {
        this.#listeners.add(listener);
        return addEventListener.call(signal, type, listener, options);
      },
      removeEventListener: (type: string, listener: EventListener, options?: EventListenerOptions) => {
        this.#listeners.delete(listener);
        return removeEventListener.call(signal, type, listener, options);
      },
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Listeners that were added and not removed. */
  get listeners(): number {
    return this.#listeners.size;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }
}

/** A context as the engine would give it. */
export function contextFor(signal: AbortSignal): AdapterContext {
  return { signal, requestId: 'conformance', clock: systemClock };
}

/** What `work` throws; a violation when it throws nothing. */
export async function thrownBy(work: Promise<unknown>, instead: string): Promise<unknown> {
  try {
    await work;
  } catch (thrown) {
    return thrown;
  }
  throw violation(instead);
}

/** What `work` throws, which must be an error of the family with one of these reasons. */
export async function failureOf(work: Promise<unknown>, reasons: readonly string[], when: string): Promise<AntiphonError> {
  const thrown = await thrownBy(work, `${when} did not fail`);
  if (!AntiphonError.isInstance(thrown)) throw violation(`${when} threw ${describe(thrown)}, which is no AntiphonError`);
  expectThat(reasons.includes(thrown.reason), `${when} failed with "${thrown.reason}", not ${reasons.join(' or ')}`);
  return thrown;
}

/** The value with everything in it frozen, so that whoever changes a request is found out. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}

/** Failures of a server that every adapter must tell apart. */
export const SERVER_FAILURES = [
  { status: 400, reasons: ['invalid_request'], retryable: false },
  { status: 401, reasons: ['authentication_failed'], retryable: false },
  { status: 403, reasons: ['permission_denied', 'authentication_failed'], retryable: false },
  { status: 429, reasons: ['rate_limited'], retryable: true, retryAfterMs: 2000 },
  { status: 500, reasons: ['provider_unavailable'], retryable: true },
  { status: 503, reasons: ['provider_unavailable'], retryable: true },
] as const;

/** The error that an adapter without a wire of its own (a fake, a local model) throws for such a failure. */
export function serverFailure({ status, retryAfterMs }: { readonly status: number; readonly retryAfterMs?: number }): AdapterError {
  const known = SERVER_FAILURES.find(failure => failure.status === status);
  return new AdapterError(known?.reasons[0] ?? 'unknown', `The server answered ${status}.`, {
    status,
    retryable: known?.retryable ?? false,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
