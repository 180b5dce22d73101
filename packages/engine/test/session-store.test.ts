import { createEngine, createSession, type Json, memoryStore, openSession, StoreError } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { call, failingStore, logOf, settle, world } from './session-store-support.js';
import { jsonCopy } from './support.js';

describe('a store that fails', () => {
  const turns = [{ toolCalls: [call('pay'), call('put')] }, 'Fine.'];

  test.each([
    ['the beginning', 'begin', 'idle', []],
    ['the answer of the model', 'message', 'interrupted', []],
    ['a start', 'start', 'interrupted', []],
    ['the end', 'end', 'interrupted', ['pay', 'put']],
  ] as const)('at %s fails the turn, and nothing runs that was not written down', async (_, type, status, ran) => {
    let broken = true;
    const { store, failing } = failingStore((_, entries) => broken && JSON.stringify(entries).includes(`"type":"${type}"`));
    const { runs, engine, effects } = world(turns);
    const session = createSession({ engine: engine(), store: failing, id: 's' });
    expect(await session.send('Go.')).toMatchObject({
      status: 'failed',
      error: { name: 'StoreError', reason: 'io', message: expect.stringMatching(/disk full/) },
    });
    expect([session.status, runs]).toEqual([status, ran]);
    broken = false;
    if (status === 'idle') await session.send('Go.');
    else await session.resume();
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
    expect(effects).toHaveLength(2);
    expect(jsonCopy((await openSession({ engine: engine(), store, id: 's' })).toJSON())).toEqual(jsonCopy(session.toJSON()));
  });

  test('takes back a replaced history, and tells who waits for it', async () => {
    const { failing } = failingStore(append => append > 1);
    const session = createSession({ engine: world([]).engine(), store: failing });
    await session.replaceMessages([{ role: 'user', content: 'kept' }]);
    const written = session.replaceMessages([]);
    expect(session.messages).toEqual([]);
    await expect(written).rejects.toBeInstanceOf(StoreError);
    expect(session.messages).toHaveLength(1);
  });

  test('refuses an answer, which can be given again', async () => {
    let broken = false;
    const { failing } = failingStore(() => broken);
    const session = createSession({ engine: world([{ toolCalls: [call('asks'), call('guarded')] }, 'Fine.']).engine(), store: failing });
    await session.send('Go.');
    broken = true;
    await expect(session.answer('Monday')).rejects.toMatchObject({ name: 'StoreError', reason: 'io' });
    expect(session.pending.questions).toHaveLength(1);
    broken = false;
    await session.answer('Monday');
    expect(await session.approve('guarded')).toMatchObject({ status: 'completed' });
  });
});

describe('the log', () => {
  test('tells every step before the next one', async () => {
    const store = memoryStore();
    const session = createSession({ engine: world([{ toolCalls: [call('pay')] }, 'Fine.']).engine(), store, id: 's' });
    await session.send('Go.');
    expect(await logOf(store, 's')).toEqual(['snapshot', 'begin', 'message', 'start', 'result', 'end']);
  });

  test('has a result even when nobody reads on', async () => {
    const store = memoryStore();
    const session = createSession({ engine: world([{ toolCalls: [call('pay'), call('book')] }, 'Fine.']).engine(), store, id: 's' });
    const reader = session.stream('Go.')[Symbol.asyncIterator]();
    for (let seen = ''; seen !== 'tool_start'; ) seen = (await reader.next()).value?.type ?? '';
    await settle();
    expect((await logOf(store, 's')).filter(type => type === 'result')).toHaveLength(2);
    await reader.return?.();
  });

  test('is summed up when it has grown long, and stays short', async () => {
    const store = memoryStore();
    const session = createSession({
      engine: createEngine({ chat: scripted(Array.from({ length: 400 }, () => 'Yes.')) }),
      store,
      id: 's',
    });
    for (let i = 0; i < 400; i++) await session.send('Hm?');
    expect((await logOf(store, 's')).length).toBeLessThan(700);
    expect((await openSession({ engine: createEngine({}), store, id: 's' })).messages).toHaveLength(800);
  });

  test.each<readonly [string, Json[], RegExp]>([
    ['an entry that nobody knows', [{ type: 'dance' }], /entry 1 of 1 \(dance\).*update/],
    ['no entry at all', [null], /entry 1 of 1/],
    ['a result outside of a turn', [{ type: 'result', callId: 'a', name: 'a', content: '' }], /outside of one/],
    ['messages that are none', [{ type: 'begin', messages: [5] }], /messages\[0\]/],
  ])('with %s is corrupt', async (_, log, message) => {
    const store = memoryStore();
    await store.append('s', log, 0);
    await expect(openSession({ engine: createEngine({}), store, id: 's' })).rejects.toMatchObject({
      reason: 'corrupt',
      message: expect.stringMatching(message),
    });
  });

  test('of an id that is not there, or there already', async () => {
    const store = memoryStore();
    const engine = world(['Hi.', 'Hi.']).engine();
    await expect(openSession({ engine, store, id: 's' })).rejects.toMatchObject({
      reason: 'not_found',
      message: expect.stringMatching(/createSession/),
    });
    await createSession({ engine, store, id: 's' }).send('Hi');
    const outcome = await createSession({ engine, store, id: 's' }).send('Hi');
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'conflict', message: expect.stringContaining('openSession') } });
  });

  test('of a fork is its own', async () => {
    const store = memoryStore();
    const engine = world(['Hi.', 'Left.', 'Right.']).engine();
    const session = createSession({ engine, store, id: 's' });
    await session.send('Hi');
    const fork = session.fork();
    await fork.send('Left?');
    await session.send('Right?');
    expect(await store.list()).toHaveLength(2);
    for (const one of [session, fork]) expect((await openSession({ engine, store, id: one.id })).toJSON()).toEqual(one.toJSON());
  });
});
