import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  assistant,
  createEngine,
  createSession,
  fileStore,
  type Json,
  type Message,
  memoryStore,
  openSession,
  type SessionStore,
  user,
} from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'antiphon-size-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SMALL = 4000;
const LARGE = 40_000;
/** 10 is linear, 100 quadratic. */
const LIMIT = 25;

/** How many times the processor's time ten times the size takes. The best of some measurements: a busy machine only makes one look worse. */
async function growth(prepare: (size: number) => Promise<() => Promise<unknown>>): Promise<number> {
  const cost = async (size: number) => {
    const work = await prepare(size);
    const before = process.cpuUsage();
    await work();
    const { user: own, system } = process.cpuUsage(before);
    return own + system + 1;
  };
  await cost(SMALL);
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 4 && best > LIMIT; i++) best = Math.min(best, (await cost(LARGE)) / (await cost(SMALL)));
  return best;
}

const thread = (size: number): Message[] =>
  Array.from({ length: size / 2 }, (_, i) => [user(`Question ${i}`), assistant([{ type: 'text', text: `Answer ${i}` }])]).flat();

/** A log of `size` messages in turns of four: a question, two calls whose results come in the other order, and their results. */
function logOf(size: number): Json[] {
  const turn = (i: number): unknown[] => [
    { type: 'begin', messages: [user(`Question ${i}`)] },
    {
      type: 'message',
      message: assistant(['a', 'b'].map(id => ({ type: 'tool_call', id, name: 'works', arguments: {}, rawArguments: '{}' }))),
    },
    ...['a', 'b'].map(callId => ({ type: 'start', callId })),
    ...['b', 'a'].map(callId => ({ type: 'result', callId, name: 'works', content: 'done' })),
    { type: 'end', status: 'idle', keep: 4 * (i + 1), messages: [], pending: {} },
  ];
  return Array.from({ length: size / 4 }, (_, i) => turn(i)).flat() as Json[];
}

const engine = () => createEngine({ chat: scripted(['Fine.', 'Fine.', 'Fine.']) });

const stores: readonly (readonly [string, () => SessionStore])[] = [
  ['memoryStore', memoryStore],
  ['fileStore', () => fileStore(mkdtempSync(join(folder, 'one-')))],
];

describe.each(stores)('a session of 40,000 messages in %s', (_, makeStore) => {
  test('is opened in linear time', async () => {
    const ratio = await growth(async size => {
      const store = makeStore();
      await store.append('s', logOf(size), 0);
      return async () => expect((await openSession({ engine: engine(), store, id: 's' })).messages).toHaveLength(size);
    });
    expect(ratio).toBeLessThan(LIMIT);
  });

  test('goes on in linear time, by a message or a resumption', async () => {
    const ratio = await growth(async size => {
      const store = makeStore();
      const broken = [...logOf(size), { type: 'begin', messages: [user('Go.')] }] as unknown as Json[];
      await store.append('s', broken, 0);
      const session = await openSession({ engine: engine(), store, id: 's' });
      return async () => {
        expect(await session.resume()).toMatchObject({ status: 'completed' });
        expect(await session.send('And?')).toMatchObject({ status: 'completed' });
        await session.replaceMessages(session.messages.slice(0, -1));
      };
    });
    expect(ratio).toBeLessThan(LIMIT);
  });
});

test('what a turn writes does not depend on how long the conversation is', async () => {
  const written = async (size: number) => {
    const home = mkdtempSync(join(folder, 'two-'));
    const session = createSession({ engine: engine(), store: fileStore(home), id: 's', messages: thread(size) });
    const bytes = () => statSync(join(home, 's.jsonl')).size;
    await session.send('One');
    const before = bytes();
    await session.send('Two');
    await session.replaceMessages([...session.messages.slice(0, -1), assistant('Heard.')]);
    return bytes() - before;
  };
  // Places in the list have more digits.
  expect((await written(LARGE)) - (await written(100))).toBeLessThan(20);
});
