import { getEventListeners } from 'node:events';
import { type AdapterEvent, type ChatAdapter, createEngine, createSession, EventStream, type StreamEvent } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collect, plainTool, settled, setUp } from './support.js';

/** A model that counts what is pulled from it, and knows when it was closed. */
function counted(total = 1000) {
  const seen = { pulled: 0, opened: 0, closed: 0 };
  const chat: ChatAdapter = {
    provider: 'counted',
    model: 'counted',
    async *stream(): AsyncGenerator<AdapterEvent> {
      seen.opened++;
      try {
        for (let i = 0; i < total; i++) {
          seen.pulled++;
          yield { type: 'text_delta', index: 0, delta: 'x' };
        }
        yield { type: 'message_end', finishReason: 'stop', usage: {} };
      } finally {
        seen.closed++;
      }
    },
  };
  return { seen, engine: createEngine({ chat }) };
}

describe('driving a stream', () => {
  test('nothing is sent before somebody reads', async () => {
    const { seen, engine } = counted();
    engine.stream('Hi');
    await new Promise(setImmediate);
    expect(seen.opened).toBe(0);
  });

  test('awaiting the outcome drives it, once', async () => {
    const { seen, engine } = counted(3);
    const stream = engine.stream('Hi');
    const [first, second] = await Promise.all([stream.outcome, stream.outcome]);
    expect(first).toBe(second);
    expect(await stream.outcome).toBe(first);
    expect(first).toMatchObject({ status: 'completed', text: 'xxx' });
    expect(seen).toEqual({ pulled: 3, opened: 1, closed: 1 });
  });

  test('a loop that begins after `outcome` was taken reads it all', async () => {
    const { seen, engine } = counted(3);
    const stream = engine.stream('Hi');
    const outcome = stream.outcome;
    const events = await collect(stream);
    expect(events.at(-1)).toEqual({ type: 'end', outcome: await outcome });
    expect(seen.opened).toBe(1);
  });

  test.each<readonly [string, (stream: EventStream) => Promise<unknown>]>([
    ['was read', stream => collect(stream)],
    ['was drained', stream => stream.outcome],
    [
      'was left',
      async stream => {
        for await (const _ of stream) break;
      },
    ],
    [
      'is being read',
      async stream => {
        await stream[Symbol.asyncIterator]().next();
      },
    ],
  ])('a stream that %s cannot be read again', async (_, use) => {
    const stream = counted(3).engine.stream('Hi');
    await use(stream);
    expect(() => stream[Symbol.asyncIterator]()).toThrow(TypeError);
    await expect(collect(stream)).rejects.toThrow(/read already/);
  });

  test('a slow reader pulls no more than it asks for', async () => {
    const { seen, engine } = counted();
    let read = 0;
    for await (const event of engine.stream('Hi')) {
      if (event.type !== 'text_delta') continue;
      read++;
      await new Promise(setImmediate);
      expect(seen.pulled).toBeLessThanOrEqual(read + 1);
      if (read === 20) break;
    }
    expect(seen.pulled).toBeLessThanOrEqual(21);
  });

  test('only the text', async () => {
    const { engine } = setUp([{ reasoning: 'Hm.', chunks: ['Hel', 'lo'], toolCalls: [{ name: 'works' }] }, 'Bye'], {
      tools: [plainTool('works', () => 'done')],
    });
    const stream = engine.stream('Hi');
    const texts: string[] = [];
    for await (const text of stream.textStream) texts.push(text);
    expect(texts).toEqual(['Hel', 'lo', 'Bye']);
    expect(await stream.outcome).toMatchObject({ status: 'completed', text: 'Bye' });
  });
});

