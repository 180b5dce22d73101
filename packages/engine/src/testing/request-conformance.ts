// The rules that hold for every adapter that answers one request at once.
import type { AdapterContext } from '../adapters/chat.js';
import type { CapabilityResponse } from '../capabilities/call.js';
import {
  type ConformanceCase,
  caseMaker,
  contextFor,
  eventually,
  expectEqual,
  expectThat,
  failureOf,
  SERVER_FAILURES,
  thrownBy,
} from './conformance.js';

/** What the provider's server does, in neutral words: it gives this answer, it fails, or it never answers. */
export type RequestScenario<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failure'; readonly status: number; readonly message: string; readonly retryAfterMs?: number }
  | { readonly kind: 'silent' };

/** An adapter whose server behaves as a scenario says, and what can be seen of that server. */
export interface AdapterUnderTest<Adapter> {
  readonly adapter: Adapter;
  /** Requests that the server got. */
  requests(): number;
  /** Connections that are open, for adapters that have any. */
  open?(): number;
}

/** Makes an adapter for a scenario; undefined when the provider cannot get into it, and then its cases pass. */
export type MakeAdapter<Adapter, Scenario> = (
  scenario: Scenario,
) => AdapterUnderTest<Adapter> | undefined | Promise<AdapterUnderTest<Adapter> | undefined>;

interface Named {
  readonly provider: string;
  readonly model: string;
}

/** The common rules. `answer` is what a good server says to the request that `ask` sends; `ask` must send a frozen one. */
export function requestCases<Adapter extends Named, Answer extends CapabilityResponse>(
  make: MakeAdapter<Adapter, RequestScenario<Answer>>,
  verb: string,
  answer: Answer,
  ask: (adapter: Adapter, context: AdapterContext) => Promise<CapabilityResponse>,
): ConformanceCase[] {
  const testOf = caseMaker(make);
  const good: RequestScenario<Answer> = { kind: 'answer', answer };
  const usageCase = (name: string, usage: CapabilityResponse['usage'] | undefined, expected: unknown) =>
    testOf(`${verb}: ${name}`, { kind: 'answer', answer: { ...answer, usage } }, async ({ adapter }, { signal }) => {
      const told = (await ask(adapter, contextFor(signal))).usage;
      expectEqual(told?.inputTokens, expected, 'usage.inputTokens');
    });
  return [
    testOf(`${verb}: one request, and nothing left behind`, good, async (test, watched) => {
      for (let i = 0; i < 20; i++) await ask(test.adapter, contextFor(watched.signal));
      expectEqual([test.requests(), watched.listeners], [20, 0], 'requests sent and listeners left');
      expectThat(
        [test.adapter.provider, test.adapter.model].every(name => typeof name === 'string' && name !== ''),
        'provider or model is empty',
      );
    }),
    testOf(`${verb}: the answer is JSON`, good, async ({ adapter }, { signal }) => {
      const told = await ask(adapter, contextFor(signal));
      expectEqual(JSON.parse(JSON.stringify(told)), told, 'the answer after a round trip through JSON');
    }),
    usageCase('usage that is not reported is not invented', {}, undefined),
    usageCase('a usage of zero is zero', { inputTokens: 0 }, 0),
    ...SERVER_FAILURES.map(({ reasons, ...failure }) =>
      testOf(`${verb}: status ${failure.status}`, { kind: 'failure', ...failure, message: 'The cat sat on it.' }, async (test, watched) => {
        const error = await failureOf(ask(test.adapter, contextFor(watched.signal)), reasons, `status ${failure.status}`);
        expectEqual([error.status, error.retryable], [failure.status, failure.retryable], 'status and retryable');
        if ('retryAfterMs' in failure) expectEqual(error.retryAfterMs, failure.retryAfterMs, 'retryAfterMs');
        expectThat(error.message.includes('The cat sat on it.'), `the server's own words are missing in "${error.message}"`);
        expectEqual([test.requests(), watched.listeners], [1, 0], 'requests sent and listeners left');
      }),
    ),
    testOf(`${verb}: a signal that was aborted before sends nothing`, good, async (test, watched) => {
      const reason = { why: 'any value' };
      watched.abort(reason);
      const thrown = await thrownBy(ask(test.adapter, contextFor(watched.signal)), 'an aborted signal did not throw');
      expectThat(thrown === reason, 'an abort must throw the reason of the signal itself');
      expectEqual(test.requests(), 0, 'the number of requests');
    }),
    testOf(`${verb}: an abort while the server is silent`, { kind: 'silent' }, async (test, watched) => {
      const reason = { why: 'any value' };
      const asking = thrownBy(ask(test.adapter, contextFor(watched.signal)), 'an abort did not throw');
      asking.catch(() => {});
      await eventually(() => test.requests() === 1, 'no request came');
      watched.abort(reason);
      expectThat((await asking) === reason, 'an abort must throw the reason of the signal itself');
      await eventually(() => (test.open?.() ?? 0) === 0, 'the connection stays open after an abort');
    }),
  ];
}

/** A case in which an engine, which checks every answer, must find this one complete. */
export function expectCompleted(outcome: { readonly status: string; readonly error?: Error }): void {
  expectThat(outcome.status === 'completed', `the engine found it ${outcome.status}${outcome.error ? `: ${outcome.error.message}` : ''}`);
}
