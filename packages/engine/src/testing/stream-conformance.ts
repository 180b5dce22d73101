// The rules that hold for every adapter verb that streams.
import type { AdapterContext } from '../adapters/chat.js';
import { sleep, systemClock } from '../clock.js';
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
import type { MakeAdapter } from './request-conformance.js';

/**
 * What the provider's server does with a stream: it says `answer`, and then `complete`: that this is all; `lost`: the connection breaks;
 * `open`: nothing more comes. Or it fails before all that.
 */
export type StreamScenario<Answer> =
  | { readonly kind: 'stream'; readonly answer: Answer; readonly ends: 'complete' | 'lost' | 'open' }
  | { readonly kind: 'failure'; readonly status: number; readonly message: string; readonly retryAfterMs?: number };

/** `ask` opens a stream; `first` and `last` are the types of its first and last events, `content` one of those between. */
export function streamCases<Adapter, Answer>(
  make: MakeAdapter<Adapter, StreamScenario<Answer>>,
  about: { readonly verb: string; readonly first: string; readonly content: string; readonly last: string; readonly answer: Answer },
  ask: (adapter: Adapter, context: AdapterContext) => AsyncIterable<{ readonly type: string }>,
): ConformanceCase[] {
  const { verb, first, content, last, answer } = about;
  const testOf = caseMaker(make);
  const whole: StreamScenario<Answer> = { kind: 'stream', answer, ends: 'complete' };
  const read = async (source: AsyncIterable<{ readonly type: string }>, types: string[] = []) => {
    for await (const event of source) types.push(event.type);
    return types;
  };
  return [
    testOf(`${verb}: nothing is sent before the iteration begins, then one request`, whole, async (test, { signal }) => {
      const source = ask(test.adapter, contextFor(signal));
      await sleep(systemClock, 1);
      expectEqual(test.requests(), 0, 'the number of requests before the iteration');
      await read(source);
      expectEqual(test.requests(), 1, 'the number of requests');
    }),
    testOf(`${verb}: ${first} comes first, ${last} last`, whole, async (test, watched) => {
      const types = (await read(ask(test.adapter, contextFor(watched.signal)))).filter(type => type !== 'warning');
      expectEqual(
        [types[0], types.at(-1), types.includes(content)],
        [first, last, true],
        `first and last event, and ${content} between them`,
      );
      expectEqual(types.filter(type => type === first || type === last).length, 2, `the number of ${first} and ${last}`);
      expectEqual(watched.listeners, 0, 'the number of listeners left on the signal');
    }),
    testOf(`${verb}: a lost connection throws`, { kind: 'stream', answer, ends: 'lost' }, async (test, { signal }) => {
      const types: string[] = [];
      const reading = read(ask(test.adapter, contextFor(signal)), types);
      const error = await failureOf(reading, ['network_error', 'truncated'], 'a lost connection');
      expectThat(!(types.includes(content) && error.retryable), 'an answer that was shown in part is said to be retryable');
      expectThat(!types.includes(last), `${last} came although the connection was lost`);
    }),
    ...SERVER_FAILURES.map(({ reasons, ...failure }) =>
      testOf(`${verb}: status ${failure.status}`, { kind: 'failure', ...failure, message: 'The cat sat on it.' }, async (test, watched) => {
        const reading = read(ask(test.adapter, contextFor(watched.signal)));
        const error = await failureOf(reading, reasons, `status ${failure.status}`);
        expectEqual([error.status, error.retryable], [failure.status, failure.retryable], 'status and retryable');
        expectThat(error.message.includes('The cat sat on it.'), `the server's own words are missing in "${error.message}"`);
      }),
    ),
    testOf(`${verb}: a signal that was aborted before sends nothing`, whole, async (test, watched) => {
      const reason = { why: 'any value' };
      watched.abort(reason);
      const thrown = await thrownBy(read(ask(test.adapter, contextFor(watched.signal))), 'an aborted signal did not throw');
      expectThat(thrown === reason, 'an abort must throw the reason of the signal itself');
      expectEqual(test.requests(), 0, 'the number of requests');
    }),
    testOf(`${verb}: an abort in the middle`, { kind: 'stream', answer, ends: 'open' }, async (test, watched) => {
      const reason = { why: 'any value' };
      let late = 0;
      const reading = async () => {
        const iterator = ask(test.adapter, contextFor(watched.signal))[Symbol.asyncIterator]();
        for (;;) {
          // What was asked for before the abort may still come.
          const { aborted } = watched.signal;
          const { done, value } = await iterator.next();
          if (done) return;
          if (aborted) late++;
          if (value.type === content) watched.abort(reason);
        }
      };
      expectThat((await thrownBy(reading(), 'an abort did not throw')) === reason, 'an abort must throw the reason of the signal itself');
      expectEqual(late, 0, 'the number of events after the abort');
      await eventually(() => (test.open?.() ?? 0) === 0, 'the connection stays open after an abort');
    }),
    testOf(`${verb}: leaving the iteration closes the request`, { kind: 'stream', answer, ends: 'open' }, async (test, watched) => {
      for await (const event of ask(test.adapter, contextFor(watched.signal))) if (event.type === content) break;
      await eventually(() => (test.open?.() ?? 0) === 0, 'the connection stays open after the reader has left');
      expectEqual(watched.listeners, 0, 'the number of listeners left on the signal');
    }),
  ];
}
