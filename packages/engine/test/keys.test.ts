import { AdapterError, type ChatAdapter, createEngine, redact, type StreamEvent, unwrap } from '@antiphon/engine';
import { describe, expect, test } from 'vitest';
import { collect } from './support.js';

const KEY = 'sk-tenant/secret+0123';

/** A model that asks the engine for its key and then says it wherever it can. */
function leaky(then: 'answers' | 'fails' = 'answers'): ChatAdapter {
  return {
    provider: 'leaky',
    model: 'l',
    async *stream(_, { apiKey }) {
      const key = await apiKey?.('leaky');
      yield { type: 'warning', warning: { code: 'other', message: `Sent with ${key}.` } };
      yield { type: 'raw', value: { headers: { authorization: `Bearer ${key}` }, list: [1, encodeURIComponent(String(key))] } };
      if (then === 'fails') {
        const inner = Object.assign(new Error(`header ${key}`), { headers: new Headers({ 'x-key': String(key) }) });
        throw new AdapterError('authentication_failed', `Wrong key ${key}`, {
          cause: new Error(`outer ${btoa(String(key))}`, { cause: inner }),
        });
      }
      yield { type: 'message_start' };
      yield { type: 'text_delta', index: 0, delta: 'ok' };
      yield { type: 'text_end', index: 0, text: 'ok' };
      yield { type: 'message_end', finishReason: 'stop', usage: {} };
    },
  };
}

/** Everything that can be read in a value, errors and their causes too. */
function allText(value: unknown): string {
  if (value instanceof Headers) return [...value].flat().join(' ');
  if (value instanceof Error) return [value.message, value.stack, ...Object.values(value).map(allText), allText(value.cause)].join(' ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(allText).join(' ');
}

describe('keys', () => {
  test('each call has the key of its own tenant', async () => {
    const asked: unknown[] = [];
    const got: unknown[] = [];
    const chat: ChatAdapter = {
      ...leaky(),
      async *stream(request, context) {
        got.push(await context.apiKey?.('openai'));
        yield* leaky().stream(request, context);
      },
    };
    const engine = createEngine({
      chat,
      keys: async (provider, info) => {
        asked.push([provider, info]);
        return `key of ${(info.context as { id: string }).id}`;
      },
    });
    await Promise.all(['a', 'b'].map(id => engine.chat('Hi', { context: { id }, requestId: `r-${id}`, sessionId: `s-${id}` })));
    expect(got.sort()).toEqual(['key of a', 'key of b']);
    expect(asked).toContainEqual(['openai', { context: { id: 'a' }, requestId: 'r-a', sessionId: 's-a' }]);
  });

  test('an engine without keys offers none, and nobody is asked before the first request', async () => {
    let asked = 0;
    const engine = createEngine({
      chat: leaky(),
      keys: () => {
        asked++;
        return KEY;
      },
    });
    const stream = engine.stream('Hi');
    expect(asked).toBe(0);
    await stream.outcome;
    expect(asked).toBe(1);
    expect(await engine.chat('Hi', { signal: AbortSignal.abort() })).toMatchObject({ status: 'interrupted' });
    expect(asked).toBe(1);
    let offered: unknown = 'nothing yet';
    const curious: ChatAdapter = {
      ...leaky(),
      stream: (request, context) => {
        offered = context.apiKey;
        return leaky().stream(request, context);
      },
    };
    await createEngine({ chat: curious }).chat('Hi');
    expect(offered).toBeUndefined();
  });

  test.each(['answers', 'fails'] as const)('a key is in no event, outcome or error of a call that %s', async then => {
    const told: unknown[] = [];
    const engine = createEngine({
      chat: leaky(then),
      keys: () => ` ${KEY}\n`,
      middleware: [
        {
          async *stream(events) {
            for await (const event of events) {
              told.push(event);
              yield event;
            }
          },
        },
      ],
      telemetry: { run: () => ({ event: event => void told.push(event), request: (...about) => void told.push(about) }) },
    });
    const stream = engine.stream('Hi', { raw: true });
    const events: StreamEvent[] = await collect(stream);
    const outcome = await stream.outcome;
    const everything = allText([events, outcome, told]);
    for (const form of [KEY, encodeURIComponent(KEY), btoa(KEY)]) expect(everything).not.toContain(form);
    expect(everything).toContain('[redacted]');
    if (then === 'fails') expect(() => unwrap(outcome)).toThrow(/^Wrong key\s+\[redacted\]\s*$/);
  });

  test('keys must be a function', () => {
    expect(() => createEngine({ keys: 'sk-1' as never })).toThrow(expect.objectContaining({ reason: 'invalid_option' }));
  });
});

describe('redact', () => {
  test.each<readonly [string, unknown, unknown]>([
    ['a text', `Bearer ${KEY}`, 'Bearer [redacted]'],
    ['URL-escaped', `?key=${encodeURIComponent(KEY)}`, '?key=[redacted]'],
    ['an object', { a: [{ [KEY]: 1, b: KEY }] }, { a: [{ '[redacted]': 1, b: '[redacted]' }] }],
    ['a hostile key', JSON.parse(`{"__proto__":{"a":"${KEY}"}}`), JSON.parse('{"__proto__":{"a":"[redacted]"}}')],
    ['numbers and nothing', [1, null, undefined, true], [1, null, undefined, true]],
  ])('%s', (_, value, expected) => expect(redact(value, [KEY])).toEqual(expected));

  test('what holds no secret stays the same value', () => {
    const value = { a: [{ b: 'x' }] };
    expect(redact(value, [KEY])).toBe(value);
  });

  test('errors are cleaned where they stand, in circles too', () => {
    const error = Object.assign(new Error(KEY), { self: undefined as unknown, body: { token: KEY } });
    error.self = error;
    expect(redact(error, [KEY])).toBe(error);
    expect(allText({ ...error, self: 0 }) + error.message + error.stack).not.toContain(KEY);
    expect(redact(Object.freeze(new Error(KEY)), [KEY]).message).toBe('[redacted]');
    expect(redact(new DOMException(KEY, 'AbortError'), [KEY]).message).toBe('[redacted]');
  });
});
