import type { ChatRequest } from '../adapters/chat.js';
import { sleep, systemClock } from '../clock.js';
import { user } from '../data/messages.js';
import type { ToolCall } from '../data/parts.js';
import { createEngine } from '../engine.js';
import type { AdapterEvent } from '../events/events.js';
import type { FinishReason } from '../events/finish.js';
import { checkChatEvents } from './chat-events.js';
import type { ChatScenario, ChatUnderTest, MakeChatAdapter } from './chat-scenario.js';
import {
  type ConformanceCase,
  caseMaker,
  contextFor,
  eventually,
  expectEqual,
  expectThat,
  failureOf,
  frozen,
  SERVER_FAILURES,
  thrownBy,
  violation,
  type WatchedSignal,
} from './conformance.js';

const HELLO: ChatRequest = frozen({ messages: [user('Say hello.')] });
const TOOLS: ChatRequest = frozen({
  ...HELLO,
  tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: {} } }],
});
const TEXT: ChatScenario = {
  text: ['Good ', 'day, ', 'all.'],
  finish: 'stop',
  usage: { inputTokens: 11, outputTokens: 4 },
  ends: 'complete',
};
const ADD = { id: 'call_1', name: 'add', rawArguments: '{"a":1,"b":[2,{"c":"ü\\n"}]}' };
const calls = (...toolCalls: ChatScenario['toolCalls'] & object): ChatScenario => ({ toolCalls, finish: 'tool_calls', ends: 'complete' });

/** Reads one answer; the events that came stand in `events` even when it throws. */
async function readInto(events: AdapterEvent[], { adapter }: ChatUnderTest, request: ChatRequest, watched: WatchedSignal): Promise<void> {
  for await (const event of adapter.stream(request, contextFor(watched.signal))) events.push(event);
}

const textOf = (events: readonly AdapterEvent[]) => events.map(event => (event.type === 'text_delta' ? event.delta : '')).join('');
const callsOf = (events: readonly AdapterEvent[]): ToolCall[] => events.flatMap(event => (event.type === 'tool_call' ? [event.call] : []));

/**
 * The contract of `ChatAdapter.stream` as cases for any test runner.
 *
 * ```ts
 * for (const { name, run } of adapterConformance(scenario => ({ adapter: myChat({ fetch: server(scenario) }), requests }))) test(name, run);
 * ```
 */
