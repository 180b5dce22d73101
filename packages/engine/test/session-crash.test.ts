import { createSession, type Json, memoryStore, messageText, openSession, type Session, type StoreError } from '@antiphon/engine';
import type { ScriptedReply } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { call, dyingStore, settle, world } from './session-store-support.js';
import { jsonCopy } from './support.js';

/** Goes on until nothing is left to do. */
async function finish(session: Session) {
  for (let i = 0; i < 10; i++) {
    if (session.status === 'interrupted' || session.status === 'failed') await session.resume();
    else if (session.pending.approvals?.[0]) await session.approve(session.pending.approvals[0].id);
    else if (session.pending.questions?.[0]) await session.answer('Monday');
    else return;
  }
}

/** Every call has one result, and each of them stands behind its call, before anybody says anything else. */
function openOrDouble(session: Session): string[] {
  const open = new Set<string>();
  const wrong: string[] = [];
  for (const [i, message] of session.messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.callId)) wrong.push(`double ${message.callId}`);
      continue;
    }
    wrong.push(...[...open].map(id => `open ${id} before ${i}`));
    open.clear();
    if (message.role === 'assistant' && typeof message.content !== 'string')
      for (const part of message.content) if (part.type === 'tool_call') open.add(part.id);
  }
  return [...wrong, ...[...open].map(id => `open ${id}`)];
}

const PLOT: readonly (ScriptedReply | string)[] = [
  { toolCalls: [call('pay', 'a'), call('put', 'b'), call('guarded', 'c'), call('asks', 'd'), call('book', 'e')] },
  { toolCalls: [call('pay', 'a'), call('put', 'b')] },
  'All done.',
];

/** Servers that count the calls of each answer from 0. */
const SAME_IDS: readonly (ScriptedReply | string)[] = [
  ...['pay', 'book', 'pay'].map(name => ({ toolCalls: [call(name, 'a')] })),
  'All done.',
];

