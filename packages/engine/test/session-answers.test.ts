import {
  AdapterError,
  askUser,
  assistant,
  createSession,
  imagePart,
  type JsonObject,
  memoryStore,
  restoreSession,
  type Session,
  type ToolContext,
  textPart,
  tool,
  user,
} from '@antiphon/engine';
import type { ScriptedTurn } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { call, calls, collect, jsonCopy, plainTool, setUp, typesOf } from './support.js';

/** What took effect, with the arguments that were given. */
function start(turns: readonly ScriptedTurn[], options?: JsonObject) {
  const effects: unknown[] = [];
  const keys: unknown[] = [];
  const act = (args: unknown, { call: { id }, idempotencyKey }: ToolContext) => {
    effects.push([id, args]);
    keys.push(idempotencyKey);
    return 'done';
  };
  const anything = { type: 'object' };
  const tools = [
    tool({ name: 'works', description: 'Works.', input: anything, run: act }),
    tool({ name: 'guarded', description: 'Is guarded.', input: anything, run: act, approve: true }),
    plainTool('asks', () => askUser('Which?', options)),
    plainTool('by_hand', undefined, { manual: true }),
  ];
  const { chat, engine } = setUp(turns, { tools, retry: false });
  return { chat, engine, effects, keys, session: createSession({ engine, id: 's', store: memoryStore() }) };
}

const results = (session: Session) =>
  Object.fromEntries(session.messages.flatMap(message => (message.role === 'tool' ? [[message.callId, message.content]] : [])));