export function adapterConformance(makeAdapter: MakeChatAdapter): ConformanceCase[] {
  const testOf = caseMaker(makeAdapter);
  /** The whole answer, checked for its shape. */
  const answerOf = (name: string, scenario: ChatScenario, check: (events: readonly AdapterEvent[]) => void, request = TOOLS) =>
    testOf(name, scenario, async (test, watched) => {
      const events: AdapterEvent[] = [];
      await readInto(events, test, request, watched);
      checkChatEvents(events);
      expectEqual(JSON.parse(JSON.stringify(events)), events, 'the answer after a round trip through JSON');
      check(events);
    });
  const endOf = (events: readonly AdapterEvent[]) => {
    const end = events.find(event => event.type === 'message_end');
    if (end?.type !== 'message_end') throw violation('there is no message_end');
    return end;
  };
  const finishes = (scenario: ChatScenario, finish: FinishReason) =>
    answerOf(`finish reason ${finish}`, scenario, events => expectEqual(endOf(events).finishReason, finish, 'the finish reason'));

  return [
    testOf('it names its provider and its model', TEXT, async ({ adapter }) => {
      expectThat(
        [adapter.provider, adapter.model].every(name => typeof name === 'string' && name !== ''),
        'provider or model is empty',
      );
    }),
    testOf('nothing is sent before the iteration begins, then one request', TEXT, async (test, watched) => {
      const source = test.adapter.stream(HELLO, contextFor(watched.signal));
      await sleep(systemClock, 1);
      expectEqual(test.requests(), 0, 'the number of requests before the iteration');
      for await (const _ of source);
      expectEqual(test.requests(), 1, 'the number of requests');
    }),
    answerOf('text comes as it is sent', TEXT, events => expectEqual(textOf(events), 'Good day, all.', 'the text'), HELLO),
    answerOf('an empty answer is an answer', { finish: 'stop', text: [''], ends: 'complete' }, events =>
      expectEqual(textOf(events), '', 'the text'),
    ),
    answerOf('reasoning is not text', { ...TEXT, reasoning: ['Hm. ', 'Well.'] }, events => {
      const reasoning = events.map(event => (event.type === 'reasoning_delta' ? event.delta : '')).join('');
      expectEqual([reasoning, textOf(events)], ['Hm. Well.', 'Good day, all.'], 'reasoning and text');
    }),
    answerOf('a tool call has its parsed arguments', calls(ADD), events => {
      const [call] = callsOf(events);
      expectEqual([call?.name, call?.arguments, call?.invalid], ['add', { a: 1, b: [2, { c: 'ü\n' }] }, undefined], 'the call');
    }),
    answerOf('text and two calls', { ...calls(ADD, { ...ADD, id: 'call_2', rawArguments: '{}' }), text: ['So:'] }, events => {
      expectEqual(
        [textOf(events), callsOf(events).map(call => call.arguments)],
        ['So:', [{ a: 1, b: [2, { c: 'ü\n' }] }, {}]],
        'text and arguments',
      );
    }),
    answerOf('two calls with one id, and one without, get ids of their own', calls(ADD, ADD, { name: 'add', rawArguments: '{}' }), events =>
      expectEqual(new Set(callsOf(events).map(({ id }) => id)).size, 3, 'the number of distinct ids'),
    ),
    answerOf('no arguments are no fault', calls({ ...ADD, rawArguments: '' }), events =>
      expectEqual(
        callsOf(events).map(call => [call.arguments, call.invalid]),
        [[{}, undefined]],
        'the call',
      ),
    ),
    answerOf('arguments that are no JSON are marked', calls({ ...ADD, rawArguments: '{"a":x}' }), events =>
      expectEqual(
        callsOf(events).map(call => call.invalid?.reason),
        ['invalid_json'],
        'what is wrong with the call',
      ),
    ),
    answerOf('a call that was cut off is marked', { ...calls({ ...ADD, rawArguments: '{"a":' }), finish: 'length' }, events =>
      expectEqual(
        callsOf(events).map(call => call.invalid?.reason),
        ['truncated'],
        'what is wrong with the call',
      ),
    ),
    answerOf(
      'hostile names are only names',
      calls({ id: '__proto__', name: 'constructor', rawArguments: '{"__proto__":{"hostile":1}}' }),
      events => {
        expectEqual(
          callsOf(events).map(({ name }) => name),
          ['constructor'],
          'the name',
        );
        expectThat(Object.hasOwn(callsOf(events)[0]?.arguments ?? {}, '__proto__'), 'an argument was lost');
        expectThat(!('hostile' in {}), 'an argument reached Object.prototype');
      },
    ),
    finishes(TEXT, 'stop'),
    finishes({ ...TEXT, finish: 'length' }, 'length'),
    finishes(calls(ADD), 'tool_calls'),
    answerOf('usage is told', TEXT, events => {
      const { inputTokens, outputTokens } = endOf(events).usage;
      expectEqual([inputTokens, outputTokens], [11, 4], 'the usage');
    }),
    answerOf('a usage of zero is zero', { ...TEXT, usage: { inputTokens: 0, outputTokens: 0 } }, events => {
      const { inputTokens, outputTokens } = endOf(events).usage;
      expectEqual([inputTokens, outputTokens], [0, 0], 'the usage');
    }),
    answerOf('usage that is not reported is not invented', { text: ['Hi'], finish: 'stop', ends: 'complete' }, events => {
      const { inputTokens, outputTokens } = endOf(events).usage;
      expectThat(inputTokens === undefined && outputTokens === undefined, 'tokens were reported that the server never counted');
    }),
    ...SERVER_FAILURES.map(failure =>
      testOf(`status ${failure.status}`, { ...TEXT, failure: { ...failure, message: 'The cat sat on it.' } }, async (test, watched) => {
        const error = await failureOf(readInto([], test, HELLO, watched), failure.reasons, `status ${failure.status}`);
        expectEqual([error.status, error.retryable], [failure.status, failure.retryable], 'status and retryable');
        if ('retryAfterMs' in failure) expectEqual(error.retryAfterMs, failure.retryAfterMs, 'retryAfterMs');
        expectThat(error.message.includes('The cat sat on it.'), `the server's own words are missing in "${error.message}"`);
        expectEqual([test.requests(), watched.listeners], [1, 0], 'requests sent and listeners left');
      }),
    ),
    testOf('an answer without its end is truncated', { ...TEXT, ends: 'cut' }, async (test, watched) => {
      const events: AdapterEvent[] = [];
      await failureOf(readInto(events, test, HELLO, watched), ['truncated'], 'an answer without its end');
      checkChatEvents(events, true);
      expectEqual([textOf(events), watched.listeners], ['Good day, all.', 0], 'the text that arrived, and the listeners left');
    }),
    testOf(
      'a lost connection throws, and is not to be tried again once something was shown',
      { ...TEXT, ends: 'lost' },
      async (test, watched) => {
        const events: AdapterEvent[] = [];
        const error = await failureOf(readInto(events, test, HELLO, watched), ['network_error', 'truncated'], 'a lost connection');
        checkChatEvents(events, true);
        expectEqual([textOf(events) === '', error.retryable], [error.retryable, error.retryable], 'nothing shown, and retryable');
      },
    ),
    testOf('a signal that was aborted before sends nothing', TEXT, async (test, watched) => {
      const reason = { why: 'any value' };
      watched.abort(reason);
      const thrown = await thrownBy(readInto([], test, HELLO, watched), 'an aborted signal did not throw');
      expectThat(thrown === reason, 'an abort must throw the reason of the signal itself');
      expectEqual(test.requests(), 0, 'the number of requests');
    }),
    ...(['before the first event', 'in the middle'] as const).map(when =>
      testOf(
        `an abort ${when}`,
        { ...TEXT, text: when === 'in the middle' ? ['Good ', 'day'] : [], ends: 'open' },
        async (test, watched) => {
          const reason = { why: 'any value' };
          let late = 0;
          const read = async () => {
            const iterator = test.adapter.stream(HELLO, contextFor(watched.signal))[Symbol.asyncIterator]();
            for (;;) {
              // What was asked for before the abort may still come.
              const { aborted } = watched.signal;
              const { done, value } = await iterator.next();
              if (done) return;
              if (aborted) late++;
              if (value.type === 'text_delta') watched.abort(reason);
            }
          };
          const reading = thrownBy(read(), 'an abort did not throw');
          reading.catch(() => {});
          if (when === 'before the first event') {
            await eventually(() => test.requests() === 1, 'no request came');
            watched.abort(reason);
          }
          expectThat((await reading) === reason, 'an abort must throw the reason of the signal itself');
          expectEqual(late, 0, 'the number of events after the abort');
          await eventually(() => (test.open?.() ?? 0) === 0, 'the connection stays open after an abort');
        },
      ),
    ),
    testOf('an abort after the end changes nothing', TEXT, async (test, watched) => {
      const events: AdapterEvent[] = [];
      await readInto(events, test, HELLO, watched);
      watched.abort(new Error('too late'));
      await sleep(systemClock, 1);
      checkChatEvents(events);
    }),
    testOf('leaving the iteration closes the request', { ...TEXT, ends: 'open' }, async (test, watched) => {
      for await (const event of test.adapter.stream(HELLO, contextFor(watched.signal))) if (event.type === 'text_delta') break;
      await eventually(() => (test.open?.() ?? 0) === 0, 'the connection stays open after the reader has left');
      expectEqual(watched.listeners, 0, 'the number of listeners left on the signal');
    }),
    testOf('many calls leave no listener on the signal', TEXT, async (test, watched) => {
      for (let i = 0; i < 20; i++) await readInto([], test, HELLO, watched);
      expectEqual([watched.listeners, test.requests()], [0, 20], 'listeners left and requests sent');
    }),
    testOf('two answers at once do not disturb each other', TEXT, async (test, watched) => {
      const [a, b]: [AdapterEvent[], AdapterEvent[]] = [[], []];
      await Promise.all([readInto(a, test, HELLO, watched), readInto(b, test, HELLO, watched)]);
      for (const events of [a, b]) checkChatEvents(events);
      expectEqual([textOf(a), textOf(b)], ['Good day, all.', 'Good day, all.'], 'the two texts');
    }),
    testOf('a reader that stops holds the server back', { ...TEXT, text: ['x'.repeat(4000)], ends: 'endless' }, async (test, watched) => {
      const iterator = test.adapter.stream(HELLO, contextFor(watched.signal))[Symbol.asyncIterator]();
      for (let i = 0; i < 5; i++) await iterator.next();
      let before = -1;
      for (let still = 0; still < 25; ) {
        await sleep(systemClock, 1);
        const now = test.sent?.() ?? 0;
        still = now === before ? still + 1 : 0;
        before = now;
        expectThat(now < 5000, `the server could send ${now} pieces of 4 kB while nobody read`);
      }
      await iterator.return?.();
    }),
    testOf('an engine tells the same of it, whole or streamed', TEXT, async test => {
      const engine = createEngine({ chat: test.adapter, retry: false });
      const stream = engine.streamGenerate('Say hello.', { requestId: 'same' });
      for await (const _ of stream);
      const outcome = await stream.outcome;
      expectEqual([outcome.status, outcome.text], ['completed', 'Good day, all.'], 'the outcome');
      const { responseId: _a, ...whole } = await engine.generate('Say hello.', { requestId: 'same' });
      const { responseId: _b, ...streamed } = outcome;
      expectEqual(
        JSON.parse(JSON.stringify(whole, withoutIds)),
        JSON.parse(JSON.stringify(streamed, withoutIds)),
        'the outcome of generate',
      );
    }),
  ];
}

function withoutIds(key: string, value: unknown): unknown {
  return key === 'responseId' ? undefined : value;
}