describe('leaving a stream', () => {
  const readers: readonly (readonly [string, (stream: EventStream) => AsyncIterable<unknown>])[] = [
    ['events', stream => stream],
    ['text', stream => stream.textStream],
  ];
  test.each(readers)('break while reading %s closes the request and gives what arrived', async (_, read) => {
    const { seen, engine } = counted();
    const stream = engine.stream('Hi');
    let count = 0;
    for await (const _ of read(stream)) if (++count === 3) break;
    expect(seen.closed).toBe(1);
    expect(await stream.outcome).toMatchObject({ status: 'interrupted', reason: 'aborted', text: 'xxx', message: { interrupted: true } });
  });

  test('an error of the reader closes the request too', async () => {
    const { seen, engine } = counted();
    const stream = engine.stream('Hi');
    await expect(
      (async () => {
        for await (const _ of stream) throw new Error('mine');
      })(),
    ).rejects.toThrow('mine');
    expect(seen.closed).toBe(1);
    expect(await stream.outcome).toMatchObject({ reason: 'aborted' });
  });

  test('return() while a pull is waiting ends it', async () => {
    for (const from of ['engine', 'session'] as const) {
      const { clock, engine } = setUp([{ text: 'late', firstTokenMs: 10_000 }]);
      const stream = from === 'engine' ? engine.stream('Hi') : createSession({ engine }).stream('Hi');
      const iterator = stream[Symbol.asyncIterator]();
      const pull = iterator.next();
      await clock.advance(1);
      await iterator.return?.();
      await pull;
      expect(await stream.outcome).toMatchObject({ reason: 'aborted' });
      expect([clock.now(), clock.pending]).toEqual([1, 0]);
    }
  });

  test('after the end, leaving changes nothing', async () => {
    const stream = setUp(['Hi']).engine.stream('Hi');
    for await (const event of stream) if (event.type === 'end') break;
    expect(await stream.outcome).toMatchObject({ status: 'completed', text: 'Hi' });
  });
});

describe('nobody listens', () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  beforeEach(() => {
    rejections.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(() => {
    process.off('unhandledRejection', note);
  });

  test('a failure that nobody awaits takes nothing down', async () => {
    const { engine } = setUp(
      [new Error('down'), { text: 'a', error: new Error('down') }, { toolCalls: [{ name: 'breaks' }] }, new Error('down')],
      {
        retry: false,
        tools: [plainTool('breaks', () => Promise.reject(new Error('broken')))],
      },
    );
    for (let i = 0; i < 3; i++) {
      const stream = engine.stream('Hi');
      void stream.outcome;
      await new Promise(setImmediate);
    }
    const broken = new EventStream(
      (async function* (): AsyncGenerator<StreamEvent, void> {
        yield { type: 'message_start' };
        throw new Error('a bug of ours');
      })(),
      () => {},
    );
    void broken.outcome;
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(rejections).toEqual([]);
    await expect(broken.outcome).rejects.toThrow('a bug of ours');
  });
});

describe('60 calls on one signal', () => {
  test('leave no listener', async () => {
    const stop = new AbortController();
    const { clock, engine } = setUp(
      Array.from({ length: 40 }, (_, i) => [{ toolCalls: [{ name: 'works' }] }, i % 2 ? 'Fine' : new Error('down')]).flat(),
      { retry: false, tools: [plainTool('works', () => 'done')] },
    );
    const calls = Array.from({ length: 60 }, async (_, i) => {
      const options = { signal: stop.signal, timeoutMs: 1000 };
      if (i % 3 === 0) return engine.chat('Hi', options);
      if (i % 3 === 1) return createSession({ engine }).send('Hi', options);
      for await (const _ of engine.stream('Hi', options)) break;
      return undefined;
    });
    await settled(clock, Promise.all(calls));
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('streams that are never read leave none either', () => {
    const stop = new AbortController();
    const { engine } = { engine: createEngine({ chat: scripted([]) }) };
    for (let i = 0; i < 60; i++) {
      engine.stream('Hi', { signal: stop.signal });
      createSession({ engine }).stream('Hi', { signal: stop.signal });
    }
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});