describe('an approval', () => {
  test('lets the call run, and the conversation goes on', async () => {
    const { session, effects, chat } = start([{ toolCalls: [call('guarded', { amount: 5 })] }, 'Paid.']);
    expect(await session.send('Pay.')).toMatchObject({ status: 'interrupted', reason: 'approval' });
    expect([session.status, effects]).toEqual(['waiting', []]);
    expect(await session.approve('guarded')).toMatchObject({ status: 'completed', text: 'Paid.' });
    expect([effects, session.status, session.pending]).toEqual([[['guarded', { amount: 5 }]], 'idle', {}]);
    expect(chat.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', callId: 'guarded', content: 'done' });
  });

  test('may give other arguments', async () => {
    const { session, effects } = start([{ toolCalls: [call('guarded', { amount: 5 })] }, 'Paid.']);
    await session.send('Pay.');
    const edited = { amount: 3 };
    const done = session.approve('guarded', { arguments: edited, maxTurns: 2 });
    edited.amount = 1000;
    await done;
    expect(effects).toEqual([['guarded', { amount: 3 }]]);
  });

  test.each([5, 'x', [], { f: () => 1 }])('does not take %j for arguments', async edited => {
    const { session } = start([calls('guarded')]);
    await session.send('Pay.');
    const before = jsonCopy(session);
    await expect(session.approve('guarded', { arguments: edited as never })).rejects.toThrow(TypeError);
    expect(jsonCopy(session)).toEqual(before);
  });

  test('that is refused is told to the model, with the reason', async () => {
    const { session, effects } = start([calls('guarded'), 'As you wish.']);
    await session.send('Pay.');
    expect(await session.deny('guarded', 'Too expensive.')).toMatchObject({ status: 'completed' });
    expect([effects, results(session)]).toEqual([[], { guarded: 'This call was denied and not run. Reason: Too expensive.' }]);
    expect(session.messages[2]).toMatchObject({ isError: true });
  });

  test('waits for the others, and survives in between', async () => {
    const { session, engine, effects } = start([calls('guarded', 'asks', 'works'), 'Fine.']);
    await session.send('Go.');
    expect(await session.approve('guarded', { arguments: { amount: 3 } })).toBeUndefined();
    await expect(session.approve('guarded')).rejects.toMatchObject({ reason: 'unknown_call' });
    const restored = restoreSession(jsonCopy(session), { engine });
    expect(restored.toJSON()).toStrictEqual(session.toJSON());
    expect(await restored.answer('This.')).toMatchObject({ status: 'completed' });
    expect(effects).toEqual([
      ['works', {}],
      ['guarded', { amount: 3 }],
    ]);
  });
});

describe('questions', () => {
  test('are answered one by one, or all at once', async () => {
    for (const atOnce of [true, false]) {
      const { session } = start([{ toolCalls: [call('asks', {}, 'a'), call('asks', {}, 'b'), call('by_hand')] }, 'Fine.']);
      await session.send('Go.');
      const { revision } = session;
      if (atOnce) expect(await session.answer({ b: 'B', a: { deep: true }, by_hand: null })).toMatchObject({ status: 'completed' });
      else {
        expect(await session.answer('A')).toBeUndefined();
        expect(session.pending.questions).toMatchObject([{ callId: 'b' }]);
        expect(await session.answer('B')).toBeUndefined();
        expect(await session.submitToolResult('by_hand', null)).toMatchObject({ status: 'completed' });
      }
      expect(results(session)).toEqual({ a: atOnce ? '{"deep":true}' : 'A', b: 'B', by_hand: 'null' });
      expect(session.revision).toBe(revision + 4);
    }
  });

  test.each<readonly [JsonObject, unknown, string]>([
    [{ type: 'integer' }, 'three', 'three'],
    [{ enum: ['red', 'blue'] }, 'green', 'green'],
    [{ type: 'object', required: ['day'] }, '{}', '{}'],
  ])('with the schema %j refuse %j, and nothing changes', async (schema, answer) => {
    const { session } = start([calls('asks'), 'Fine.'], { schema });
    await session.send('Go.');
    const before = jsonCopy(session);
    for (const give of [
      () => session.answer(answer as string),
      () => session.answer({ asks: answer as string }),
      () => session.send(answer as string),
    ])
      await expect(give()).rejects.toMatchObject({
        name: 'ValidationError',
        reason: 'invalid_answer',
        message: expect.stringMatching(/^The answer to "Which\?" does not fit: /),
      });
    expect([jsonCopy(session), session.status]).toEqual([before, 'waiting']);
  });

  test.each<readonly [JsonObject, unknown, unknown]>([
    [{ type: 'integer' }, 3, '3'],
    [{ type: 'integer' }, '3', '3'],
    [{ type: 'string' }, '3', '3'],
    [{ type: 'boolean' }, false, 'false'],
    [{ type: 'object', required: ['day'] }, '{"day":"Monday"}', '{"day":"Monday"}'],
  ])('with the schema %j take %j', async (schema, answer, result) => {
    const { session } = start([calls('asks'), 'Fine.'], { schema });
    await session.send('Go.');
    await session.answer(answer as string);
    expect(results(session)).toEqual({ asks: result });
  });

  test('alone are answered by the next message', async () => {
    for (const say of ['Monday', user('Monday'), user([textPart('Mon'), textPart('day')])]) {
      const { session } = start([calls('asks'), 'Fine.']);
      await session.send('Go.');
      expect(await session.send(say)).toMatchObject({ status: 'completed', text: 'Fine.' });
      expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      expect(results(session)).toEqual({ asks: 'Monday' });
    }
  });

  test('may be answered with a picture', async () => {
    const { session } = start([calls('asks'), 'Nice.']);
    await session.send('Go.');
    const picture = imagePart('AAAA');
    await collect(session.stream(user([textPart('This:'), picture])));
    expect(results(session)).toEqual({ asks: [textPart('This:'), picture] });
  });

  test('given twice at the same time count once', async () => {
    const { session } = start([calls('asks', 'guarded'), 'Fine.']);
    await session.send('Go.');
    const both = await Promise.allSettled([session.answer('A'), session.answer('B')]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(results(session)).toEqual({ asks: 'A' });
  });
});

describe('going on later', () => {
  test('answers are only written down; the run can be watched', async () => {
    const { session, engine } = start([calls('asks', 'guarded'), 'Fine.']);
    await session.send('Go.');
    await session.approve('guarded', { run: false });
    expect(await session.answer('A', { run: false })).toBeUndefined();
    expect([session.status, session.pending]).toEqual(['interrupted', {}]);
    const restored = restoreSession(jsonCopy(session), { engine });
    const events = await collect(restored.resumeStream());
    expect(typesOf(events).filter(type => type !== 'text_delta')).toEqual([
      'tool_start',
      'tool_result',
      ...['message_start', 'text_end', 'message_end', 'step_end', 'end'],
    ]);
    expect(results(restored)).toEqual({ asks: 'A', guarded: 'done' });
  });

  test('after a budget was used up', async () => {
    const { session } = start([calls('works'), 'Fine.']);
    expect(await session.send('Go.', { maxTurns: 1 })).toMatchObject({ reason: 'max_turns' });
    expect(await session.resume()).toMatchObject({ status: 'completed', text: 'Fine.' });
    await expect(session.resume()).rejects.toMatchObject({ reason: 'nothing_to_resume', message: expect.stringContaining('send()') });
  });

  test('with calls that came from elsewhere', async () => {
    const { engine, effects } = start(['Fine.']);
    const messages = [user('Go.'), assistant([{ type: 'tool_call', id: 'works', name: 'works', rawArguments: '{}', arguments: {} }])];
    const session = createSession({ engine, messages });
    expect(await session.resume()).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(effects).toEqual([['works', {}]]);
  });
});

describe('a failed turn', () => {
  const down = () => new AdapterError('provider_unavailable', 'Down.', { status: 503 });

  test('keeps the steps whose tools have run, and does not run them again', async () => {
    const { session, effects } = start([calls('works'), { toolCalls: [call('works', { n: 2 })] }, down(), down(), 'Fine.']);
    expect(await session.send('Go.')).toMatchObject({ status: 'failed' });
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
    await session.retry();
    expect(await session.retry()).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(effects).toEqual([
      ['works', {}],
      ['works', { n: 2 }],
    ]);
  });

  test.each<readonly [string, ScriptedTurn]>([
    ['broke off in its text', { text: 'Half', error: down() }],
    ['broke off behind its calls', { toolCalls: [call('works')], error: down() }],
    ['ended with an error', { toolCalls: [call('works')], finishReason: 'error' }],
  ])('keeps nothing of an answer that %s', async (_, turn) => {
    const { session, effects } = start([calls('works'), turn, 'Fine.']);
    await session.send('Go.');
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(await session.resume()).toMatchObject({ text: 'Fine.' });
    expect(effects).toHaveLength(1);
  });
});

test('every call has a key of its own, also when ids come again', async () => {
  const { session, keys } = start([calls('works'), 'One.', calls('works'), calls('works'), 'Two.', calls('works'), 'Three.']);
  await session.send('Go.');
  await session.send('Go.');
  const fork = session.fork();
  await session.replaceMessages(session.messages.slice(0, 2));
  await fork.send('Go.');
  expect(new Set(keys).size).toBe(4);
  expect(keys.slice(0, 3)).toEqual(['s/1/works', 's/2/works', 's/3/works']);
});

test('calls that are cut from the history are no longer waited for', async () => {
  const { session } = start([calls('asks', 'guarded'), 'Fine.']);
  await session.send('Go.');
  const [said, asked] = session.messages;
  session.replaceMessages([said!, asked!]);
  expect(session.status).toBe('waiting');
  session.replaceMessages([said!]);
  expect([session.status, session.pending]).toEqual(['idle', {}]);
  expect(await session.send('Hi')).toMatchObject({ text: 'Fine.' });
});

test('a session without a store gives keys too, and handlers get the engine of the session', async () => {
  const seen: unknown[] = [];
  const { engine } = setUp([calls('probe'), 'Fine.'], { tools: [plainTool('probe', (_, context) => seen.push(context))] });
  await createSession({ engine, id: 's' }).send('Go.');
  expect(seen).toMatchObject([{ idempotencyKey: 's/1/probe', sessionId: 's' }]);
  expect((seen[0] as ToolContext).engine).toBe(engine);
});
