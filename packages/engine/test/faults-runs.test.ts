// Faults that users report of engines of this kind, beside those of footguns.test.ts: what a run does, and what it leaves behind.
import {
  AdapterError,
  type AdapterEvent,
  audioPart,
  type ChatAdapter,
  createEngine,
  createSession,
  filePart,
  imagePart,
  otelTelemetry,
  type Schema,
  type StreamEvent,
  tool,
} from '@antiphon/engine';
import { scripted, virtualClock } from '@antiphon/engine/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { recorder } from './spans.js';
import { call, calls, collect, deaf, plainTool, resultsOf, settled, setUp } from './support.js';

const works = plainTool('works', () => 'done');

describe('tools', () => {
  test('no tool runs before the answer that calls it is over', async () => {
    const order: string[] = [];
    const whole = { id: 'c', name: 'notes', arguments: {}, rawArguments: '{}' };
    const chat: ChatAdapter = {
      ...scripted([]),
      async *stream(request): AsyncGenerator<AdapterEvent> {
        if (request.messages.length > 1) return yield { type: 'message_end', finishReason: 'stop', usage: {} };
        yield { type: 'tool_call', index: 0, call: whole };
        for (let i = 0; i < 3; i++) await new Promise(setImmediate);
        order.push('the model is done');
        yield { type: 'message_end', finishReason: 'tool_calls', usage: {} };
      },
    };
    await createEngine({ chat, tools: [plainTool('notes', () => order.push('the tool runs'))] }).chat('Hi');
    expect(order).toEqual(['the model is done', 'the tool runs']);
  });

  test('a policy that asked for approval is not asked again, and what was approved runs once', async () => {
    let asked = 0;
    let paid = 0;
    const pay = plainTool('pay', () => ++paid, { approve: () => ++asked > 0 });
    const { engine } = setUp([calls('pay'), calls('works'), 'Paid.', 'And?'], { tools: [pay, works] });
    const session = createSession({ engine });
    await session.send('Pay.');
    expect(await session.approve('pay')).toMatchObject({ status: 'completed', text: 'Paid.' });
    await expect(session.approve('pay')).rejects.toThrow();
    await session.send('Go on.');
    expect([asked, paid]).toEqual([1, 1]);
  });

  test.each<readonly [string, Schema]>([
    ['a format that nobody knows', { type: 'object', properties: { n: { type: 'string', format: 'phone-number' } }, required: ['n'] }],
    ['a keyword that nobody knows', { type: 'object', properties: { n: { type: 'string', 'x-order': 1 } }, required: ['n'] }],
    ['a record', z.object({ n: z.string() }).catchall(z.string())],
    ['a union at the root', z.union([z.object({ n: z.string() }), z.object({ m: z.string() })])],
  ])('a schema with %s is taken', async (_, input) => {
    const ran: unknown[] = [];
    const made = tool({ name: 'takes', description: 'd', input, run: args => ran.push(args) });
    const { chat, engine } = setUp([{ toolCalls: [call('takes', { n: '1' })] }, 'Fine'], { tools: [made] });
    expect(await engine.chat('Hi')).toMatchObject({ status: 'completed', text: 'Fine' });
    expect(ran).toEqual([{ n: '1' }]);
    expect(chat.requests[0]?.tools?.[0]?.inputSchema).toMatchObject({ type: 'object' });
  });

  test('a union of objects is told as one object, and is checked as the union that it is', async () => {
    const input = z.union([z.object({ kind: z.literal('a'), n: z.number() }), z.object({ kind: z.literal('b'), text: z.string() })]);
    const ran: unknown[] = [];
    const either = tool({ name: 'either', description: 'd', input, run: args => ran.push(args) });
    expect(either.inputSchema).toEqual({
      type: 'object',
      properties: {
        kind: {
          anyOf: [
            { type: 'string', const: 'a' },
            { type: 'string', const: 'b' },
          ],
        },
        n: { type: 'number' },
        text: { type: 'string' },
      },
      required: ['kind'],
    });
    const turn = { toolCalls: [call('either', { kind: 'a', text: 'x' }, 'wrong'), call('either', { kind: 'b', text: 'x' }, 'right')] };
    const { engine } = setUp([turn, 'Fine'], { tools: [either] });
    await engine.chat('Hi');
    expect(ran).toEqual([{ kind: 'b', text: 'x' }]);
  });

  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])('a call of %s finds a tool of that name, or none', async name => {
    const own = plainTool(name, () => 'mine');
    for (const tools of [[works], [works, own]]) {
      const { engine } = setUp([calls(name), 'Fine'], { tools });
      const outcome = await engine.chat('Hi');
      expect(outcome).toMatchObject({ status: 'completed', text: 'Fine' });
      expect(resultsOf(outcome)).toEqual([[name, tools.length === 2 ? 'mine' : expect.stringContaining(`no tool "${name}"`)]]);
    }
  });

  test('what a handler does to its arguments does not change what the thread says the model wrote', async () => {
    let kept: { list: number[] } | undefined;
    const keeps = tool({
      name: 'keeps',
      description: 'd',
      input: { type: 'object' },
      run: args => {
        kept = args as { list: number[] };
        kept.list.push(3);
        return 'done';
      },
    });
    const { chat, engine } = setUp([{ toolCalls: [call('keeps', { list: [1, 2] })] }, 'Fine'], { tools: [keeps] });
    const outcome = await engine.chat('Hi');
    kept?.list.push(4);
    expect(JSON.stringify([chat.requests[1]?.messages[1], outcome.messages[1]])).not.toMatch(/\[1,2,3/);
  });
});

