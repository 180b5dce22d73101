import {
  AdapterError,
  askUser,
  createEngine,
  createSession,
  fail,
  halt,
  type StreamEvent,
  type Tool,
  tool,
  unwrap,
  user,
} from '@antiphon/engine';
import { type ScriptedTurn, scripted } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { collect, jsonCopy, plainTool, settled, setUp } from './support.js';

// Faults that engines of this kind are known for, one test each. A test is named after the fault that must not be.

const works = plainTool('works', () => 'done');
const turn = (...names: string[]): ScriptedTurn => ({ toolCalls: names.map(name => ({ id: name, name })) });
const roles = (messages: readonly { role: string }[]) => messages.map(message => message.role).join(' ');

describe('retries and failures', () => {
  test('the engine has a retry policy, but chat is never tried again', async () => {
    for (const method of ['generate', 'step', 'chat'] as const) {
      const { chat, clock, engine } = setUp([new AdapterError('provider_unavailable', '503', { retryable: true }), 'Hi']);
      expect(await settled(clock, engine[method]('Hi'))).toMatchObject({ status: 'completed', text: 'Hi' });
      expect(chat.requests).toHaveLength(2);
    }
  });

  test.each(['authentication_failed', 'rate_limited', 'provider_unavailable'] as const)(
    '%s comes back as ok with an error inside',
    async reason => {
      const outcome = await setUp([new AdapterError(reason, 'No.')]).engine.generate('Hi');
      expect(outcome).toMatchObject({ status: 'failed', error: { reason } });
      expect(() => unwrap(outcome)).toThrow('No.');
    },
  );

  test('a failed turn leaves an empty assistant message in the thread', async () => {
    const outcome = await setUp([new Error('down')], { retry: false }).engine.chat('Hi');
    expect(outcome.messages).toEqual([user('Hi')]);
  });

  test('one 429 kills a session for ever', async () => {
    const { engine } = setUp([new AdapterError('rate_limited', '429'), 'Hi'], { retry: false });
    const session = createSession({ engine });
    await session.send('Hi');
    expect(await session.retry()).toMatchObject({ status: 'completed' });
  });

  test('Retry-After is obeyed without a cap', async () => {
    const { clock, engine } = setUp([new AdapterError('rate_limited', '429', { retryable: true, retryAfterMs: 86_400_000 })]);
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'failed', error: { retryAfterMs: 86_400_000 } });
    expect(clock.now()).toBe(0);
  });
});

