import { askUser, type CallOptions, type ChatAdapter, createEngine, type EngineConfig, user } from '@antiphon/engine';
import { type ScriptedTurn, scripted } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { call, calls, plainTool, resultsOf, setUp } from './support.js';

describe('how a run ends', () => {
  const tools = [
    plainTool('works', () => 'done'),
    plainTool('asks', () => askUser('Which?')),
    plainTool('by_hand', undefined, { manual: true }),
  ];
  test.each<readonly [string, ScriptedTurn[], CallOptions, object]>([
    ['an answer', ['Hi'], {}, { status: 'completed', text: 'Hi', finishReason: 'stop' }],
    ['an empty answer', [{}], {}, { status: 'completed', text: '', finishReason: 'stop', messages: [user('Hi')] }],
    ['tools, then an answer', [calls('works'), 'Fine'], {}, { status: 'completed', text: 'Fine' }],
    ['text with a call, then an answer', [{ text: 'One moment.', ...calls('works') }, 'Fine'], {}, { status: 'completed', text: 'Fine' }],
    ['calls announced with stop', [{ ...calls('works'), finishReason: 'stop' }, 'Fine'], {}, { status: 'completed', text: 'Fine' }],
    ['length', [{ text: 'Half', finishReason: 'length' }, 'never'], {}, { status: 'completed', text: 'Half', finishReason: 'length' }],
    ['a filter', [{ text: 'Ha', finishReason: 'content_filter' }, 'never'], {}, { status: 'completed', finishReason: 'content_filter' }],
    ['another reason', [{ text: 'Ha', finishReason: 'other' }, 'never'], {}, { status: 'completed', finishReason: 'other' }],
    ['error', [{ text: 'Ha', finishReason: 'error' }, 'never'], {}, { status: 'failed', text: 'Ha', error: { name: 'AdapterError' } }],
    ['calls before a filter', [{ ...calls('works'), finishReason: 'content_filter' }, 'never'], {}, { status: 'completed' }],
    ['one turn at the most', [calls('works'), 'never'], { maxTurns: 1 }, { status: 'interrupted', reason: 'max_turns' }],
    ['two turns at the most', [calls('works'), calls('works'), 'never'], { maxTurns: 2 }, { status: 'interrupted', reason: 'max_turns' }],
    ['the last turn answers', [calls('works'), 'Fine'], { maxTurns: 2 }, { status: 'completed' }],
    [
      'a stop condition',
      [calls('works'), 'never'],
      { stopWhen: steps => steps.length === 1 },
      { status: 'interrupted', reason: 'stop_when' },
    ],
    ['a stop condition on an answer is not asked', ['Fine'], { stopWhen: () => true }, { status: 'completed' }],
    [
      'manual mode',
      [calls('works')],
      { mode: 'manual' },
      { status: 'interrupted', reason: 'manual_tools', pending: { calls: [{ id: 'works' }] } },
    ],
    ['manual mode without calls', ['Fine'], { mode: 'manual' }, { status: 'completed' }],
    ['a manual tool', [calls('by_hand')], {}, { status: 'interrupted', reason: 'manual_tools', pending: { calls: [{ id: 'by_hand' }] } }],
    [
      'a question',
      [calls('asks')],
      {},
      { status: 'interrupted', reason: 'ask_user', pending: { questions: [{ callId: 'asks', question: 'Which?' }] } },
    ],
    ['an error before the first token', [new Error('down')], {}, { status: 'failed', text: '', messages: [user('Hi')] }],
    [
      'an error in the middle',
      [{ text: 'Half', error: new Error('down') }],
      {},
      { status: 'failed', text: 'Half', message: { interrupted: true } },
    ],
    [
      'an error in the second turn',
      [calls('works'), new Error('down')],
      {},
      { status: 'failed', steps: [{ toolCalls: [{ id: 'works' }] }] },
    ],
    ['a script that is too short', [calls('works')], {}, { status: 'failed', error: { reason: 'script_exhausted' } }],
  ])('%s', async (_, turns, options, expected) => {
    const { chat, engine } = setUp(turns, { tools, retry: false });
    expect(await engine.chat('Hi', options)).toMatchObject(expected);
    expect(chat.remaining).toBe(turns.includes('never') ? 1 : 0);
  });

  test('eight turns are the default', async () => {
    const { chat, engine } = setUp(
      Array.from({ length: 9 }, () => calls('works')),
      { tools },
    );
    expect(await engine.chat('Hi')).toMatchObject({ status: 'interrupted', reason: 'max_turns' });
    expect(chat.requests).toHaveLength(8);
  });

  test('generate gives the calls back and runs nothing; step runs them and stops', async () => {
    const turns = [calls('works'), 'never'];
    const generated = await setUp(turns, { tools }).engine.generate('Hi');
    expect(generated).toMatchObject({ status: 'completed', finishReason: 'tool_calls', toolCalls: [{ id: 'works' }] });
    expect(resultsOf(generated)).toEqual([]);
    const stepped = await setUp(turns, { tools }).engine.step('Hi');
    expect(stepped).toMatchObject({ status: 'completed', toolCalls: [{ id: 'works' }] });
    expect(resultsOf(stepped)).toEqual([['works', 'done']]);
  });

  test('an answer that stops without its end has failed, with what arrived', async () => {
    const { engine } = setUp([[{ type: 'message_start' }, { type: 'text_delta', index: 0, delta: 'Half' }]]);
    expect(await engine.chat('Hi')).toMatchObject({ status: 'failed', text: 'Half', error: { reason: 'truncated', retryable: true } });
  });

  test('a stop condition sees the steps as they were, not as they will be', async () => {
    const seen: (readonly unknown[])[] = [];
    const { engine } = setUp([calls('works'), calls('works'), 'Fine'], { tools });
    await engine.chat('Hi', { stopWhen: steps => seen.push(steps) === 0 });
    expect(seen.map(steps => steps.length)).toEqual([1, 2]);
  });
});