describe('stopping', () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  beforeEach(() => {
    rejections.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(() => {
    process.off('unhandledRejection', note);
  });

  test('an abort at any place leaves no rejection that nobody handles, and no promise open', async () => {
    const late = plainTool('late', async (_, { signal }) => {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const busy = new AdapterError('rate_limited', 'Slow down.', { retryable: true, retryAfterMs: 5_000 });
    for (const [turns, tools] of [
      [[{ chunks: ['a', 'b'], perChunkMs: 100 }], []],
      [[{ text: 'late', firstTokenMs: 100 }], []],
      [[busy, 'never'], []],
      [[calls('late')], [late]],
      [[calls('deaf')], [plainTool('deaf', deaf)]],
    ] as const) {
      const clock = virtualClock();
      const engine = createEngine({ clock, tools, chat: scripted(turns) });
      const stop = new AbortController();
      const stream = engine.stream('Hi', { signal: stop.signal });
      const { outcome } = stream;
      const events = collect(stream);
      const whole = createEngine({ clock, tools, chat: scripted(turns) }).chat('Hi', { signal: stop.signal });
      await clock.advance(50);
      stop.abort(new Error('enough'));
      expect(await settled(clock, Promise.all([outcome, whole]))).toMatchObject([{ reason: 'aborted' }, { reason: 'aborted' }]);
      expect((await events).at(-1)?.type).toBe('end');
      expect(clock.pending).toBe(0);
    }
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(rejections).toEqual([]);
  });

  test('an abort inside a turn of many tools loses none of the results that were there', async () => {
    const { clock, engine } = setUp([calls('works', 'deaf')], { tools: [works, plainTool('deaf', deaf)] });
    const stop = new AbortController();
    const done = engine.chat('Hi', { signal: stop.signal });
    await clock.advance(5);
    stop.abort();
    const outcome = await settled(clock, done);
    expect(resultsOf(outcome)).toMatchObject([
      ['works', 'done'],
      ['deaf', expect.stringMatching(/cancelled/)],
    ]);
  });
});

describe('settings and data', () => {
  test('a session passes settings on, whole or streamed', async () => {
    const { chat, engine } = setUp(['a', 'b'], { defaults: { maxTokens: 50 } });
    const session = createSession({ engine });
    await session.send('Hi', { temperature: 0 });
    await session.stream('Hi', { temperature: 0 }).outcome;
    for (const request of chat.requests) expect(request).toMatchObject({ maxTokens: 50, temperature: 0 });
    expect(chat.requests).toHaveLength(2);
  });

  test('a scripted model tells its name and what it used, as a real one does', async () => {
    const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
    const { engine } = setUp([{ text: 'Hi', usage }]);
    expect(await engine.chat('Hi')).toMatchObject({ model: 'scripted', usage });
  });

  test('after an error in the middle of an answer nothing more of it is told', async () => {
    const { engine } = setUp([{ text: 'Half', error: new Error('down') }], { retry: false });
    const events = await collect(engine.stream('Hi'));
    expect(events.at(-1)).toMatchObject({ type: 'end', outcome: { status: 'failed', text: 'Half' } });
    const types = events.map(event => event.type);
    expect(types.indexOf('end')).toBe(types.length - 1);
    expect(types).not.toContain('message_end');
  });

  test('secrets of the caller are in no span: not of the context, not of provider options, not of a failure', async () => {
    const { spans, tracer } = recorder();
    const clock = virtualClock();
    const engine = createEngine({
      clock,
      chat: scripted([new AdapterError('rate_limited', 'No.', { cause: new Error('secret-cause'), retryable: true }), 'Hi']),
      telemetry: otelTelemetry({ tracer }),
      context: { token: 'secret-context' },
      defaults: { providerOptions: { openai: { api_key: 'secret-default' } } },
    });
    await settled(clock, engine.chat('Hi', { context: { token: 'secret-call' }, providerOptions: { openai: { key: 'secret-option' } } }));
    expect(spans.length).toBeGreaterThan(0);
    expect(JSON.stringify(spans.map(({ parent: _, ...span }) => span))).not.toContain('secret');
  });

  test('a picture may be given as a data URI, and its own type counts', () => {
    const image = { type: 'image', mediaType: 'image/webp', data: 'AQID' };
    expect(imagePart('data:image/webp;base64,AQID')).toEqual(image);
    expect(imagePart({ url: 'data:image/webp;base64,AQID' })).toEqual(image);
    expect(audioPart('data:audio/mpeg;base64,AQID')).toMatchObject({ mediaType: 'audio/mpeg', data: 'AQID' });
    expect(filePart('data:application/pdf;base64,AQID', 'text/plain')).toMatchObject({ mediaType: 'application/pdf', data: 'AQID' });
    for (const bad of ['data:image/png,AQID', 'data:;base64,AQID', 'data:image/png;base64,%%'])
      expect(() => imagePart(bad)).toThrow(TypeError);
  });

  test('an event is JSON, and reads the same after a trip through it', async () => {
    const { engine } = setUp([{ reasoning: 'Hm.', text: 'So.', ...calls('works') }, 'Fine'], { tools: [works] });
    const events: StreamEvent[] = await collect(engine.stream('Hi'));
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });
});
