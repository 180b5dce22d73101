import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  broadcast,
  type EventLog,
  fileEventLog,
  memoryEventLog,
  type NumberedEvent,
  replay,
  resumable,
  type StreamEvent,
} from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collect, setUp } from './support.js';

async function* count(to: number, pulled: { most: number } = { most: 0 }) {
  for (let i = 1; i <= to; i++) {
    pulled.most = i;
    yield { i };
  }
}

async function take<T>(from: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): Promise<T[]> {
  const items: T[] = [];
  if (most === 0) return items;
  for await (const item of from) {
    items.push(item);
    if (items.length >= most) break;
  }
  return items;
}

describe('broadcast', () => {
  test('gives every reader every event', async () => {
    const { engine } = setUp(['One two three four.']);
    const shared = broadcast(engine.stream('Hi'));
    const [a, b] = await Promise.all([collect(shared.subscribe()), collect(shared.subscribe())]);
    expect(a).toEqual(b);
    expect(a.at(-1)?.type).toBe('end');
  });

  test('a reader that stops reading holds the stream at the buffer, and lets it go when it leaves', async () => {
    const pulled = { most: 0 };
    const shared = broadcast(count(1000, pulled), { buffer: 10 });
    const slow = shared.subscribe()[Symbol.asyncIterator]();
    const fast = take(shared.subscribe());
    expect(await slow.next()).toMatchObject({ value: { i: 1 } });
    await new Promise(resolve => setImmediate(resolve));
    expect(pulled.most).toBeLessThanOrEqual(12);
    await slow.return?.();
    expect((await fast).length).toBe(1000);
  });

  test('the last reader to leave stops the stream', async () => {
    let closed = false;
    const source = (async function* () {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        closed = true;
      }
    })();
    const shared = broadcast(source);
    const [a, b] = [take(shared.subscribe(), 3), take(shared.subscribe(), 5)];
    expect([(await a).length, (await b).length, closed]).toEqual([3, 5, true]);
  });

  test('a failure reaches every reader', async () => {
    const shared = broadcast(
      (async function* () {
        yield 1;
        throw new Error('broken');
      })(),
    );
    const readers = await Promise.allSettled([take(shared.subscribe()), take(shared.subscribe())]);
    expect(readers.map(reader => reader.status)).toEqual(['rejected', 'rejected']);
  });

  test('refuses a buffer that is none', () => {
    expect(() => broadcast(count(1), { buffer: 0 })).toThrow(RangeError);
  });
});

describe('resumable', () => {
  test('law: whoever reads from wherever, and however often it breaks off, gets each event once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(60), fc.array(fc.nat(20), { maxLength: 12 }), async (total, breaks) => {
        const run = resumable(count(total), { id: 's', log: memoryEventLog<{ i: number }>() });
        const seen: NumberedEvent<{ i: number }>[] = [];
        for (const most of [...breaks, Number.POSITIVE_INFINITY]) seen.push(...(await take(run.read(seen.at(-1)?.seq ?? 0), most)));
        expect(seen.map(event => [event.seq, event.i])).toEqual(Array.from({ length: total }, (_, i) => [i + 1, i + 1]));
      }),
    );
  });

  test('an engine stream can be replayed by a process that never saw it', async () => {
    const { engine } = setUp(['One two three.']);
    const log = memoryEventLog<StreamEvent>();
    const run = resumable(engine.stream('Hi'), { id: 'a', log });
    await run.done;
    const all = await take(replay(log, 'a'));
    expect(all.map(event => event.seq)).toEqual(all.map((_, i) => i + 1));
    expect(all.at(-1)?.type).toBe('end');
    expect(await take(replay(log, 'a', 3))).toEqual(all.slice(3));
  });

  test('a log in files outlives its process; a torn line is left out, and a broken one is named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'antiphon-'));
    try {
      await resumable(count(5), { id: 'a/../b', log: fileEventLog<{ i: number }>(folder) }).done;
      const again = fileEventLog<{ i: number }>(folder);
      expect((await take(replay(again, 'a/../b', 2))).map(event => event.i)).toEqual([3, 4, 5]);
      expect(await take(replay(again, 'another'))).toEqual([]);
      const [name = ''] = readdirSync(folder);
      appendFileSync(join(folder, name), '{"i":6,"se');
      expect((await take(replay(again, 'a/../b'))).length).toBe(5);
      appendFileSync(join(folder, name), 'q\n');
      await expect(take(replay(again, 'a/../b'))).rejects.toThrow(/line 6, is no event/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('a reader that keeps up does not read the log again for each event', async () => {
    const inner = memoryEventLog<{ i: number }>();
    let reads = 0;
    const log: EventLog<{ i: number }> = {
      append: (...what) => inner.append(...what),
      read: (...where) => {
        reads++;
        return inner.read(...where);
      },
    };
    const run = resumable(count(3000), { id: 's', log });
    expect((await take(run.read())).map(event => event.i)).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
    expect(reads).toBeLessThan(3000 / 256);
    reads = 0;
    expect(await take(run.read(1000))).toHaveLength(2000);
    expect(reads).toBe(1);
  });

  test('a log that fails ends the stream, and the reader hears of it', async () => {
    const run = resumable(count(5), {
      id: 's',
      log: { append: event => Promise.reject(new Error(`disk full at ${event}`)), read: () => [] },
    });
    await expect(run.done).rejects.toThrow('disk full');
    await expect(take(run.read())).rejects.toThrow('disk full');
  });

  test('a log of limited length says what it dropped', async () => {
    const log = memoryEventLog<{ i: number }>({ limit: 3 });
    await resumable(count(10), { id: 's', log }).done;
    expect((await take(replay(log, 's', 7))).map(event => event.i)).toEqual([8, 9, 10]);
    await expect(take(replay(log, 's', 2))).rejects.toThrow(/begins at 8/);
  });

  test.each([-1, 1.5, Number.NaN])('refuses to read after %d', async after => {
    await expect(take(resumable(count(1), { id: 's', log: memoryEventLog() }).read(after))).rejects.toThrow(RangeError);
  });
});
