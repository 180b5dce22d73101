import { askUser, createSession, type Message, restoreSession, user, ValidationError } from '@antiphon/engine';
import type { ScriptedTurn } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { jsonCopy, plainTool, setUp } from './support.js';

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

describe('as data', () => {
  test('a waiting session is answered in another process', async () => {
    const { engine, session } = start([calls('asks'), 'Fine.']);
    await session.send('Go.');
    const restored = restoreSession(jsonCopy(session), { engine });
    expect(restored.toJSON()).toStrictEqual(session.toJSON());
    expect(await restored.answer('Monday')).toMatchObject({ status: 'completed', text: 'Fine.' });
  });

  test('a failed session is retried in another process', async () => {
    const { engine, session } = start([new Error('down'), 'Fine.']);
    await session.send('Go.');
    expect(await restoreSession(jsonCopy(session), { engine }).retry()).toMatchObject({ text: 'Fine.' });
  });

  test('a restored session shares nothing with its data', async () => {
    const { engine, session } = start(['Hello.', 'Fine.']);
    await session.send('Hi');
    const json = jsonCopy(session.toJSON());
    const restored = restoreSession(json, { engine });
    (json.messages as Message[]).length = 0;
    expect(restored.messages).toHaveLength(2);
  });

  test('a fork goes its own way', async () => {
    const { session } = start(['Hello.', 'Left.', 'Right.']);
    await session.send('Hi');
    const fork = session.fork();
    expect(fork.id).not.toBe(session.id);
    expect(fork.toJSON()).toEqual({ ...session.toJSON(), id: fork.id });
    await session.send('Left?');
    await fork.send('Right?');
    expect([session, fork].map(one => one.messages.length)).toEqual([4, 4]);
    expect(fork.messages.at(-1)).not.toEqual(session.messages.at(-1));
  });

  test('the history can be replaced, for example by what was heard', async () => {
    const { chat, session } = start(['A long answer.', 'Fine.']);
    await session.send('Hi');
    session.replaceMessages([user('Hi'), { role: 'assistant', content: 'A long', interrupted: true }]);
    expect(session.revision).toBe(2);
    await session.send('Go on.');
    expect(chat.requests[1]?.messages[1]).toMatchObject({ content: 'A long', interrupted: true });
    expect(() => session.replaceMessages('x' as never)).toThrow(ValidationError);
  });

  const good = { version: 2, id: 's', revision: 0, status: 'idle', messages: [], pending: {}, batch: 0 };
  test.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', JSON.stringify(good)],
    ['a list', []],
    ['no version', { ...good, version: undefined }],
    ['a version to come', { ...good, version: 3 }],
    ['a version that is no number', { ...good, version: '1' }],
    ['no batch', { ...good, batch: undefined }],
    ['approved calls without names', { ...good, approved: [{}] }],
    ['started calls that are none', { ...good, started: [5] }],
    ['no id', { ...good, id: undefined }],
    ['an empty id', { ...good, id: '' }],
    ['half a revision', { ...good, revision: 0.5 }],
    ['a negative revision', { ...good, revision: -1 }],
    ['a running status', { ...good, status: 'running' }],
    ['messages that are none', { ...good, messages: [{ role: 'nobody', content: '' }] }],
    ['no messages', { ...good, messages: undefined }],
    ['no pending', { ...good, pending: undefined }],
    ['pending text', { ...good, pending: 'x' }],
    ['pending calls that are none', { ...good, status: 'waiting', pending: { calls: 5 } }],
    ['a pending call without an id', { ...good, status: 'waiting', pending: { calls: [{ name: 'f', arguments: {} }] } }],
    ['a pending question without text', { ...good, status: 'waiting', pending: { questions: [{ callId: 'c', name: 'f' }] } }],
    ['waiting for nothing', { ...good, status: 'waiting' }],
    ['idle with something pending', { ...good, pending: { questions: [{ callId: 'c', name: 'f', question: '?' }] } }],
    ['an error that is none', { ...good, status: 'failed', error: 'x' }],
    ['what is no JSON', { ...good, pending: { value: 1n } }],
  ])('%s is no session', (_, json) => {
    const { engine } = start([]);
    expect(() => restoreSession(json, { engine })).toThrow(expect.objectContaining({ name: 'ValidationError', reason: 'invalid_session' }));
  });

  test('the faults are listed with their places', () => {
    const { engine } = start([]);
    const json = { ...good, revision: 'x', messages: [{ role: 'user', content: 5 }], pending: { calls: [{}] } };
    expect(() => restoreSession(json, { engine })).toThrow(/revision.*messages\[0\]\.content.*pending\.calls\[0\]\.id/);
  });

  test('data of version 1 is read', () => {
    const { engine } = start([]);
    const { batch: _, ...rest } = good;
    expect(restoreSession({ ...rest, version: 1 }, { engine }).toJSON()).toEqual(good);
  });

  test('keys that a later version added are kept', () => {
    const { engine } = start([]);
    expect(restoreSession({ ...good, note: 'x' }, { engine }).toJSON()).toEqual({ ...good, note: 'x' });
  });
});
