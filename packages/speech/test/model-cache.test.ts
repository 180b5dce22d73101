import { fork } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createModelCache,
  defaultCacheDirectory,
  type Model,
  type ModelCacheOptions,
  modelCatalog,
  type PullProgress,
  progressBar,
} from '@antiphon/speech';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dieAfter, packageModel, startServer, status, type TestServer, tarball } from './registry.js';
import { noise } from './support.js';

const weights = new Uint8Array(noise(50_000, 3).buffer);
const config = Buffer.from('{"layers":2}');
const other = new Uint8Array(noise(30_000, 4).buffer);

let dir: string;
let server: TestServer;
let archive: Buffer;
let model: Model;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'models-'));
  server = await startServer();
  archive = await tarball([
    { name: 'package/package.json', content: Buffer.from('{}') },
    { name: 'package/big/weights.bin', content: weights },
    { name: 'package/config.json', content: config },
    { name: '../outside.txt', content: Buffer.from('out') },
    { name: 'package/link', content: Buffer.alloc(0), type: 'symlink' },
  ]);
  server.serve(archive);
  model = packageModel('tiny', archive, { 'big/weights.bin': weights, 'config.json': config });
});

afterEach(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

function cacheOf(catalog: readonly Model[], options: Partial<ModelCacheOptions> = {}) {
  return createModelCache({ dir, catalog, resolveTarball: async () => server.url, ...options });
}

async function stateOf(cache = cacheOf([model])) {
  return (await cache.list())[0]!.state;
}

function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('it did not fail');
    },
    error => error,
  );
}

describe('pull', () => {
  it('brings exactly the files that the catalog names', async () => {
    const cache = cacheOf([model]);
    expect(await stateOf()).toBe('missing');
    await cache.pull('tiny');
    expect(await stateOf()).toBe('ready');
    const files = await cache.require('tiny');
    expect(Object.keys(files)).toEqual(['big/weights.bin', 'config.json']);
    expect(new Uint8Array(await readFile(files['big/weights.bin']!))).toEqual(weights);
    expect(await cache.path('tiny', 'config.json')).toBe(join(dir, 'tiny', 'config.json'));
    const everything = (await readdir(dir, { recursive: true })).filter(name => !name.startsWith('.downloads')).sort();
    expect(everything).toEqual(['tiny', join('tiny', 'big'), join('tiny', 'big', 'weights.bin'), join('tiny', 'config.json')]);
    expect(await readdir(join(dir, '.downloads'))).toEqual([]);
  });

  it('asks nobody when all is there', async () => {
    await cacheOf([model]).pull('tiny');
    const offline = cacheOf([model], { resolveTarball: () => Promise.reject(new Error('offline')) });
    await offline.pull('tiny');
    expect(server.ranges).toHaveLength(1);
  });

  it('goes on after a dropped connection without fetching a byte twice', async () => {
    server.plans.push(dieAfter(60_000), dieAfter(70_000));
    await cacheOf([model]).pull('tiny');
    expect(await stateOf()).toBe('ready');
    expect(server.ranges).toEqual([undefined, 'bytes=60000-', 'bytes=130000-']);
    expect(server.sent()).toBe(archive.length);
  });

  it('goes on after an earlier attempt was given up', async () => {
    const controller = new AbortController();
    server.plans.push(dieAfter(80_000));
    const cache = cacheOf([model]);
    const pulling = cache.pull('tiny', {
      signal: controller.signal,
      onProgress: ({ receivedBytes }) => {
        if (receivedBytes >= 80_000) controller.abort(new Error('stopped by hand'));
      },
    });
    await expect(pulling).rejects.toThrow('stopped by hand');
    expect(await stateOf()).toBe('partial');
    await cache.pull('tiny');
    expect(server.ranges).toEqual([undefined, 'bytes=80000-']);
    expect(await stateOf()).toBe('ready');
  });

  it('starts over when a server does not know ranges', async () => {
    server.plans.push(dieAfter(50_000), (_request, response, content) => {
      response.writeHead(200, { 'content-length': content.length });
      response.end(content);
    });
    await cacheOf([model]).pull('tiny');
    expect(await stateOf()).toBe('ready');
  });

  it('starts over when the beginning on disk is wrong', async () => {
    await mkdir(join(dir, '.downloads'));
    await writeFile(join(dir, '.downloads', 'test-tiny-1.0.0.tgz.partial'), Buffer.alloc(1_000, 'x'));
    await cacheOf([model]).pull('tiny');
    expect(server.ranges).toEqual(['bytes=1000-', undefined]);
    expect(await stateOf()).toBe('ready');
  });

  it('starts over when more is on disk than there can be', async () => {
    await mkdir(join(dir, '.downloads'));
    await writeFile(join(dir, '.downloads', 'test-tiny-1.0.0.tgz.partial'), Buffer.alloc(archive.length + 1));
    await cacheOf([model]).pull('tiny');
    expect(await stateOf()).toBe('ready');
  });

  it('tries again when the server is busy', async () => {
    server.plans.push(status(503));
    await cacheOf([model]).pull('tiny');
    expect(await stateOf()).toBe('ready');
  });

  it('mends a damaged file', async () => {
    const cache = cacheOf([model]);
    await cache.pull('tiny');
    await writeFile(join(dir, 'tiny', 'config.json'), 'broken');
    await cache.pull('tiny');
    expect(await stateOf()).toBe('ready');
  });

  it('takes a plain address as a source, with resume', async () => {
    server.serve(weights);
    server.plans.push(dieAfter(100_000));
    const plain: Model = { ...model, files: [{ ...model.files[0]!, sources: [{ url: server.url }] }] };
    await cacheOf([plain]).pull('tiny');
    expect(server.ranges).toEqual([undefined, 'bytes=100000-']);
    expect(await stateOf(cacheOf([plain]))).toBe('ready');
  });

  it('turns to the next source when one fails', async () => {
    server.plans.push(status(404));
    const [file] = model.files;
    const two: Model = { ...model, files: [{ ...file!, sources: [{ url: server.url }, ...file!.sources] }] };
    await cacheOf([two]).pull('tiny');
    expect(await stateOf(cacheOf([two]))).toBe('ready');
  });

  it('reports progress up to the end', async () => {
    const seen: PullProgress[] = [];
    await cacheOf([model], { onProgress: progress => seen.push(progress) }).pull('tiny');
    expect(seen[0]).toMatchObject({ model: 'tiny', source: '@test/tiny@1.0.0', receivedBytes: 0, totalBytes: archive.length, done: false });
    expect(seen.at(-1)).toMatchObject({ receivedBytes: archive.length, done: true });
    const received = seen.map(progress => progress.receivedBytes);
    expect(received).toEqual([...received].sort((a, b) => a - b));
  });
});

