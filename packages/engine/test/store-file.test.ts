import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine, createSession, fileStore, openSession, user } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'antiphon-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'));
  file = join(folder, 'a.jsonl');
});

const lines = () => readFileSync(file, 'utf8').split('\n');

describe('a file', () => {
  test('is lines of JSON that are only added to', async () => {
    const store = fileStore(folder);
    await store.append('a', ['one'], 0);
    const before = readFileSync(file, 'utf8');
    await store.append('a', ['two', 'three'], 1);
    expect(readFileSync(file, 'utf8').startsWith(before)).toBe(true);
    expect(lines()).toEqual([
      '{"version":2,"id":"a","position":0}',
      '{"at":0,"entries":["one"]}',
      '{"at":1,"entries":["two","three"]}',
      '',
    ]);
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });

  test.each(['{"at":1,"entr', '{"at":1,"entries":["lost"]}', '\0\0\0\0', '\u00e9'])(
    'that was cut off in its last line (%j) goes on from the one before',
    async rest => {
      for (const fresh of [true, false]) {
        const store = fileStore(folder);
        await store.delete('a');
        await store.append('a', ['one'], 0);
        appendFileSync(file, rest);
        const after = fresh ? fileStore(folder) : store;
        expect(await after.load('a')).toEqual({ entries: ['one'], position: 1 });
        await after.append('a', ['two'], 1);
        expect(lines().slice(1)).toEqual(['{"at":0,"entries":["one"]}', '{"at":1,"entries":["two"]}', '']);
      }
    },
  );

  test('that was cut off before its first line was done is none', async () => {
    writeFileSync(file, '{"version":2,"i');
    const store = fileStore(folder);
    expect(await store.load('a')).toBeUndefined();
    await store.append('a', ['one'], 0);
    expect(await store.load('a')).toEqual({ entries: ['one'], position: 1 });
  });

  test.each<readonly [string, (lines: string[]) => string[], RegExp]>([
    ['a line that is no JSON', all => all.with(2, '{"at":1,'), /a\.jsonl, line 3, cannot be read: it is no JSON/],
    ['a line that is no object', all => all.with(2, '5'), /line 3.*must be an object/],
    ['a line without entries', all => all.with(2, '{"at":1}'), /line 3.*no list of entries/],
    ['a line that is missing', all => all.toSpliced(2, 1), /line 3.*stands at 2, but 1 comes next/],
    ['a line that is twice there', all => all.toSpliced(2, 0, all[2] ?? ''), /line 4.*stands at 1, but 2 comes next/],
    ['a broken header', all => all.with(0, 'x'), /line 1.*no JSON/],
    ['a header without an id', all => all.with(0, '{"version":2}'), /line 1.*must have an id/],
    ['a version to come', all => all.with(0, '{"version":3,"id":"a","position":0}'), /line 1.*version 3 is not known.*update/],
    ['another id', all => all.with(0, '{"version":2,"id":"b","position":0}'), /line 1.*belongs to session "b"/],
    ['more behind a session of version 1', () => ['{"version":1,"id":"a"}', '{}', ''], /line 2.*one line/],
  ])('with %s is corrupt, and is left alone', async (_, break_, message) => {
    await fileStore(folder).append('a', ['one'], 0);
    await fileStore(folder).append('a', ['two'], 1);
    await fileStore(folder).append('a', ['three'], 2);
    const text = break_(lines()).join('\n');
    writeFileSync(file, text);
    for (const work of [fileStore(folder).load('a'), fileStore(folder).append('a', ['four'], 3)])
      await expect(work).rejects.toMatchObject({ name: 'StoreError', reason: 'corrupt', message: expect.stringMatching(message) });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('that somebody damaged behind our back is noticed when it is read on', async () => {
    const store = fileStore(folder);
    await store.append('a', ['one'], 0);
    appendFileSync(file, 'nonsense\n');
    await expect(store.append('a', ['two'], 1)).rejects.toMatchObject({ reason: 'corrupt', message: expect.stringMatching(/line 3/) });
  });

  test('of version 1 is read, and is written in the version of today', async () => {
    const chat = scripted(['Monday it is.']);
    const engine = createEngine({ chat });
    copyFileSync(fileURLToPath(new URL('./fixtures/ada.v1.jsonl', import.meta.url)), join(folder, 'ada.jsonl'));
    const store = fileStore(folder);
    const session = await openSession({ id: 'ada', engine, store });
    expect(session.pending.questions).toEqual([{ callId: 'call_1', name: 'asks', question: 'Which day?' }]);
    expect(await session.answer('Monday')).toMatchObject({ status: 'completed', text: 'Monday it is.' });
    expect(readFileSync(join(folder, 'ada.jsonl'), 'utf8')).toMatch(/^\{"version":2,"id":"ada","position":0\}\n/);
    for (const other of [store, fileStore(folder)])
      expect((await openSession({ id: 'ada', engine, store: other })).toJSON()).toEqual(session.toJSON());
    await session.replaceMessages([user('Hi')]);
    expect((await openSession({ id: 'ada', engine, store: fileStore(folder) })).messages).toHaveLength(1);
  });

  test('is summed up at once: it is never half there', async () => {
    const store = fileStore(folder);
    await store.append(
      'a',
      Array.from({ length: 1000 }, () => 'x'.repeat(100)),
      0,
    );
    const before = statSync(file).size;
    await store.compact?.('a', 'sum', 1000);
    expect(statSync(file).size).toBeLessThan(before / 100);
    expect(lines()).toEqual(['{"version":2,"id":"a","position":999}', '{"at":999,"entries":["sum"]}', '']);
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });

  test('that cannot be written leaves what was there', async () => {
    const store = fileStore(join(folder, 'a.jsonl'));
    writeFileSync(file, 'no folder');
    await expect(store.append('a', ['one'], 0)).rejects.toMatchObject({ name: 'StoreError', reason: 'io' });
    await expect(store.list()).rejects.toMatchObject({ reason: 'io' });
    expect(readFileSync(file, 'utf8')).toBe('no folder');
  });

  test.each(['', 5, undefined])('of the id %j is refused', async id => {
    await expect(fileStore(folder).append(id as string, [1], 0)).rejects.toThrow(TypeError);
    expect(() => fileStore(id as string)).toThrow(TypeError);
  });

  test('stays in its folder, whatever the id', async () => {
    const inner = join(folder, 'inner');
    const ids = ['../../x', '/etc/passwd', 'a/../../b', '..\\x', `${'../'.repeat(100)}x`];
    for (const id of ids) await fileStore(inner).append(id, [1], 0);
    expect(readdirSync(folder)).toEqual(['inner']);
    expect(readdirSync(inner).every(name => /^[~%a-z0-9_-]{1,140}\.jsonl$/.test(name))).toBe(true);
  });
});

describe('a lock', () => {
  const lock = () => join(folder, 'a.lock');
  const held = (holder: object | string) => writeFileSync(lock(), typeof holder === 'string' ? holder : JSON.stringify(holder));
  const ended = () => spawnSync(process.execPath, ['-e', '']).pid;

  test.each<readonly [string, () => object | string]>([
    ['that died', () => ({ pid: ended(), host: hostname(), birth: '', token: 't' })],
    ['whose number somebody else has now', () => ({ pid: process.ppid, host: hostname(), birth: '1', token: 't' })],
    ['that had our own number in an earlier life', () => ({ pid: process.pid, host: hostname(), birth: '', token: 't' })],
    ['that died before it had written its name', () => ''],
  ])('of a process %s is taken over', async (_, holder) => {
    held(holder());
    await fileStore(folder).append('a', [1], 0);
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });

  test('of a process that died is taken over by one of many', async () => {
    held({ pid: ended(), host: hostname(), birth: '', token: 't' });
    const tries = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => fileStore(folder).append('a', [i], 0)));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });

  test.each<readonly [string, () => object]>([
    ['a process that lives', () => ({ pid: process.ppid, host: hostname(), birth: '', token: 't' })],
    ['another machine', () => ({ pid: 1, host: 'elsewhere', birth: '', token: 't' })],
  ])('of %s is waited for, but not for ever', async (_, holder) => {
    held(holder());
    const work = fileStore(folder, { lockWaitMs: 60 }).append('a', [1], 0);
    await expect(work).rejects.toMatchObject({
      name: 'StoreError',
      reason: 'locked',
      retryable: true,
      message: expect.stringMatching(/a\.lock was held by process/),
    });
    expect(existsSync(lock())).toBe(true);
    const later = fileStore(folder).append('a', [1], 0);
    rmSync(lock());
    await later;
  });

  test('lets two processes write in turns without loss', async () => {
    const code = `
      import { fileStore } from '@antiphon/engine';
      const store = fileStore(process.argv[1]);
      for (let done = 0; done < 40; ) {
        const at = (await store.load('a'))?.position ?? 0;
        try {
          await store.append('a', [process.argv[2] + done], at);
          done++;
        } catch (error) {
          if (error.reason !== 'conflict') throw error;
        }
      }`;
    const { spawn } = await import('node:child_process');
    const run = (name: string) =>
      new Promise<number | null>(resolve => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', code, folder, name], {
          cwd: fileURLToPath(new URL('.', import.meta.url)),
          stdio: 'inherit',
        });
        child.on('exit', resolve);
      });
    expect(await Promise.all(['x', 'y', 'z'].map(run))).toEqual([0, 0, 0]);
    const { entries = [] } = (await fileStore(folder).load('a')) ?? {};
    expect([...entries].sort()).toEqual(['x', 'y', 'z'].flatMap(name => Array.from({ length: 40 }, (_, i) => `${name}${i}`)).sort());
    for (const name of ['x', 'y', 'z'])
      expect(entries.filter(entry => String(entry).startsWith(name))).toEqual(Array.from({ length: 40 }, (_, i) => `${name}${i}`));
  });
});

test('nothing is written before the first change, and nothing is loaded that is not used', async () => {
  const engine = createEngine({ chat: scripted(['Hi.']) });
  const session = createSession({ engine, store: fileStore(folder), id: 'a' });
  expect(readdirSync(folder)).toEqual([]);
  await session.send('Hi');
  expect(readdirSync(folder)).toEqual(['a.jsonl']);
});
