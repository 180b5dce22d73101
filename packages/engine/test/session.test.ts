import { AdapterError, askUser, createSession, type Session, SessionError, toolResult, user } from '@antiphon/engine';
import type { ScriptedTurn } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { collect, jsonCopy, plainTool, settled, setUp } from './support.js';

const tools = [
  plainTool('works', () => 'done'),
  plainTool('asks', () => askUser('Which day?')),
  plainTool('by_hand', undefined, { manual: true }),
  plainTool('hangs', () => new Promise(() => {})),
];

const calls = (...names: string[]): ScriptedTurn => ({ toolCalls: names.map((name, i) => ({ id: `${name}_${i}`, name })) });

const start = (turns: readonly ScriptedTurn[]) => {
  const { clock, chat, engine } = setUp(turns, { tools, retry: false });
  return { clock, chat, engine, session: createSession({ engine, id: 's' }) };
};

const stateOf = ({ status, revision, messages }: Session) => ({ status, revision, roles: messages.map(message => message.role).join(' ') });

const reasonOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error instanceof SessionError ? error.reason : error;
  }
  return 'no error';
};

describe('a turn', () => {
  test.each<readonly [string, ScriptedTurn[], object]>([
    ['completed', ['Hello.'], { status: 'idle', revision: 1, roles: 'user assistant' }],
    ['completed with tools', [calls('works'), 'Hello.'], { status: 'idle', revision: 1, roles: 'user assistant tool assistant' }],
    ['empty', [{}], { status: 'idle', revision: 1, roles: 'user' }],
    ['failed', [new Error('down')], { status: 'failed', revision: 1, roles: 'user' }],
    ['failed in the middle', [{ text: 'Half', error: new Error('down') }], { status: 'failed', revision: 1, roles: 'user' }],
    ['waiting for an answer', [calls('asks')], { status: 'waiting', revision: 1, roles: 'user assistant' }],
    ['waiting for a result', [calls('works', 'by_hand')], { status: 'waiting', revision: 1, roles: 'user assistant tool' }],
  ])('%s', async (_, turns, expected) => {
    const { session } = start(turns);
    expect(stateOf(session)).toEqual({ status: 'idle', revision: 0, roles: '' });
    await session.send('Hi');
    expect(stateOf(session)).toEqual(expected);
    expect(session.messages[0]).toEqual(user('Hi'));
  });

  test('sees the turns before it', async () => {
    const { chat, session } = start(['Hello, Ada.', 'Ada.']);
    await session.send('I am Ada.');
    expect(await session.send(user('My name?'))).toMatchObject({ text: 'Ada.' });
    expect(chat.requests[1]?.messages.map(message => message.role)).toEqual(['user', 'assistant', 'user']);
  });

  test('changes nothing until it ends', async () => {
    const { clock, session } = start([{ chunks: ['a', 'b'], perChunkMs: 100 }]);
    const done = session.send('Hi');
    await clock.advance(50);
    expect(stateOf(session)).toEqual({ status: 'running', revision: 0, roles: '' });
    expect(session.toJSON()).toMatchObject({ status: 'idle', messages: [] });
    await settled(clock, done);
    expect(stateOf(session)).toEqual({ status: 'idle', revision: 1, roles: 'user assistant' });
  });

  test('is over as soon as its outcome is known', async () => {
    const { session } = start(['a', 'b', 'c']);
    for (const text of ['a', 'b', 'c']) expect(await session.send('Hi')).toMatchObject({ status: 'completed', text });
  });

  test('that is left or stopped keeps what was said', async () => {
    const { session } = start([{ chunks: ['a', 'b'] }, 'Again.']);
    for await (const text of session.stream('Hi').textStream) if (text === 'a') break;
    expect(stateOf(session)).toEqual({ status: 'idle', revision: 1, roles: 'user assistant' });
    expect(session.messages[1]).toMatchObject({ interrupted: true });
    expect(await session.send('Go on.')).toMatchObject({ status: 'completed' });
  });

  test('that was stopped by its signal is no failure', async () => {
    const { clock, session } = start([{ text: 'late', firstTokenMs: 1000 }]);
    const stop = new AbortController();
    const done = session.send('Hi', { signal: stop.signal });
    await clock.advance(10);
    stop.abort();
    expect(await settled(clock, done)).toMatchObject({ reason: 'aborted' });
    expect([stateOf(session), clock.now()]).toEqual([{ status: 'idle', revision: 1, roles: 'user' }, 10]);
  });

  test('takes the history as it is when it is read, not when it was made', async () => {
    const { chat, session } = start(['First.', 'Second.']);
    const first = session.stream('One');
    const second = session.stream('Two');
    await collect(first);
    await collect(second);
    expect(chat.requests[1]?.messages).toHaveLength(3);
    expect(stateOf(session)).toEqual({ status: 'idle', revision: 2, roles: 'user assistant user assistant' });
  });

  test('hands context and id to the tools', async () => {
    const seen: unknown[] = [];
    const { engine } = setUp([calls('probe'), 'Fine', calls('probe'), 'Fine', calls('probe'), 'Fine'], {
      context: 'engine',
      tools: [plainTool('probe', (_, { context, sessionId }) => seen.push(context, sessionId))],
    });
    const session = createSession({ engine, id: 's', context: 'session' });
    await session.send('Hi');
    await session.send('Hi', { context: 'call' });
    // What is not given is not given, also where its key is there.
    await session.send('Hi', { context: undefined });
    expect(seen).toEqual(['session', 's', 'call', 's', 'session', 's']);
  });
});