describe('what the model is sent', () => {
  test('each request holds the thread of its own moment', async () => {
    const { chat, engine } = setUp([calls('works'), calls('works'), 'Fine'], { tools: [plainTool('works', () => 'done')] });
    await engine.chat('Hi');
    expect(chat.requests.map(request => request.messages.length)).toEqual([1, 3, 5]);
  });

  test('an adapter is given signal, request id and clock, and nothing of the caller’s', async () => {
    let given: object = {};
    const chat: ChatAdapter = {
      ...scripted([]),
      async *stream(_, context) {
        given = context;
        yield { type: 'message_end', finishReason: 'stop', usage: {} };
      },
    };
    await createEngine({ chat, context: { secret: true } }).chat('Hi', { requestId: 'r' });
    expect(Object.keys(given).sort()).toEqual(['clock', 'requestId', 'signal']);
  });

  test.each<readonly [string, Partial<EngineConfig>, object, CallOptions, object]>([
    ['defaults', { defaults: { temperature: 0.1 } }, {}, {}, { temperature: 0.1 }],
    ['a request over defaults', { defaults: { temperature: 0.1 } }, { temperature: 0.2 }, {}, { temperature: 0.2 }],
    ['options over a request', { defaults: { temperature: 0.1 } }, { temperature: 0.2 }, { temperature: 0.3 }, { temperature: 0.3 }],
    ['zero counts as set', { defaults: { temperature: 1 } }, { seed: 0 }, { temperature: 0 }, { temperature: 0, seed: 0 }],
    ['the model', { defaults: { model: 'a' } }, { model: 'b' }, { model: 'c' }, { model: 'c' }],
    ['the model of the request', { defaults: { model: 'a' } }, { model: 'b' }, {}, { model: 'b' }],
    ['maxTokens of defaults', { defaults: { maxTokens: 7 } }, { topP: 0.5 }, { stop: ['X'] }, { maxTokens: 7, topP: 0.5, stop: ['X'] }],
    ['tools of the engine', { tools: [plainTool('a')] }, {}, {}, { tools: [{ name: 'a' }] }],
    ['tools of the request', { tools: [plainTool('a')] }, { tools: [plainTool('b')] }, {}, { tools: [{ name: 'b' }] }],
    [
      'tools of the options',
      { tools: [plainTool('a')] },
      { tools: [plainTool('b')] },
      { tools: [plainTool('c')] },
      { tools: [{ name: 'c' }] },
    ],
    ['toolChoice', { tools: [plainTool('a')] }, { toolChoice: 'none' }, { toolChoice: { tool: 'a' } }, { toolChoice: { tool: 'a' } }],
  ])('%s', async (_, config, request, options, expected) => {
    for (const method of ['generate', 'step', 'chat'] as const) {
      const { chat, engine } = setUp(['Hi'], config);
      await engine[method]({ messages: [user('Hi')], ...request }, options);
      expect(chat.requests[0]).toMatchObject(expected);
      if (expected && 'tools' in expected) expect(chat.requests[0]?.tools).toHaveLength(1);
    }
  });

  test('an empty list of tools takes the engine’s away', async () => {
    const { chat, engine } = setUp(['Hi'], { tools: [plainTool('a')] });
    await engine.chat('Hi', { tools: [] });
    expect(chat.requests[0]).not.toHaveProperty('tools');
  });

  test('tools of a request have no handler here: their calls come back', async () => {
    const { engine } = setUp([calls('lookup')]);
    const tools = [{ name: 'lookup', description: 'd', inputSchema: { type: 'object' } }];
    expect(await engine.chat({ messages: [user('Hi')], tools })).toMatchObject({
      reason: 'manual_tools',
      pending: { calls: [{ id: 'lookup' }] },
    });
  });

  test('a history that is not well-formed is mended once, with a warning, before it leaves', async () => {
    const broken = [
      user('Hi'),
      { role: 'assistant', content: [{ type: 'tool_call', ...call('f'), rawArguments: '{}' }] } as never,
      user('Never mind.'),
    ];
    const { chat, engine } = setUp([calls('works'), 'Fine'], { tools: [plainTool('works', () => 'done')] });
    const outcome = await engine.chat(broken);
    expect(outcome.status).toBe('completed');
    expect(outcome.warnings).toMatchObject([{ code: 'repaired_history' }]);
    expect(chat.requests[0]?.messages.map(message => message.role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(outcome.messages.slice(0, 4)).toEqual(chat.requests[0]?.messages);
  });
});