describe('the loop', () => {
  test('an unknown finish reason calls the model again, answering itself', async () => {
    const { chat, engine } = setUp([{ text: 'Ha', finishReason: 'other' }, 'never'], { tools: [works] });
    await engine.chat('Hi');
    expect(chat.remaining).toBe(1);
  });

  test('calls that were cut off stand unanswered in the thread', async () => {
    const { chat, engine } = setUp([{ toolCalls: [{ name: 'works', rawArguments: '{"a' }], finishReason: 'length' }, 'Fine'], {
      tools: [works],
    });
    expect(await engine.chat('Hi')).toMatchObject({ status: 'completed' });
    expect(roles(chat.requests[1]?.messages ?? [])).toBe('user assistant tool');
  });

  test('a made-up tool name fails the call, or leaves a malformed thread in the stream', async () => {
    const turns = [turn('no_such_tool', 'works'), 'Fine'];
    const plain = await setUp(turns, { tools: [works] }).engine.chat('Hi', { requestId: 'r' });
    const stream = setUp(turns, { tools: [works] }).engine.stream('Hi', { requestId: 'r' });
    await collect(stream);
    expect(plain).toMatchObject({ status: 'completed', text: 'Fine' });
    expect(await stream.outcome).toStrictEqual(plain);
    expect(plain.messages[2]).toMatchObject({ callId: 'no_such_tool', isError: true, content: expect.stringContaining('works') });
  });

  test('arguments that are no JSON become {}, and the handler runs with them', async () => {
    const ran: unknown[] = [];
    const remove: Tool = tool({ name: 'remove', description: 'd', input: { type: 'object' }, run: args => ran.push(args) });
    const { engine } = setUp([{ toolCalls: [{ name: 'remove', rawArguments: '{"path": tmp}' }] }, 'Fine'], { tools: [remove] });
    const outcome = await engine.chat('Hi');
    expect(ran).toEqual([]);
    expect(outcome.steps[0]?.toolCalls[0]).toMatchObject({ invalid: { reason: 'invalid_json' }, rawArguments: '{"path": tmp}' });
  });

  test('of two tools that halt or ask in one streamed batch, the second loses its message', async () => {
    const tools = [
      plainTool('halts', () => halt('one')),
      plainTool('halts_too', () => halt('two')),
      plainTool('asks', () => askUser('Q?')),
    ];
    const turns = [turn('halts', 'halts_too', 'asks')];
    const stream = setUp(turns, { tools }).engine.stream('Hi', { requestId: 'r' });
    await collect(stream);
    const outcome = await stream.outcome;
    expect(outcome).toStrictEqual(await setUp(turns, { tools }).engine.chat('Hi', { requestId: 'r' }));
    expect(roles(outcome.messages)).toBe('user assistant tool tool');
    expect(outcome).toMatchObject({ pending: { questions: [{ callId: 'asks' }] } });
  });

  test('when a tool asks the user, manual calls of the same batch vanish', async () => {
    const { engine } = setUp([turn('asks', 'by_hand'), 'Fine'], { tools: [plainTool('asks', () => askUser('Q?')), plainTool('by_hand')] });
    const session = createSession({ engine });
    await session.send('Hi');
    expect(session.pending).toMatchObject({ questions: [{ callId: 'asks' }], calls: [{ id: 'by_hand' }] });
    await session.answer('A');
    expect(await session.submitToolResult('by_hand', 1)).toMatchObject({ status: 'completed' });
  });

  test('"tool started" is told when the tool has ended', async () => {
    let ended = false;
    const slow = plainTool('slow', async () => {
      await new Promise(setImmediate);
      ended = true;
      return 'done';
    });
    for await (const event of setUp([turn('slow'), 'Fine'], { tools: [slow] }).engine.stream('Hi')) {
      if (event.type === 'tool_start') expect(ended).toBe(false);
      if (event.type === 'tool_result') expect(ended).toBe(true);
    }
  });

  test('one time limit for all tools', async () => {
    const forever = () => new Promise(() => {});
    const tools = [plainTool('quick', forever, { timeoutMs: 10 }), plainTool('patient', forever, { timeoutMs: 1_800_000 })];
    const { clock, engine } = setUp([turn('quick'), turn('patient'), 'Fine'], { tools });
    expect(await settled(clock, engine.chat('Hi'))).toMatchObject({ status: 'completed' });
    expect(clock.now()).toBe(1_800_010);
  });

  test('tools of a call can only add to the engine’s, not restrict them', async () => {
    const { chat, engine } = setUp(['a', 'b'], { tools: [works, plainTool('dangerous', () => 1)] });
    await engine.chat('Hi', { tools: [works] });
    await engine.chat('Hi', { tools: [] });
    expect(chat.requests.map(request => request.tools?.map(one => one.name))).toEqual([['works'], undefined]);
  });
});

describe('text and reasoning', () => {
  const blocks: StreamEvent[] = [
    { type: 'message_start' },
    { type: 'reasoning_delta', index: 0, delta: 'Hm.' },
    { type: 'reasoning_end', index: 0, text: 'Hm.', providerState: { p: { signature: 's1' } } },
    { type: 'text_delta', index: 1, delta: 'First. ' },
    { type: 'text_end', index: 1, text: 'First. ' },
    { type: 'text_delta', index: 2, delta: 'Second.' },
    { type: 'text_end', index: 2, text: 'Second.' },
    {
      type: 'tool_call',
      index: 3,
      call: { id: 'c', name: 'works', arguments: {}, rawArguments: '{}', providerState: { p: { thought: 't' } } },
    },
    { type: 'message_end', finishReason: 'tool_calls', usage: {} },
  ];

  test('the last of several text blocks wins', async () => {
    const outcome = await setUp([blocks as never]).engine.generate('Hi');
    expect(outcome.text).toBe('First. Second.');
  });

  test('text is lost on adapters that tell only deltas, or only the whole', async () => {
    for (const drop of ['text_delta', 'text_end']) {
      const outcome = await setUp([blocks.filter(event => event.type !== drop) as never]).engine.generate('Hi');
      expect(outcome.text).toBe('First. Second.');
    }
  });

  test('reasoning and its state are not sent back', async () => {
    const { chat, engine } = setUp([blocks as never, 'Fine'], { tools: [works] });
    await engine.chat('Hi');
    const sent = chat.requests[1]?.messages[1];
    expect(sent?.content).toMatchObject([
      { type: 'reasoning', text: 'Hm.', providerState: { p: { signature: 's1' } } },
      {},
      {},
      { providerState: { p: { thought: 't' } } },
    ]);
  });
});

