import {
  AdapterError,
  type AdapterEvent,
  type ChatRequest,
  createEngine,
  foldEvents,
  type Middleware,
  type StreamEvent,
  user,
} from '@antiphon/engine';
import { type ScriptedTurn, scripted, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calls, collect, plainTool, settled } from './support.js';

function setUp(turns: readonly ScriptedTurn[], middleware: readonly Middleware[], more = {}) {
  const clock = virtualClock();
  const chat = scripted(turns);
  return { clock, chat, engine: createEngine({ chat, clock, middleware, ...more }) };
}

/** Writes its letter at the end of the question and around each word of the answer. */
function marks(letter: string): Middleware {
  return {
    request: request => ({
      ...request,
      messages: [...request.messages.slice(0, -1), user(`${request.messages.at(-1)?.content}${letter}`)],
    }),
    async *stream(events) {
      for await (const event of events) {
        if (event.type === 'text_delta') yield { ...event, delta: `${letter}(${event.delta})` };
        else if (event.type === 'text_end') yield { ...event, text: `${letter}(${event.text})` };
        else yield event;
      }
    },
  };
}

describe('middleware', () => {
  test('the first is the outermost', async () => {
    const { chat, engine } = setUp(['Hi'], [marks('a'), marks('b')]);
    expect(await engine.chat('?')).toMatchObject({ status: 'completed', text: 'a(b(Hi))' });
    expect(chat.requests[0]?.messages).toEqual([user('?ab')]);
  });

  test('is told about the call', async () => {
    const infos: unknown[] = [];
    const { engine } = setUp(
      ['Hi'],
      [
        {
          request: (request, info) => {
            infos.push({ ...info, signal: info.signal instanceof AbortSignal });
            return request;
          },
        },
      ],
    );
    await engine.chat('?', { requestId: 'r', sessionId: 's', context: { tenant: 1 }, model: 'm' });
    expect(infos).toEqual([{ provider: 'scripted', model: 'm', requestId: 'r', sessionId: 's', context: { tenant: 1 }, signal: true }]);
  });

  test('stands around each call and each try, not around tools', async () => {
    const seen: number[] = [];
    const count: Middleware = {
      request: async request => {
        seen.push(request.messages.length);
        return request;
      },
    };
    const busy = new AdapterError('rate_limited', 'Busy.', { retryable: true, retryAfterMs: 1 });
    const { clock, engine } = setUp([busy, calls('works'), 'Fine'], [count], { tools: [plainTool('works', () => 1)] });
    expect(await settled(clock, engine.chat('?'))).toMatchObject({ text: 'Fine' });
    expect(seen).toEqual([1, 1, 3]);
  });

  test('may answer by itself, without a request', async () => {
    const cached: AdapterEvent[] = [
      { type: 'message_start' },
      { type: 'text_delta', index: 0, delta: 'Known.' },
      { type: 'text_end', index: 0, text: 'Known.' },
      { type: 'message_end', finishReason: 'stop', usage: {} },
    ];
    const { chat, engine } = setUp(
      [],
      [
        {
          async *stream() {
            yield* cached;
          },
        },
      ],
    );
    expect(await engine.chat('?')).toMatchObject({ status: 'completed', text: 'Known.' });
    expect(chat.requests).toHaveLength(0);
  });

  const broken = new Error('It broke.');
  const fails = () => {
    throw broken;
  };
  test.each<readonly [string, Middleware, string]>([
    ['a request that throws', { request: fails }, 'middleware[1].request failed: It broke.'],
    ['a request that rejects', { request: () => Promise.reject(broken) }, 'middleware[1].request failed: It broke.'],
    ['a request that gives nothing', { request: () => undefined as unknown as ChatRequest }, 'middleware[1].request must return a request'],
    ['a stream that throws at once', { stream: fails }, 'middleware[1].stream failed: It broke.'],
    [
      'a stream that gives no events',
      { stream: () => 5 as unknown as AsyncIterable<AdapterEvent> },
      'middleware[1].stream failed: it must give an async iterable',
    ],
    [
      'a stream that throws later',
      {
        async *stream(events) {
          for await (const event of events) {
            yield event;
            fails();
          }
        },
      },
      'middleware[1].stream failed: It broke.',
    ],
    ['one with a name', { name: 'logger', request: fails }, 'logger.request failed: It broke.'],
  ])('%s fails the call, with the place', async (_, middleware, message) => {
    const { engine } = setUp(['Hi'], [marks('a'), middleware]);
    const outcome = await engine.chat('?');
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason: expect.stringMatching(/unknown|invalid_request/), retryable: false },
    });
    expect(outcome.status === 'failed' && outcome.error.message).toContain(message);
  });

  test('a failure of the model is the model’s, through all layers', async () => {
    const error = new AdapterError('content_filter', 'No.');
    const { engine } = setUp([error], [marks('a'), marks('b')]);
    const outcome = await engine.chat('?');
    expect(outcome.status === 'failed' && outcome.error).toBe(error);
  });

  test('an error of the family is passed on as it is, and tried again when it says so', async () => {
    let first = true;
    const moody: Middleware = {
      request: request => {
        if (first) {
          first = false;
          throw new AdapterError('provider_unavailable', 'Not now.', { retryable: true, retryAfterMs: 1 });
        }
        return request;
      },
    };
    const { clock, engine } = setUp(['Hi'], [moody]);
    expect(await settled(clock, engine.chat('?'))).toMatchObject({ status: 'completed' });
  });

  test('leaving early closes every layer', async () => {
    const closed: string[] = [];
    const watch = (name: string): Middleware => ({
      async *stream(events) {
        try {
          yield* events;
        } finally {
          closed.push(name);
        }
      },
    });
    const { engine } = setUp([{ chunks: ['a', 'b', 'c'] }], [watch('outer'), watch('inner')]);
    for await (const event of engine.stream('?')) if (event.type === 'text_delta') break;
    expect(closed.sort()).toEqual(['inner', 'outer']);
  });

  test.each([[5], [[5]], [[{}]], [[{ request: 1 }]]])('middleware: %j is refused', middleware => {
    expect(() => createEngine({ middleware: middleware as Middleware[] })).toThrow(expect.objectContaining({ reason: 'invalid_option' }));
  });

  test('layers that change nothing change nothing', async () => {
    const same: Middleware[] = [
      { request: request => request },
      { stream: events => events },
      {
        async *stream(events) {
          yield* events;
        },
      },
    ];
    const script = fc.array(
      fc.oneof(
        fc.string().map(text => ({ text })),
        fc.constant(new AdapterError('network_error', 'Gone.', { retryable: true })),
        fc.constant({ text: 'a', error: new Error('b') }),
      ),
      { minLength: 1, maxLength: 3 },
    ) as fc.Arbitrary<ScriptedTurn[]>;
    const run = async (turns: readonly ScriptedTurn[], middleware: readonly Middleware[], abortAt: number) => {
      const { clock, engine } = setUp(turns, middleware);
      const stop = new AbortController();
      const events: StreamEvent[] = [];
      const stream = engine.stream('?', { requestId: 'r', signal: stop.signal });
      const read = (async () => {
        for await (const event of stream) if (events.push(event) === abortAt) stop.abort();
      })();
      await settled(clock, read);
      expect(clock.pending).toBe(0);
      expect(foldEvents(events, { messages: [user('?')], requestId: 'r' })).toStrictEqual(await stream.outcome);
      return events;
    };
    await fc.assert(
      fc.asyncProperty(script, fc.nat(8), async (turns, abortAt) => {
        expect(await run(turns, same, abortAt)).toStrictEqual(await run(turns, [], abortAt));
      }),
      { numRuns: 200 },
    );
  });

  test('costs nothing when there is none', async () => {
    const { engine, chat } = setUp(['Hi'], []);
    await collect(engine.stream('?'));
    expect(chat.requests).toHaveLength(1);
  });
});