describe('a crash', () => {
  const points = Array.from({ length: 20 }, (_, i) => i + 1).flatMap(at =>
    [false, true].flatMap(wrote => [
      { at, wrote, plot: PLOT, story: 'many calls' },
      { at, wrote, plot: SAME_IDS, story: 'one id' },
    ]),
  );

  test.each(points)('at append $at (written: $wrote) loses nothing and repeats nothing: $story', async ({ at, wrote, plot }) => {
    const disk = memoryStore();
    const { effects, engine } = world(plot);
    const { store, died } = dyingStore(disk, at, wrote);
    const first = createSession({ engine: engine(), store, id: 's' });
    const life = (async () => {
      await first.send('Go.');
      await finish(first);
    })();
    await Promise.race([died, life]);
    await settle();

    let session: Session;
    try {
      session = await openSession({ engine: engine(), store: disk, id: 's' });
    } catch (error) {
      // Before the first write there is nothing; the message was never taken.
      expect([at, wrote, (error as StoreError).reason]).toEqual([1, false, 'not_found']);
      return;
    }
    const before = session.messages;
    // Only the calls of the last answer may be open.
    expect(openOrDouble(session).filter(fault => fault.includes(' before '))).toEqual([]);
    expect(before[0]).toMatchObject({ role: 'user', content: 'Go.' });
    await finish(session);
    expect(messageText(session.messages.at(-1)!)).toBe('All done.');
    expect(openOrDouble(session)).toEqual([]);
    expect(effects.filter(effect => effect.startsWith('AGAIN'))).toEqual([]);
    // What was there at the crash is there still.
    expect(
      session.messages.filter(message => message.role !== 'tool').slice(0, before.filter(({ role }) => role !== 'tool').length),
    ).toEqual(before.filter(({ role }) => role !== 'tool'));
    for (const result of before.filter(({ role }) => role === 'tool')) expect(session.messages).toContainEqual(result);
    expect(jsonCopy((await openSession({ engine: engine(), store: disk, id: 's' })).toJSON())).toEqual(jsonCopy(session.toJSON()));
  });

  const crashed = async (log: readonly Json[], turns: readonly (ScriptedReply | string)[]) => {
    const store = memoryStore();
    await store.append('s', log, 0);
    const made = world(turns);
    return { ...made, store, session: await openSession({ engine: made.engine(), store, id: 's' }) };
  };
  const begun = (...calls: readonly { id: string; name: string }[]): Json[] => [
    { type: 'begin', messages: [{ role: 'user', content: 'Go.' }] },
    {
      type: 'message',
      message: { role: 'assistant', content: calls.map(one => ({ type: 'tool_call', ...one, arguments: {}, rawArguments: '{}' })) },
    },
  ];
  const contents = (session: Session) =>
    Object.fromEntries(session.messages.flatMap(message => (message.role === 'tool' ? [[message.callId, message.content]] : [])));

  test('in a batch: results are kept, what never began runs, what began is not run again unless it may', async () => {
    const { session, runs } = await crashed(
      [
        ...begun(call('pay', 'a'), call('pay', 'b'), call('put', 'c'), call('book', 'd')),
        ...['a', 'b', 'c'].map(callId => ({ type: 'start', callId })),
        { type: 'result', callId: 'a', name: 'pay', content: 'paid before' },
      ],
      [{}, 'Fine.'],
    );
    expect([session.status, session.revision]).toEqual(['interrupted', 1]);
    expect(await session.resume()).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(runs.sort()).toEqual(['c', 'd']);
    expect(contents(session)).toEqual({
      a: 'paid before',
      b: expect.stringContaining('unknown whether it took effect'),
      c: 'put done',
      d: 'book done',
    });
  });

  test('a call that runs again has the key that it had', async () => {
    const disk = memoryStore();
    const { effects, engine } = world([{ toolCalls: [call('put')] }, 'Fine.']);
    // The second append after the beginning tells the result.
    const { store, died } = dyingStore(disk, 4, false);
    void createSession({ engine: engine(), store, id: 'a/b' }).send('Go.');
    await died;
    const session = await openSession({ engine: engine(), store: disk, id: 'a/b' });
    await session.resume();
    expect(effects).toEqual(['put a%2Fb/1/put']);
  });

  test('a question that was asked waits for its answer; then the others run', async () => {
    const { session, runs } = await crashed(
      [
        ...begun(call('asks', 'a'), call('book', 'b')),
        { type: 'start', callId: 'a' },
        { type: 'question', callId: 'a', name: 'asks', question: 'Which day?' },
      ],
      [{}, 'Fine.'],
    );
    expect([session.status, session.pending]).toEqual(['waiting', { questions: [{ callId: 'a', name: 'asks', question: 'Which day?' }] }]);
    expect(await session.answer('Monday')).toMatchObject({ status: 'completed' });
    expect([runs, contents(session)]).toEqual([['b'], { a: 'Monday', b: 'book done' }]);
  });

  test('a new message may take the place of a resumption', async () => {
    const { session, runs } = await crashed([...begun(call('pay', 'a'), call('book', 'b')), { type: 'start', callId: 'a' }], [{}, 'Fine.']);
    expect(await session.send('Never mind.')).toMatchObject({ status: 'completed' });
    expect(runs).toEqual([]);
    expect(contents(session)).toEqual({ a: expect.stringContaining('unknown'), b: expect.stringContaining('not run') });
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user', 'assistant']);
  });

  test('after an approval: who resumes twice from one saved state pays once', async () => {
    const store = memoryStore();
    const { runs, engine } = world([{ toolCalls: [call('guarded')] }, 'Paid.']);
    const session = createSession({ engine: engine(), store, id: 's' });
    await session.send('Pay.');
    await session.approve('guarded', { run: false });
    const both = await Promise.all([1, 2].map(() => openSession({ engine: engine(), store, id: 's' })));
    const outcomes = await Promise.all(both.map(one => one.resume()));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['completed', 'failed']);
    const lost = outcomes.find(({ status }) => status === 'failed');
    expect(lost).toMatchObject({ error: { name: 'StoreError', reason: 'conflict', message: expect.stringContaining('open it again') } });
    expect(runs).toEqual(['guarded']);
  });
});