describe('pull fails clearly', () => {
  it('for content that is not the expected one, and leaves nothing behind', async () => {
    const forged = await tarball([{ name: 'package/big/weights.bin', content: other }]);
    server.serve(Buffer.concat([forged, Buffer.alloc(archive.length - forged.length)]));
    const error = await failure(cacheOf([model]).pull('tiny'));
    expect(error).toMatchObject({
      name: 'ModelError',
      reason: 'integrity_mismatch',
      model: 'tiny',
      message: expect.stringMatching(/@test\/tiny@1\.0\.0/),
    });
    expect(await stateOf()).toBe('missing');
    expect(await readdir(join(dir, '.downloads'))).toEqual([]);
  });

  it('for a file whose digest is wrong though the tarball is right', async () => {
    const wrong = { ...model, files: model.files.map(file => ({ ...file, sha256: '0'.repeat(64) })) };
    expect(await failure(cacheOf([wrong]).pull('tiny'))).toMatchObject({ reason: 'integrity_mismatch' });
    expect(await stateOf(cacheOf([wrong]))).toBe('missing');
  });

  it('for a file that the tarball lacks', async () => {
    const wrong: Model = { ...model, files: [{ ...model.files[0]!, sources: [{ ...packageSource(model), file: 'package/link' }] }] };
    expect(await failure(cacheOf([wrong]).pull('tiny'))).toMatchObject({
      reason: 'integrity_mismatch',
      message: expect.stringMatching(/package\/link/),
    });
  });

  it('for a server that says no', async () => {
    server.plans.push(status(404));
    expect(await failure(cacheOf([model]).pull('tiny'))).toMatchObject({
      reason: 'download_failed',
      message: expect.stringMatching(/404.*antiphon models pull tiny/),
    });
    expect(server.ranges).toHaveLength(1);
  });

  it('for a server that never gets through, keeping what arrived', async () => {
    server.plans.push(dieAfter(10_000), dieAfter(0), dieAfter(0), dieAfter(0), dieAfter(0));
    expect(await failure(cacheOf([model]).pull('tiny'))).toMatchObject({
      reason: 'download_failed',
      message: expect.stringMatching(/antiphon models pull tiny/),
    });
    expect(await stateOf()).toBe('partial');
  });

  it('for a server that sends without end', async () => {
    server.plans.push((_request, response) => {
      response.writeHead(200);
      response.write(Buffer.alloc(archive.length + 1));
    });
    expect(await failure(cacheOf([model]).pull('tiny'))).toMatchObject({
      reason: 'download_failed',
      message: expect.stringMatching(/more than the expected/),
    });
  });

  it('for an address where nobody answers', async () => {
    await server.close();
    expect(await failure(cacheOf([model]).pull('tiny'))).toMatchObject({
      reason: 'download_failed',
      message: expect.stringMatching(/fetch failed/),
    });
    server = await startServer();
  });

  it('for an npm that does not answer', async () => {
    const cache = cacheOf([model], { resolveTarball: () => Promise.reject(new Error('npm view failed: ENETUNREACH\nmore')) });
    expect(await failure(cache.pull('tiny'))).toMatchObject({
      reason: 'npm_failed',
      message: expect.stringMatching(/^[^\n]*ENETUNREACH[^\n]*registry[^\n]*$/),
    });
  });

  it('for a folder that is a file', async () => {
    await writeFile(join(dir, 'occupied'), '');
    const cache = cacheOf([model], { dir: join(dir, 'occupied') });
    expect(await failure(cache.pull('tiny'))).toMatchObject({ reason: 'write_failed', message: expect.stringMatching(/ANTIPHON_MODELS/) });
  });

  it('for a signal that has aborted, before anything is asked', async () => {
    await expect(cacheOf([model]).pull('tiny', { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
    expect(server.ranges).toHaveLength(0);
  });
});

describe.skipIf(process.platform === 'win32')('the npm client', () => {
  const { PATH } = process.env;
  afterEach(() => {
    process.env.PATH = PATH;
  });

  async function fakeNpm(script: string) {
    await writeFile(join(dir, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    process.env.PATH = `${dir}:${PATH}`;
    return createModelCache({ dir: join(dir, 'cache'), catalog: [model] });
  }

  it('is asked where the tarball stands', async () => {
    const cache = await fakeNpm(`test "$*" = "view @test/tiny@1.0.0 dist.tarball --json --loglevel=error" && echo '"${server.url}"'`);
    await cache.pull('tiny');
    expect(await stateOf(cache)).toBe('ready');
  });

  it.each([
    ['complains', 'echo "npm error code E404" >&2; exit 1', /npm view failed: npm error code E404/],
    ['answers nothing', 'exit 0', /knows no tarball for @test\/tiny@1\.0\.0/],
    ['answers nonsense', 'echo "[1, 2]"', /knows no tarball/],
  ])('may fail: it %s', async (_what, script, text) => {
    const error = await failure((await fakeNpm(script)).pull('tiny'));
    expect(error).toMatchObject({ reason: 'npm_failed', message: expect.stringMatching(text) });
  });

  it('may be missing', async () => {
    process.env.PATH = dir;
    const error = await failure(createModelCache({ dir, catalog: [model] }).pull('tiny'));
    expect(error).toMatchObject({ reason: 'npm_failed', message: expect.stringMatching(/npm does not start.*Check that npm works/) });
  });

  it('is stopped by an abort', async () => {
    const cache = await fakeNpm('exec sleep 20');
    const pulling = cache.pull('tiny', { signal: AbortSignal.timeout(50) });
    await expect(pulling).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('two pulls at once', () => {
  it('in one process share the work', async () => {
    const caches = [cacheOf([model]), cacheOf([model])];
    await Promise.all([...caches, ...caches].map(cache => cache.pull('tiny')));
    expect(await stateOf()).toBe('ready');
    expect(server.ranges).toHaveLength(1);
  });

  it('in two processes share the work', async () => {
    const script = new URL('./fixtures/pull.mjs', import.meta.url);
    const run = () =>
      new Promise<number | null>(resolve => {
        const child = fork(script, [], { execArgv: [], stdio: 'inherit' });
        child.send({ dir, url: server.url, catalog: [model] });
        child.on('exit', resolve);
      });
    expect(await Promise.all([run(), run(), run()])).toEqual([0, 0, 0]);
    expect(await stateOf()).toBe('ready');
    expect(server.ranges).toHaveLength(1);
  });

  it('take over from a process that died', async () => {
    const partial = join(dir, '.downloads', 'test-tiny-1.0.0.tgz.partial');
    await mkdir(join(dir, '.downloads'));
    await writeFile(partial, archive.subarray(0, 5_000));
    await writeFile(`${partial}.lock`, '{}');
    const past = new Date(Date.now() - 3_600_000);
    await utimes(`${partial}.lock`, past, past);
    await cacheOf([model]).pull('tiny');
    expect(server.ranges).toEqual(['bytes=5000-']);
    expect(await stateOf()).toBe('ready');
  });

  it('one that waits can be aborted', async () => {
    await mkdir(join(dir, '.downloads'));
    await writeFile(join(dir, '.downloads', 'test-tiny-1.0.0.tgz.partial.lock'), JSON.stringify({ pid: process.pid, host: 'elsewhere' }));
    const controller = new AbortController();
    const waiting = cacheOf([model]).pull('tiny', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('not waiting')), 30);
    await expect(waiting).rejects.toThrow(/not waiting|aborted/);
  });
});

describe('path and require', () => {
  it('say how to get a model that is missing', async () => {
    const error = await failure(cacheOf([model]).require('tiny'));
    expect(error).toMatchObject({ name: 'ModelError', reason: 'missing', model: 'tiny', hint: 'Run: antiphon models pull tiny' });
    expect((error as Error).message).toBe('The model tiny is not on this machine. Run: antiphon models pull tiny');
  });

  it.each([
    ['cut short', async (path: string) => truncate(path, 1_000)],
    ['emptied', async (path: string) => truncate(path, 0)],
    [
      'changed in one byte, with its size and date as before',
      async (path: string) => {
        const { atime, mtime } = await stat(path);
        const bytes = await readFile(path);
        bytes[100_000]! ^= 1;
        await writeFile(path, bytes);
        await utimes(path, atime, mtime);
      },
    ],
  ])('find a file that was %s', async (_what, harm) => {
    const cache = cacheOf([model]);
    await cache.pull('tiny');
    await harm(join(dir, 'tiny', 'big', 'weights.bin'));
    expect(await stateOf()).toBe('damaged');
    for (const error of [await failure(cache.require('tiny')), await failure(cache.path('tiny', 'big/weights.bin'))]) {
      expect(error).toMatchObject({
        name: 'ModelError',
        reason: 'damaged',
        message: expect.stringMatching(/damaged.*Run: antiphon models pull tiny$/),
      });
    }
    expect(await cache.path('tiny', 'config.json')).toContain('config.json');
  });

  it('know the names', async () => {
    const cache = cacheOf([model]);
    for (const error of [await failure(cache.require('huge')), await failure(cache.pull('huge')), await failure(cache.path('huge', 'x'))]) {
      expect(error).toMatchObject({ reason: 'unknown', message: 'There is no model called "huge". Known models: tiny.' });
    }
    expect(await failure(cache.path('tiny', '../x'))).toMatchObject({
      reason: 'unknown',
      message: expect.stringMatching(/no file called "\.\.\/x"/),
    });
  });
});

describe('the catalog', () => {
  it('is plain data with licences and full digests', () => {
    expect(JSON.parse(JSON.stringify(modelCatalog))).toEqual(modelCatalog);
    for (const entry of modelCatalog) {
      expect(entry.licence).not.toBe('');
      for (const file of entry.files) expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it.each(['../evil', '/etc/evil', 'a/../../evil', ''])('may not name the path %j', path => {
    const evil: Model = { ...model, files: [{ ...model.files[0]!, path }] };
    expect(() => cacheOf([evil])).toThrow(TypeError);
  });

  it('may not name a model like a path', () => {
    expect(() => cacheOf([{ ...model, name: '../x' }])).toThrow(TypeError);
  });
});

describe('where models live', () => {
  it.each([
    [{ ANTIPHON_MODELS: '/m' }, 'linux', '/m'],
    [{ XDG_CACHE_HOME: '/xdg' }, 'linux', '/xdg/antiphon/models'],
    [{}, 'linux', /\/\.cache\/antiphon\/models$/],
    [{}, 'darwin', /\/Library\/Caches\/antiphon\/models$/],
    [{ LOCALAPPDATA: '/local' }, 'win32', '/local/antiphon/models'],
  ] as const)('%o on %s', (env, platform, expected) => {
    const found = defaultCacheDirectory(env, platform).replaceAll('\\', '/');
    if (typeof expected === 'string') expect(found).toBe(expected);
    else expect(found).toMatch(expected);
  });
});

describe('progressBar', () => {
  const steps = [0, 50, 100].map(share => ({
    model: 'tiny',
    source: 'a@1',
    receivedBytes: share * 20_000,
    totalBytes: 2_000_000,
    done: false,
  }));
  const last = { ...steps[2]!, done: true };

  it('prints one line at the start and one at the end where there is no terminal', () => {
    let text = '';
    const draw = progressBar({ write: piece => (text += piece) });
    for (const step of [...steps, last]) draw(step);
    expect(text).toBe('tiny: fetching a@1 of 2.0 MB\ntiny: done, 2.0 MB\n');
  });

  it('redraws one line on a terminal', () => {
    let text = '';
    const draw = progressBar({ isTTY: true, columns: 60, write: piece => (text += piece) });
    for (const step of [...steps, last]) draw(step);
    expect(text.match(/\n/g)).toHaveLength(1);
    expect(text).toContain('1.0 MB of 2.0 MB');
    for (const line of text.split('\r')) expect(line.length).toBeLessThan(64);
  });
});

function packageSource(of: Model) {
  const [source] = of.files[0]!.sources;
  if (source === undefined || !('package' in source)) throw new Error('not a package source');
  return source;
}