describe('sessions and data', () => {
  test('session data gathers stale keys and values that cannot be stored', async () => {
    const tools = [
      plainTool('halts', () => halt('stop', { at: { toJSON: () => 'noon' } } as never)),
      plainTool('asks', () => askUser('Q?')),
    ];
    const { engine } = setUp([turn('halts'), turn('asks'), 'Fine', new Error('down'), 'Fine'], { tools, retry: false });
    const session = createSession({ engine });
    await session.send('Hi');
    expect(session.pending).toEqual({ halts: [{ callId: 'halts', reason: 'stop', value: { at: 'noon' } }] });
    await session.send('Hi');
    await session.answer('A');
    expect(session.pending).toEqual({});
    await session.send('Hi');
    await session.retry();
    expect(session.toJSON()).not.toHaveProperty('error');
    expect(jsonCopy(session.toJSON())).toStrictEqual(session.toJSON());
  });

  test('a system message in the middle moves to the front', async () => {
    const { chat, engine } = setUp(['Hi']);
    await engine.chat([user('a'), { role: 'system', content: 'Now be brief.' }, user('b')]);
    expect(roles(chat.requests[0]?.messages ?? [])).toBe('user system user');
  });

  test('two scripted models with equal scripts share a cursor', async () => {
    const script = ['one', 'two'];
    const [a, b] = [createEngine({ chat: scripted(script) }), createEngine({ chat: scripted(script) })];
    expect([(await a.chat('Hi')).text, (await b.chat('Hi')).text, (await a.chat('Hi')).text]).toEqual(['one', 'one', 'two']);
  });
});

describe('settings', () => {
  test('provider options silently win over typed settings', async () => {
    const { chat, engine } = setUp(['Hi']);
    await engine.chat('Hi', { temperature: 0.5, providerOptions: { scripted: { temperature: 2 } } });
    expect(chat.requests[0]).toMatchObject({ temperature: 0.5, providerOptions: { scripted: { temperature: 2 } } });
  });

  test('the model of the request beats the model of the call', async () => {
    for (const method of ['generate', 'step', 'chat'] as const) {
      const { chat, engine } = setUp(['Hi'], { defaults: { model: 'default' } });
      await engine[method]({ messages: [user('Hi')], model: 'request' }, { model: 'call' });
      expect(chat.requests[0]?.model).toBe('call');
    }
  });

  test('settings of the engine or the call do not reach a request that the caller made', async () => {
    for (const method of ['generate', 'step', 'chat'] as const) {
      const { chat, engine } = setUp(['Hi'], { defaults: { maxTokens: 50 } });
      await engine[method]({ messages: [user('Hi')], seed: 1 }, { temperature: 0 });
      expect(chat.requests[0]).toMatchObject({ maxTokens: 50, seed: 1, temperature: 0 });
    }
  });

  test.each(['stream', 'retry_policy', 'max_tokens', 'temprature', 'maxOutputTokens', 'apiKey'])(
    'the option %s is taken and ignored',
    async key => {
      const { chat, engine } = setUp(['Hi']);
      await expect(engine.chat('Hi', { [key]: true } as never)).rejects.toThrow(key);
      expect(() => createEngine({ [key]: true } as never)).toThrow(key);
      expect(() => createEngine({ defaults: { [key]: true } as never })).toThrow(key);
      expect(chat.requests).toHaveLength(0);
    },
  );

  test('what is wrong with arguments reaches the model escaped like a debugger’s text', async () => {
    const strict = tool({ name: 'strict', description: 'd', input: z.object({ n: z.number('n must be a "number"') }), run: () => 1 });
    const failing = plainTool('failing', () => fail('Say "please".'));
    const { chat, engine } = setUp([{ toolCalls: [{ name: 'strict' }, { name: 'failing' }] }, 'Fine'], { tools: [strict, failing] });
    await engine.chat('Hi');
    const results = chat.requests[1]?.messages.slice(2).map(message => message.content);
    expect(results).toEqual([expect.stringContaining('n: n must be a "number"'), 'Say "please".']);
  });

  test('what the engine holds reaches the wire', async () => {
    const { chat, engine } = setUp(['Hi'], { context: { apiKey: 'secret' } });
    await engine.chat('Hi', { context: { token: 'secret' } });
    expect(JSON.stringify(chat.requests)).not.toContain('secret');
  });
});
