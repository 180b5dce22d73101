import type { Json } from '../data/json.js';
import { createEngine } from '../engine.js';
import type { AntiphonError, StoreError } from '../errors.js';
import { createSession, openSession } from '../session/open-session.js';
import type { SessionStore } from '../session/store.js';
import { tool } from '../tools/tool.js';
import { type ConformanceCase, expectEqual, failureOf } from './conformance.js';
import { scripted } from './scripted.js';

/**
 * What every session store must do. `makeStore` gives an empty one each time. `reopen` gives another one over the same data, as another
 * process would have it; without it the store itself is asked again.
 *
 * ```ts
 * for (const { name, run } of storeConformance(() => myStore())) test(name, run);
 * ```
 */
export function storeConformance(
  makeStore: () => SessionStore | Promise<SessionStore>,
  { reopen = store => store }: { readonly reopen?: (store: SessionStore) => SessionStore | Promise<SessionStore> } = {},
): readonly ConformanceCase[] {
  return Object.entries(CASES).map(([name, check]) => ({
    name,
    run: async () => {
      const store = await makeStore();
      await check(store, async () => reopen(store));
    },
  }));
}

type Check = (store: SessionStore, again: () => Promise<SessionStore>) => Promise<void>;

const ODD_IDS = [
  'a/b',
  '../up',
  '..',
  '.',
  'C:\\x',
  'con',
  'Ada',
  'ada',
  'a.b',
  'a%2fb',
  ' ',
  '\0',
  '日本',
  'é',
  'e\u0301',
  '\ud800',
  '\udc00',
  '__proto__',
];
const ODD_ENTRIES: readonly Json[] = [
  { text: 'line\nbreak\r\n\u2028 "quotes" \\ \0 日本 \ud83d\ude00 \ud800' },
  JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as Json,
  { deep: [[[[{}]]]], empty: [], none: null, no: false, zero: 0, small: 1e-7, big: 2 ** 53 },
];

const CASES: { readonly [name: string]: Check } = {
  'a session that is not here is undefined': async store => {
    same(await store.load('nobody'), undefined);
    same(await store.list(), []);
  },

  'what was appended is read again, in order': async (store, again) => {
    await store.append('a', [{ n: 1 }, { n: 2 }], 0);
    await store.append('a', [{ n: 3 }], 2);
    same(await (await again()).load('a'), { entries: [{ n: 1 }, { n: 2 }, { n: 3 }], position: 3 });
  },

  'any JSON comes back exactly': async (store, again) => {
    await store.append('a', ODD_ENTRIES, 0);
    same(await (await again()).load('a'), { entries: ODD_ENTRIES, position: ODD_ENTRIES.length });
  },

  'nobody can change what is stored': async store => {
    const entry = { list: [1] };
    await store.append('a', [entry], 0);
    entry.list.push(2);
    const seen = (await store.load('a'))?.entries[0] as typeof entry;
    seen.list.push(3);
    same((await store.load('a'))?.entries, [{ list: [1] }]);
  },

  'a writer that expects another position is refused, and nothing changes': async (store, again) => {
    await store.append('a', [1, 2], 0);
    for (const position of [0, 1, 3, 4]) await refused(store.append('a', ['no'], position), 'conflict');
    await refused(store.append('b', ['no'], 1), 'conflict');
    same(await (await again()).load('a'), { entries: [1, 2], position: 2 });
    same(await store.list(), ['a']);
  },

  'of writers at one position one wins': async (store, again) => {
    const other = await again();
    await store.append('a', ['first'], 0);
    const tries = await Promise.allSettled([store, other, store, other].map((one, i) => one.append('a', [i], 1)));
    same(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const one of tries) if (one.status === 'rejected') isStoreError(one.reason, 'conflict');
    const won = tries.findIndex(({ status }) => status === 'fulfilled');
    for (const one of [store, await again()]) same(await one.load('a'), { entries: ['first', won], position: 2 });
  },

  'many appends in a row all stay': async (store, again) => {
    for (let n = 0; n < 50; n++) await store.append('a', [n], n);
    same(
      (await (await again()).load('a'))?.entries,
      Array.from({ length: 50 }, (_, n) => n),
    );
  },

  'sessions do not see each other, whatever they are called': async (store, again) => {
    const ids = [...ODD_IDS, 'x'.repeat(1000), `${'x'.repeat(1000)}y`];
    for (const id of ids) await store.append(id, [id], 0);
    const other = await again();
    for (const id of ids) same(await other.load(id), { entries: [id], position: 1 });
    same([...(await other.list())].sort(), [...ids].sort());
  },

  'what is deleted is gone, and may begin anew': async (store, again) => {
    await store.append('a', [1], 0);
    await store.append('b', [1], 0);
    await store.delete('a');
    await store.delete('nobody');
    const other = await again();
    same(await other.load('a'), undefined);
    same(await other.list(), ['b']);
    await refused(store.append('a', [2], 1), 'conflict');
    await store.append('a', [3], 0);
    same(await (await again()).load('a'), { entries: [3], position: 1 });
  },

  'a summary takes the place of the entries, and the position stays': async (store, again) => {
    if (!store.compact) return;
    await store.append('a', [1, 2, 3], 0);
    await refused(store.compact('a', 'no', 2), 'conflict');
    await refused(store.compact('a', 'no', 4), 'conflict');
    await store.compact('a', { sum: 6 }, 3);
    await (await again()).append('a', [4], 3);
    await store.append('a', [5], 4);
    same(await (await again()).load('a'), { entries: [{ sum: 6 }, 4, 5], position: 5 });
  },

  'a session in it is the same when it is opened again': async (store, again) => {
    const clock = tool({ name: 'clock', description: 'The time.', run: () => 'noon' });
    const engine = createEngine({ tools: [clock], chat: scripted([{ toolCalls: [{ id: 'c1', name: 'clock' }] }, 'It is noon.', 'Yes.']) });
    const session = createSession({ engine, store, id: 'ada' });
    await session.send('What time is it?');
    const opened = await openSession({ engine, store: await again(), id: 'ada' });
    same(opened.toJSON(), session.toJSON());
    await opened.send('Sure?');
    // The first one does not know of it.
    const outcome = await session.send('And now?');
    if (outcome.status !== 'failed') throw new Error(`Expected the turn of a session that is behind to fail; it is ${outcome.status}.`);
    isStoreError(outcome.error, 'conflict');
    same((await openSession({ engine, store, id: 'ada' })).toJSON(), opened.toJSON());
  },
};

function same(seen: unknown, expected: unknown): void {
  expectEqual(seen, expected, 'what is stored');
}

async function refused(work: Promise<unknown>, reason: StoreError['reason']): Promise<void> {
  isStoreError(await failureOf(work, [reason], 'the store'), reason);
}

function isStoreError({ name, reason }: AntiphonError, expected: StoreError['reason']): void {
  expectEqual([name, reason], ['StoreError', expected], 'the error');
}
