import { askUser, createEngine, executeTool, fail, halt, ok, type StreamEvent, type Tool, ToolError, tool } from '@antiphon/engine';
import { scripted, virtualClock } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { call, calls, collect, deaf, plainTool, resultsOf, settled, setUp, typesOf } from './support.js';

describe('tools', () => {
  test('the start is told before the handler ends', async () => {
    let finish: (value: string) => void = () => {};
    const { engine } = setUp([calls('waits'), 'Fine'], { tools: [plainTool('waits', () => new Promise(resolve => (finish = resolve)))] });
    const seen: string[] = [];
    for await (const event of engine.stream('Hi')) {
      seen.push(event.type);
      if (event.type === 'tool_start') queueMicrotask(() => setImmediate(() => finish('done')));
    }
    expect(seen.indexOf('tool_start')).toBeLessThan(seen.indexOf('tool_result'));
  });

  test('they run side by side: events in the order of completion, messages in the order of the calls', async () => {
    const clock = virtualClock();
    const waits = (ms: number) => () => new Promise(resolve => void clock.setTimer(ms, () => resolve(ms)));
    const { engine } = {
      engine: createEngine({
        clock,
        chat: scripted([calls('slow', 'quick'), 'Fine']),
        tools: [plainTool('slow', waits(90)), plainTool('quick', waits(10))],
      }),
    };
    const stream = engine.stream('Hi');
    const events = await settled(clock, collect(stream));
    expect(clock.now()).toBe(90);
    expect(events.flatMap(event => (event.type === 'tool_start' ? [event.call.name] : []))).toEqual(['slow', 'quick']);
    expect(events.flatMap(event => (event.type === 'tool_result' ? [event.callId] : []))).toEqual(['quick', 'slow']);
    expect(resultsOf(await stream.outcome)).toEqual([
      ['slow', '90'],
      ['quick', '10'],
    ]);
  });

  test.each<readonly [string, Tool | undefined, object, string | RegExp, boolean]>([
    ['a value', plainTool('probe', () => ({ a: 1 })), {}, '{"a":1}', false],
    ['text', plainTool('probe', () => 'plain "text"'), {}, 'plain "text"', false],
    ['a reported failure', plainTool('probe', () => fail('No such city.')), {}, 'No such city.', true],
    ['reported data', plainTool('probe', () => fail({ code: 7 })), {}, '{"code":7}', true],
    ['a reported Error', plainTool('probe', () => fail(new Error('gone'))), {}, 'gone', true],
    ['a crash', plainTool('probe', () => Promise.reject(new Error('gone'))), {}, /failed: gone/, true],
    ['an invalid return', plainTool('probe', () => undefined), {}, /undefined/, true],
    [
      'wrong arguments',
      tool({ name: 'probe', description: 'd', input: z.object({ n: z.number() }), run: () => 1 }),
      { arguments: { n: 'x' } },
      /n: /,
      true,
    ],
    ['broken JSON', plainTool('probe', () => 'ran'), { rawArguments: '{"a":' }, /not valid JSON/, true],
    ['an unknown tool', plainTool('other', () => 'ran'), {}, /no tool "probe".*other/i, true],
    ['no tools at all', undefined, {}, /No tools/, true],
  ])('%s is what the model reads, and the run goes on', async (_, one, given, content, isError) => {
    const { chat, engine } = setUp([{ toolCalls: [{ id: 'c', name: 'probe', ...given }] }, 'Fine'], one ? { tools: [one] } : {});
    expect(await engine.chat('Hi')).toMatchObject({ status: 'completed', text: 'Fine' });
    const result = chat.requests[1]?.messages.at(-1);
    expect(result).toMatchObject({
      role: 'tool',
      callId: 'c',
      name: 'probe',
      content: typeof content === 'string' ? content : expect.stringMatching(content),
    });
    expect(result?.role === 'tool' && result.isError === true).toBe(isError);
  });

  test('a call that was cut off is not run, one beside it that came whole is', async () => {
    const ran: unknown[] = [];
    const tools = [tool({ name: 'add', description: 'd', input: { type: 'object' }, run: args => ran.push(args) })];
    const { engine } = setUp(
      [{ toolCalls: [call('add', { n: 1 }, 'a'), { id: 'b', name: 'add', rawArguments: '{"n":' }], finishReason: 'length' }, 'Fine'],
      { tools },
    );
    const outcome = await engine.chat('Hi');
    expect(ran).toEqual([{ n: 1 }]);
    expect(resultsOf(outcome)[1]).toEqual(['b', expect.stringContaining('cut off')]);
  });

  test.each(['content_filter', 'other', 'error'] as const)('no call runs after an answer that ended with %s', async finishReason => {
    const ran: unknown[] = [];
    const { engine } = setUp([{ ...calls('works'), finishReason }], { tools: [plainTool('works', () => ran.push(1))] });
    const outcome = await engine.chat('Hi');
    expect(ran).toEqual([]);
    expect(resultsOf(outcome)).toHaveLength(1);
  });

  test('one that overruns its time is given up, told to stop, and answered', async () => {
    let reason: unknown;
    const tools = [
      plainTool(
        'hangs',
        (_, { signal }) => {
          signal.addEventListener('abort', () => (reason = signal.reason));
          return deaf();
        },
        { timeoutMs: 100 },
      ),
    ];
    const { clock, engine } = setUp([calls('hangs'), 'Fine'], { tools });
    const outcome = await settled(clock, engine.chat('Hi'));
    expect(clock.now()).toBe(100);
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine' });
    expect(resultsOf(outcome)).toEqual([['hangs', expect.stringContaining('100 ms')]]);
    expect(reason).toMatchObject({ reason: 'timeout' });
  });

  test('thirty seconds are the default time', async () => {
    const { clock, engine } = setUp([calls('hangs'), 'Fine'], { tools: [plainTool('hangs', deaf)] });
    await settled(clock, engine.chat('Hi'));
    expect(clock.now()).toBe(30_000);
  });

  test.each([
    [1, 4, 400],
    [2, 4, 200],
    [3, 4, 200],
    [undefined, 4, 100],
  ])('maxConcurrency %s: %s calls of 100 ms take %s ms', async (maxConcurrency, count, total) => {
    const clock = virtualClock();
    let now = 0;
    let most = 0;
    const work = plainTool(
      'work',
      async () => {
        most = Math.max(most, ++now);
        await new Promise<void>(resolve => void clock.setTimer(100, resolve));
        now--;
        return 'done';
      },
      maxConcurrency === undefined ? {} : { maxConcurrency },
    );
    const turn = { toolCalls: Array.from({ length: count }, (_, i) => call('work', {}, `c${i}`)) };
    const engine = createEngine({ clock, chat: scripted([turn, 'Fine']), tools: [work] });
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'completed' });
    expect([most, clock.now()]).toEqual([maxConcurrency ?? count, total]);
  });

  test('the context: call options over the engine’s; ids, the call and progress', async () => {
    const seen: unknown[] = [];
    const tools = [
      tool({
        name: 'probe',
        description: 'd',
        input: { type: 'object' },
        run: (_, { context, requestId, sessionId, call: { id }, progress }) => {
          progress({ done: 0.5 });
          seen.push({ context, requestId, sessionId, id });
          return 'done';
        },
      }),
    ];
    const { engine } = setUp([calls('probe'), calls('probe'), 'Fine'], { tools, context: 'engine' });
    const events = await collect(engine.stream('Hi', { context: 'call', requestId: 'r', sessionId: 's' }));
    expect(seen[0]).toEqual({ context: 'call', requestId: 'r', sessionId: 's', id: 'probe' });
    expect(events).toContainEqual({ type: 'tool_progress', callId: 'probe', name: 'probe', value: { done: 0.5 } });
  });

  test('a handler may ask the engine itself', async () => {
    const { engine } = setUp([calls('asks_again'), 'Inner.', 'Outer.'], {
      tools: [plainTool('asks_again', async (_, { engine, signal }) => (await engine?.generate('And you?', { signal }))?.text)],
    });
    const outcome = await engine.chat('Hi');
    expect(outcome).toMatchObject({ text: 'Outer.' });
    expect(resultsOf(outcome)).toEqual([['asks_again', 'Inner.']]);
  });

  test('a tool that asks or halts lets the others finish, and all of it comes back', async () => {
    const ran: string[] = [];
    const tools = [
      plainTool('asks', () => askUser('Which?')),
      plainTool('asks_too', () => askUser('When?', { choices: ['now'] })),
      plainTool('halts', () => halt('handed_over', { to: 'billing' })),
      plainTool('works', () => ran.push('works')),
      plainTool('by_hand', undefined, { manual: true }),
      plainTool('approved', () => ran.push('approved'), { approve: true }),
    ];
    const { engine } = setUp([calls('asks', 'works', 'halts', 'asks_too', 'by_hand', 'approved')], { tools });
    const outcome = await engine.chat('Hi');
    expect(ran).toEqual(['works']);
    expect(outcome).toMatchObject({
      status: 'interrupted',
      reason: 'ask_user',
      pending: {
        questions: [
          { callId: 'asks', question: 'Which?' },
          { callId: 'asks_too', question: 'When?', options: { choices: ['now'] } },
        ],
        calls: [{ id: 'by_hand' }],
        approvals: [{ id: 'approved' }],
        halts: [{ callId: 'halts', reason: 'handed_over', value: { to: 'billing' } }],
      },
    });
    expect(resultsOf(outcome)).toEqual([
      ['works', '1'],
      ['halts', '{"to":"billing"}'],
    ]);
  });

  test('of two tools that halt, the first call in the message counts', async () => {
    const clock = virtualClock();
    const late = () => new Promise(resolve => void clock.setTimer(50, () => resolve(halt('first'))));
    const tools = [plainTool('late', late), plainTool('soon', () => halt('second'))];
    const engine = createEngine({ clock, chat: scripted([calls('late', 'soon')]), tools });
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'interrupted', reason: { halt: 'first' } });
  });

  test.each<readonly [string, unknown, unknown]>([
    ['true', true, 1],
    ['a policy that says yes', () => true, 1],
    ['a policy that says no', () => false, 0],
    [
      'a policy that fails',
      () => {
        throw new Error('policy');
      },
      1,
    ],
  ])('approve: %s', async (_, approve, asked) => {
    const { engine } = setUp([calls('pay'), 'Fine'], { tools: [plainTool('pay', () => 'paid', { approve: approve as true })] });
    const stream = engine.stream('Hi');
    expect((await collect(stream)).filter(event => event.type === 'approval_request')).toHaveLength(asked as number);
  });

  test.each<readonly [string, unknown, RegExp]>([
    ['nothing', undefined, /executor/],
    ['an object of another kind', { type: 'banana' }, /executor/],
    ['a value that cannot be encoded', { type: 'ok', value: 1n }, /could not be encoded/],
    ['a halt with a value that is no JSON', { type: 'halt', reason: 'r', value: 1n }, /bigint/],
    ['an untagged result from elsewhere', { type: 'fail', reason: 'far away' }, /far away/],
    ['an error', new ToolError('handler_raised', 'It broke.'), /It broke/],
  ])('an executor of the caller’s own that gives %s does not break the run', async (_, given, message) => {
    const { engine } = setUp([calls('works', 'other'), 'Fine'], {
      tools: [plainTool('works', () => 1), plainTool('other', () => 1)],
      executor: async (one, args, context) => (one.name === 'works' ? (given as never) : executeTool(one, args, context)),
    });
    const outcome = await engine.chat('Hi');
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine' });
    expect(resultsOf(outcome)).toEqual([
      ['works', expect.stringMatching(message)],
      ['other', '1'],
    ]);
  });

  test('an encoder of the caller’s own is used, and one that fails tells the model', async () => {
    const tools = [plainTool('works', () => ({ a: 1 }))];
    const good = await setUp([calls('works'), 'Fine'], { tools, encodeResult: value => `<${JSON.stringify(value)}>` }).engine.chat('Hi');
    expect(resultsOf(good)).toEqual([['works', '<{"a":1}>']]);
    for (const encodeResult of [
      () => undefined as never,
      () => [{ a: 1 }] as never,
      () => {
        throw new Error('no');
      },
    ]) {
      const bad = await setUp([calls('works'), 'Fine'], { tools, encodeResult }).engine.chat('Hi');
      expect(resultsOf(bad)).toEqual([['works', expect.stringContaining('could not be encoded')]]);
    }
  });

  test('progress that is no JSON is the handler’s mistake, and progress after the end is not told', async () => {
    let late: (value: never) => void = () => {};
    const tools = [
      plainTool('bad', (_, { progress }) => progress((() => 1) as never)),
      plainTool('good', (_, { progress }) => {
        late = progress as never;
        return ok('done');
      }),
    ];
    const { engine } = setUp([calls('bad', 'good'), 'Fine'], { tools });
    const events: StreamEvent[] = [];
    for await (const event of engine.stream('Hi')) {
      events.push(event);
      if (event.type === 'step_end') late(1 as never);
    }
    expect(typesOf(events)).not.toContain('tool_progress');
    expect(events).toContainEqual(
      expect.objectContaining({ callId: 'bad', isError: true, content: expect.stringContaining('progress()') }),
    );
  });
});