describe('one turn at a time', () => {
  test('a second one is refused while the first runs, and the first goes on', async () => {
    const { clock, session } = start([{ text: 'Hello.', firstTokenMs: 100 }]);
    const done = session.send('Hi');
    await clock.advance(10);
    expect(await reasonOf(() => session.send('Me too'))).toBe('busy');
    expect(await reasonOf(() => session.stream('Me too'))).toBe('busy');
    expect(await reasonOf(() => session.replaceMessages([]))).toBe('busy');
    expect(await settled(clock, done)).toMatchObject({ status: 'completed' });
    expect(session.revision).toBe(1);
  });

  test('two streams made at once: the second to be read is refused', async () => {
    const { clock, session } = start([{ text: 'Hello.', firstTokenMs: 100 }]);
    const [first, second] = [session.stream('One'), session.stream('Two')];
    const reading = collect(first);
    await clock.advance(1);
    expect(await reasonOf(() => collect(second))).toBe('busy');
    await settled(clock, reading);
    expect(stateOf(session)).toEqual({ status: 'idle', revision: 1, roles: 'user assistant' });
  });
});

describe('a failed turn', () => {
  test('can be run again, and nothing was lost', async () => {
    const { chat, session } = start(['Hello.', new AdapterError('rate_limited', 'Slow down.', { status: 429 }), 'Fine.']);
    await session.send('Hi');
    await session.send('How are you?');
    expect([session.status, session.error]).toMatchObject(['failed', { reason: 'rate_limited', status: 429 }]);
    expect(await session.retry()).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(chat.requests[2]?.messages).toEqual(chat.requests[1]?.messages);
    expect(session.error).toBeUndefined();
    expect(stateOf(session)).toEqual({ status: 'idle', revision: 3, roles: 'user assistant user assistant' });
  });

  test('can fail again and again', async () => {
    const { session } = start([new Error('1'), new Error('2'), 'Fine.']);
    await session.send('Hi');
    await session.retry();
    expect(stateOf(session)).toEqual({ status: 'failed', revision: 2, roles: 'user' });
    expect(await session.retry()).toMatchObject({ text: 'Fine.' });
  });

  test('can be left behind', async () => {
    const { session } = start([new Error('down'), 'Fine.']);
    await session.send('Hi');
    expect(await session.send('Hello?')).toMatchObject({ status: 'completed' });
  });

  test('is still failed in the data that is written while it is tried again', async () => {
    const { clock, session } = start([new Error('down'), { text: 'Fine.', firstTokenMs: 100 }]);
    await session.send('Hi');
    const done = session.retry();
    await clock.advance(10);
    expect(session.toJSON()).toMatchObject({ status: 'failed', error: { name: 'AdapterError' } });
    await settled(clock, done);
  });

  test('is the only one that can be retried', async () => {
    const { session } = start(['Hello.']);
    expect(await reasonOf(() => session.retry())).toBe('nothing_to_retry');
    await session.send('Hi');
    expect(await reasonOf(() => session.retry())).toBe('nothing_to_retry');
  });
});

