import {
  type AdapterEvent,
  allOf,
  anyOf,
  type CallOptions,
  createEngine,
  fail,
  hasToolCall,
  type PriceTable,
  stepCountIs,
  type ToolErrorPolicy,
  user,
} from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { call, calls, collect, deaf, plainTool, resultsOf, settled, setUp } from './support.js';

const works = plainTool('works', () => 'ok');

describe('prepareStep', () => {
  test('changes one request, and the thread of the outcome stays whole', async () => {
    const other = plainTool('other', () => 'x');
    const { engine, clock, chat } = setUp([calls('works'), 'Done.'], { tools: [works] });
    const outcome = await settled(
      clock,
      engine.chat('Hi', {
        prepareStep: ({ step, messages }) =>
          step === 2 ? { messages: messages.slice(-2), tools: [other], toolChoice: 'none', temperature: 0.5, model: 'm2' } : undefined,
      }),
    );
    expect(chat.requests[0]).not.toHaveProperty('temperature');
    expect(chat.requests[1]).toMatchObject({ temperature: 0.5, model: 'm2', toolChoice: 'none', tools: [{ name: 'other' }] });
    expect(chat.requests[1]?.messages.map(message => message.role)).toEqual(['assistant', 'tool']);
    expect(outcome.messages.map(message => message.role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('may take another model for a step', async () => {
    const strong = scripted(['From the strong one.'], { model: 'strong' });
    const { engine, clock } = setUp([calls('works')], { tools: [works] });
    const outcome = await settled(clock, engine.chat('Hi', { prepareStep: ({ step }) => (step === 2 ? { chat: strong } : {}) }));
    expect(outcome).toMatchObject({ text: 'From the strong one.', model: 'strong' });
  });

  test.each([
    ['an unknown change', { prepareStep: () => ({ nope: 1 }) as never }, /Unknown change "nope"/],
    ['no messages', { prepareStep: () => ({ messages: [] }) }, /left no message/],
    [
      'messages that are none',
      { prepareStep: () => ({ messages: [{ role: 'developer', content: 'Hi' }] as never }) },
      /messages\[0\]\.role/,
    ],
    ['text for messages', { prepareStep: () => ({ messages: 'Hi' as never }) }, /array of messages/],
    [
      'a throw',
      {
        prepareStep: () => {
          throw new Error('boom');
        },
      },
      /boom/,
    ],
  ] as [string, CallOptions, RegExp][])('%s is a failed outcome that says so', async (_, options, message) => {
    const { engine, clock } = setUp(['x']);
    const outcome = await settled(clock, engine.chat('Hi', options));
    expect(outcome.status === 'failed' && outcome.error.message).toMatch(message);
  });
});

describe('when a run stops', () => {
  const turns = [calls('works'), calls('other'), calls('works'), 'Done.'];
  const tools = [works, plainTool('other', () => 'x')];
  test.each<[string, CallOptions, string | undefined, number]>([
    ['stepCountIs', { stopWhen: stepCountIs(2) }, 'stop_when', 2],
    ['hasToolCall', { stopWhen: hasToolCall('other') }, 'stop_when', 2],
    ['one of a list', { stopWhen: [stepCountIs(9), hasToolCall('works')] }, 'stop_when', 1],
    ['allOf', { stopWhen: allOf(stepCountIs(2), hasToolCall('works')) }, 'stop_when', 3],
    ['anyOf', { stopWhen: anyOf(stepCountIs(3), hasToolCall('other')) }, 'stop_when', 2],
    ['an async condition', { stopWhen: async steps => steps.length === 2 }, 'stop_when', 2],
    ['budget of repeated calls', { budget: { repeatedCalls: 2 } }, 'budget', 3],
    ['budget that suffices', { budget: { repeatedCalls: 3, tokens: 1e6, timeMs: 1e6 } }, undefined, 4],
  ])('%s', async (_, options, reason, steps) => {
    const { engine, clock } = setUp(turns, { tools });
    const outcome = await settled(clock, engine.chat('Hi', options));
    expect(outcome.status === 'interrupted' ? outcome.reason : undefined).toBe(reason);
    expect(outcome.steps.length).toBe(steps);
  });

  test('budgets of tokens and time count the whole run', async () => {
    const turn = { ...calls('works'), usage: { inputTokens: 60, outputTokens: 40 }, firstTokenMs: 1000 };
    for (const budget of [{ tokens: 150 }, { timeMs: 1500 }]) {
      const { engine, clock } = setUp([turn, turn, turn], { tools });
      expect(await settled(clock, engine.chat('Hi', { budget }))).toMatchObject({ reason: 'budget', steps: [{}, {}] });
    }
  });

  test('a budget of money needs prices; a step of unknown cost uses it up', async () => {
    const turn = { ...calls('works'), usage: { inputTokens: 1_000_000, outputTokens: 0 } };
    const spend = async (prices: PriceTable | undefined, cost: number) => {
      const { engine, clock } = setUp([turn, turn, 'Done.'], { tools, ...(prices ? { prices } : {}) });
      return settled(clock, engine.chat('Hi', { budget: { cost } }));
    };
    expect(await spend({ scripted: { input: 1, output: 1 } }, 1.5)).toMatchObject({ reason: 'budget', steps: [{}, {}] });
    expect(await spend({ scripted: { input: 1, output: 1 } }, 5)).toMatchObject({ status: 'completed' });
    expect(await spend({ another: { input: 1, output: 1 } }, 5)).toMatchObject({ reason: 'budget', steps: [{}] });
    await expect(spend(undefined, 5)).rejects.toThrow(/budget.cost needs prices/);
  });

  test('arguments in another order are the same call', async () => {
    const any = plainTool('any', () => 1, { input: { type: 'object' } } as never);
    const { engine, clock } = setUp(
      [{ toolCalls: [call('any', { a: 1, b: 2 }, 'x')] }, { toolCalls: [call('any', { b: 2, a: 1 }, 'y')] }, 'Done.'],
      { tools: [any] },
    );
    expect(await settled(clock, engine.chat('Hi', { budget: { repeatedCalls: 2 } }))).toMatchObject({ reason: 'budget' });
  });

  test.each(['required', { tool: 'works' }] as const)('toolChoice %o forces the first call only', async toolChoice => {
    const { engine, clock, chat } = setUp([calls('works'), 'Done.'], { tools });
    expect((await settled(clock, engine.chat('Hi', { toolChoice }))).status).toBe('completed');
    expect(chat.requests.map(request => request.toolChoice)).toEqual([toolChoice, 'auto']);
  });
});

describe('an answer that pauses', () => {
  const said = (text: string, paused: boolean): AdapterEvent[] => [
    { type: 'message_start' },
    { type: 'text_delta', index: 0, delta: text },
    { type: 'text_end', index: 0, text },
    { type: 'message_end', finishReason: paused ? 'other' : 'stop', ...(paused ? { paused } : {}), usage: {} },
  ];

  test('goes on by itself in a loop, with the thread as it is', async () => {
    const { engine, clock, chat } = setUp([said('Searching …', true), said('Found.', false)]);
    const outcome = await settled(clock, engine.chat('Hi'));
    expect(outcome).toMatchObject({ status: 'completed', text: 'Found.', steps: [{ paused: true }, {}] });
    expect(chat.requests[1]?.messages).toEqual(outcome.messages.slice(0, 2));
  });

  test('one that never ends is bounded, and a single call does not go on', async () => {
    const { engine, clock } = setUp(Array.from({ length: 5 }, () => said('…', true)));
    expect(await settled(clock, engine.chat('Hi', { maxTurns: 3 }))).toMatchObject({ reason: 'max_turns', steps: [{}, {}, {}] });
    expect(await settled(clock, engine.step('Hi'))).toMatchObject({ status: 'completed' });
    expect(await settled(clock, engine.generate('Hi'))).toMatchObject({ status: 'completed' });
  });
});

describe('onToolError', () => {
  const crashes = plainTool('crashes', () => {
    throw new Error('boom');
  });
  const reports = plainTool('reports', () => fail('no such city'));
  test.each<[string, ToolErrorPolicy | undefined, unknown, string]>([
    ['nothing: the model is told', undefined, undefined, 'boom'],
    ['continue: the model is told', 'continue', undefined, 'boom'],
    ['halt: the run ends', 'halt', { halt: 'tool_error' }, 'boom'],
    ['a function that gives another result', () => ({ result: { retry: 'later' } }), undefined, '{"retry":"later"}'],
    ['a function that halts', async () => 'halt' as const, { halt: 'tool_error' }, 'boom'],
    [
      'a function that throws halts',
      () => {
        throw new Error('bad policy');
      },
      { halt: 'tool_error' },
      'boom',
    ],
    ['a function that says nothing known halts', (() => 'whatever') as never, { halt: 'tool_error' }, 'boom'],
  ])('%s', async (_, onToolError, reason, told) => {
    const { engine, clock } = setUp([calls('crashes', 'works'), 'Done.'], { tools: [crashes, works] });
    const outcome = await settled(clock, engine.chat('Hi', onToolError === undefined ? {} : { onToolError }));
    expect(outcome.status === 'interrupted' ? outcome.reason : undefined).toEqual(reason);
    expect(resultsOf(outcome)).toEqual([
      ['crashes', expect.stringContaining(told)],
      ['works', 'ok'],
    ]);
  });

  test('is asked once for each failure, and can tell a report from a crash', async () => {
    const seen: string[] = [];
    const { engine, clock } = setUp([calls('crashes', 'reports'), 'Done.'], { tools: [crashes, reports] });
    await settled(
      clock,
      engine.chat('Hi', {
        onToolError: (made, failure) => {
          seen.push(`${made.name} ${failure.type}`);
          return 'continue';
        },
      }),
    );
    expect(seen.sort()).toEqual(['crashes error', 'reports fail']);
  });
});

describe('the order in which tools run', () => {
  test('a sequential tool runs alone', async () => {
    const log: string[] = [];
    const timed = (name: string, ms: number, sequential = false) =>
      plainTool(
        name,
        async (_: unknown, { signal: __ }) => {
          log.push(`${name} begins`);
          await new Promise<void>(resolve => clock.setTimer(ms, resolve));
          log.push(`${name} ends`);
          return name;
        },
        { sequential },
      );
    const { engine, clock } = setUp([calls('a', 'alone', 'b', 'c'), 'Done.']);
    await settled(clock, engine.chat('Hi', { tools: [timed('a', 30), timed('alone', 10, true), timed('b', 20), timed('c', 10)] }));
    expect(log).toEqual(['a begins', 'a ends', 'alone begins', 'alone ends', 'b begins', 'c begins', 'c ends', 'b ends']);
  });

  test('one that hangs does not hold the others for ever', async () => {
    const { engine, clock } = setUp([calls('stuck', 'works'), 'Done.']);
    const outcome = await settled(
      clock,
      engine.chat('Hi', { tools: [plainTool('stuck', deaf, { sequential: true, timeoutMs: 50 }), works] }),
    );
    expect(resultsOf(outcome)).toEqual([
      ['stuck', expect.stringContaining('50 ms')],
      ['works', 'ok'],
    ]);
  });
});

describe('handlers that yield', () => {
  test('show each value as progress, and the returned one is the result', async () => {
    const counts = plainTool('counts', async function* () {
      yield 1;
      yield 2;
      return 'counted';
    });
    const { engine, chat } = setUp([calls('counts'), 'Done.'], { tools: [counts] });
    const events = await collect(engine.stream('Hi'));
    expect(events.flatMap(event => (event.type === 'tool_progress' ? [event.value] : []))).toEqual([1, 2]);
    expect(chat.requests[1]?.messages.at(-1)).toMatchObject({ content: 'counted' });
  });

  test('without a return, the last value is the result; nothing at all is an invalid return', async () => {
    const last = plainTool('last', async function* () {
      yield 'a';
      yield 'b';
    });
    const none = plainTool('nothing', async function* () {});
    const { engine, clock } = setUp([calls('last', 'nothing'), 'Done.'], { tools: [last, none] });
    expect(resultsOf(await settled(clock, engine.chat('Hi')))).toEqual([
      ['last', 'b'],
      ['nothing', expect.stringContaining('undefined')],
    ]);
  });

  test('are closed when the run is stopped', async () => {
    let closed = false;
    const endless = plainTool('endless', async function* (_: unknown, { signal }) {
      try {
        for (let i = 0; ; i++) {
          yield i;
          await new Promise<void>(resolve => clock.setTimer(10, resolve));
          signal.throwIfAborted();
        }
      } finally {
        closed = true;
      }
    });
    const stop = new AbortController();
    const { engine, clock } = setUp([calls('endless')], { tools: [endless] });
    const work = engine.chat('Hi', { signal: stop.signal });
    await clock.advance(100);
    stop.abort();
    expect(await settled(clock, work)).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    expect(closed).toBe(true);
  });
});

describe('calls that wait for somebody', () => {
  test.each([{ approve: true }, { manual: true }])(
    'with arguments that cannot be run are answered instead of asked about (%o)',
    async more => {
      const tools = [
        plainTool('strict', () => 1, {
          input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
          ...more,
        } as never),
      ];
      const { engine, clock } = setUp([{ toolCalls: [call('strict', { n: 'x' })] }, 'Sorry.'], { tools });
      const outcome = await settled(clock, engine.chat('Hi'));
      expect(outcome.status).toBe('completed');
      expect(resultsOf(outcome)).toEqual([['strict', expect.stringContaining('do not fit its schema')]]);
    },
  );
});

describe('compact tools', () => {
  const input = {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string' }, at: { type: 'string' } },
    required: ['city'],
  };
  const weather = plainTool('weather', (args: { city: string }) => `12 °C in ${args.city}`, {
    compact: true,
    description: 'The weather in a city. It knows every city of the world, and its forecast reaches ten days.',
    input,
  } as never);
  const bare = plainTool('bare', () => 'x', { compact: true, summary: 'Does it.' });

  test('the model sees stubs and one tool_help, the same on every step', async () => {
    const { engine, clock, chat } = setUp(
      [{ toolCalls: [call('tool_help', { names: ['weather', 'nope'] })] }, { toolCalls: [call('weather', { city: 'Oslo' })] }, 'Done.'],
      { tools: [weather, bare, works] },
    );
    const outcome = await settled(clock, engine.chat('Hi'));
    const [first, second, third] = chat.requests.map(request => request.tools);
    expect(first).toEqual([
      { name: 'weather', description: 'The weather in a city. Args: city, [at], [unit]. [compact]', inputSchema: { type: 'object' } },
      { name: 'bare', description: 'Does it. Args: none. [compact]', inputSchema: { type: 'object' } },
      expect.objectContaining({ name: 'works', description: 'The tool works.' }),
      expect.objectContaining({ name: 'tool_help' }),
    ]);
    expect([second, third]).toEqual([first, first]);
    const help = resultsOf(outcome)[0]?.[1] as string;
    expect(help).toContain('its forecast reaches ten days');
    expect(help).toContain('"required":["city"]');
    expect(help).toContain('There is no tool "nope"');
    expect(resultsOf(outcome)[1]?.[1]).toBe('12 °C in Oslo');
  });

  test('one called wrongly is answered with its help', async () => {
    const { engine, clock } = setUp([{ toolCalls: [call('weather', {})] }, 'Done.'], { tools: [weather] });
    const [[, told] = []] = resultsOf(await settled(clock, engine.chat('Hi')));
    expect(told).toMatch(/do not fit its schema[\s\S]*Arguments \(JSON Schema\)/);
  });

  test('one that the model is made to call goes in full', async () => {
    const { engine, clock, chat } = setUp([{ toolCalls: [call('weather', { city: 'Oslo' })] }, 'Done.'], { tools: [weather] });
    await settled(clock, engine.chat('Hi', { toolChoice: { tool: 'weather' } }));
    expect(chat.requests[0]?.tools?.[0]).toMatchObject({ inputSchema: input });
  });

  test('without compact tools nothing is added, and a tool of the reserved name is refused only beside them', () => {
    const mine = plainTool('tool_help', () => 'mine');
    const chat = scripted([]);
    expect(() => createEngine({ chat, tools: [mine] }).stream([user('Hi')])).not.toThrow();
    expect(() => createEngine({ chat, tools: [mine, weather] }).stream([user('Hi')])).toThrow(/cannot stand beside compact tools/);
  });
});