describe('answers', () => {
  test('the answer is the result of the call that asked', async () => {
    const { chat, session } = start([calls('asks'), 'Monday it is.']);
    await session.send('Book it.');
    expect(session.pending.questions).toEqual([{ callId: 'asks_0', name: 'asks', question: 'Which day?' }]);
    expect(await session.answer('Monday')).toMatchObject({ status: 'completed', text: 'Monday it is.' });
    expect(chat.requests[1]?.messages.at(-1)).toEqual(toolResult('asks_0', 'Monday', { name: 'asks' }));
    expect(session.pending).toEqual({});
  });

  test('the run goes on when the last open call has its result, in whatever order they come', async () => {
    const { chat, session } = start([calls('asks', 'by_hand', 'works', 'asks'), 'Fine.']);
    await session.send('Go.');
    expect(await session.submitToolResult('asks_3', 'later')).toBeUndefined();
    expect(await session.submitToolResult('by_hand_1', { ok: true })).toBeUndefined();
    expect(session.status).toBe('waiting');
    expect(await session.answer('first')).toMatchObject({ status: 'completed' });
    expect(chat.requests[1]?.messages.slice(2).map(message => message.role === 'tool' && [message.callId, message.content])).toEqual([
      ['asks_0', 'first'],
      ['by_hand_1', '{"ok":true}'],
      ['works_2', 'done'],
      ['asks_3', 'later'],
    ]);
  });

  test('results are encoded as the engine encodes', async () => {
    const { engine } = setUp([calls('by_hand'), 'Fine.'], { tools, encodeResult: value => `<${String(value)}>` });
    const session = createSession({ engine });
    await session.send('Go.');
    await session.submitToolResult('by_hand_0', 5);
    expect(session.messages[2]).toMatchObject({ content: '<5>' });
    const broken = createSession({ engine: setUp([calls('by_hand')], { tools, encodeResult: value => value as never }).engine });
    await broken.send('Go.');
    await expect(broken.submitToolResult('by_hand_0', { a: 1 })).rejects.toThrow(/by_hand_0 could not be encoded/);
    expect(broken.status).toBe('waiting');
  });

  test.each<readonly [string, (session: Session) => unknown, unknown]>([
    ['a resumption', session => session.resume(), 'invalid_status'],
    ['no answer', session => session.answer({}), expect.any(TypeError)],
    ['answers of which one is to nothing', session => session.answer({ asks_0: 'x', nope: 'y' }), 'unknown_call'],
    ['an approval of what needs none', session => session.approve('asks_0'), 'unknown_call'],
    ['a denial of what is not there', session => session.deny('nope', 'no'), 'unknown_call'],
    ['an unknown call', session => session.submitToolResult('nope', 1), 'unknown_call'],
    ['a call that was answered already', session => session.submitToolResult('works_1', 1), 'unknown_call'],
    ['a retry', session => session.retry(), 'nothing_to_retry'],
    ['a value that is no JSON', session => session.submitToolResult('asks_0', () => 1), expect.any(TypeError)],
    [
      'options that cannot work',
      session => session.submitToolResult('asks_0', 'x', { maxTurns: 0 }),
      expect.objectContaining({ reason: 'invalid_option' }),
    ],
  ])('%s is refused, and nothing changes', async (_, act, reason) => {
    const { session } = start([calls('asks', 'works'), 'Fine.']);
    await session.send('Go.');
    const before = jsonCopy(session.toJSON());
    expect(await reasonOf(() => act(session))).toEqual(reason);
    expect(session.toJSON()).toEqual(before);
    expect(await session.answer('Monday')).toMatchObject({ status: 'completed' });
  });

  test('a message is refused while it waits for more than an answer', async () => {
    const { session } = start([calls('asks', 'asks'), 'Fine.']);
    await session.send('Go.');
    expect(await reasonOf(() => session.send('Hello?'))).toBe('invalid_status');
  });

  test('an answer to nothing is refused', async () => {
    const { session } = start([]);
    expect(await reasonOf(() => session.answer('Monday'))).toBe('invalid_status');
    expect(await reasonOf(() => session.submitToolResult('x', 1))).toBe('invalid_status');
  });

  test('a run that fails after an answer keeps it', async () => {
    const { session } = start([calls('asks'), new Error('down'), 'Fine.']);
    await session.send('Go.');
    expect(await session.answer('Monday')).toMatchObject({ status: 'failed' });
    expect(stateOf(session)).toEqual({ status: 'failed', revision: 3, roles: 'user assistant tool' });
    expect(await session.retry()).toMatchObject({ status: 'completed' });
  });
});
