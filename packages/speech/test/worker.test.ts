import { afterEach, describe, expect, it } from 'vitest';
import { createWorkerClient, type WorkerClient } from '../dist/worker/client.js';
import { shareWorkerClient } from '../dist/worker/shared.js';

interface Echo {
  echo: { input: unknown; output: unknown };
  add: { input: { a: number; b: number }; output: number };
  double: { input: Float32Array; output: Float32Array };
  fail: { input: string; output: never };
  needs: { input: string; output: unknown };
  hang: { input: undefined; output: never };
  busy: { input: number; output: string };
  crash: { input: undefined; output: never };
  throwOutside: { input: undefined; output: never };
}

const script = new URL('./fixtures/echo.worker.mjs', import.meta.url);
const open: WorkerClient<Echo>[] = [];

function client(): WorkerClient<Echo> {
  const made = createWorkerClient<Echo>({ name: 'echo', script });
  open.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(made => made.close()));
});

describe('a worker client', () => {
  it('calls and answers, many at once', async () => {
    const echo = client();
    const sums = await Promise.all(Array.from({ length: 50 }, (_, i) => echo.call('add', { a: i, b: 1 })));
    expect(sums).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  it('moves memory over when asked', async () => {
    const samples = Float32Array.of(1, 2);
    expect([...(await client().call('double', samples, { transfer: [samples.buffer as ArrayBuffer] }))]).toEqual([2, 4]);
    expect(samples).toHaveLength(0);
  });

  it('hands on errors as one line', async () => {
    await expect(client().call('fail', 'no luck\n  at line 2')).rejects.toMatchObject({
      name: 'EngineError',
      reason: 'failed',
      message: 'echo failed: no luck',
    });
  });

  it('names the package that is missing and how to install it', async () => {
    await expect(client().call('needs', 'not-installed-here')).rejects.toMatchObject({
      reason: 'missing_dependency',
      message: expect.stringMatching(/needs the package not-installed-here.*npm install not-installed-here/),
    });
  });

  it('aborts a call at once, tells the worker, and goes on', async () => {
    const echo = client();
    const controller = new AbortController();
    const hanging = echo.call('hang', undefined, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(hanging).rejects.toThrow('enough');
    expect(await echo.call('echo', 'still here')).toBe('still here');
  });

  it('does not begin a call that was aborted while it waited', async () => {
    const echo = client();
    const controller = new AbortController();
    const busy = echo.call('busy', 50);
    const waiting = echo.call('crash', undefined, { signal: controller.signal });
    controller.abort(new Error('never mind'));
    await expect(waiting).rejects.toThrow('never mind');
    expect(await busy).toBe('rested');
    expect(await echo.call('echo', 1)).toBe(1);
  });

  it('refuses a signal that has aborted already', async () => {
    await expect(client().call('echo', 1, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  });

  it.each(['crash', 'throwOutside'] as const)('survives a worker that dies (%s): pending calls reject, the next one works', async way => {
    const echo = client();
    await echo.call('echo', 1);
    const pending = [echo.call('hang', undefined), echo.call(way, undefined)];
    for (const call of pending) {
      await expect(call).rejects.toMatchObject({
        name: 'EngineError',
        reason: 'crashed',
        message: expect.stringMatching(/worker of echo died.*starts a new one/),
      });
    }
    expect(await echo.call('add', { a: 1, b: 1 })).toBe(2);
  });

  it('rejects pending and later calls when closed, and closes twice', async () => {
    const echo = client();
    const hanging = echo.call('hang', undefined);
    const closing = echo.close();
    await expect(hanging).rejects.toMatchObject({ reason: 'closed' });
    await closing;
    await expect(echo.call('echo', 1)).rejects.toMatchObject({ reason: 'closed', message: expect.stringMatching(/create a new one/i) });
    await echo.close();
  });

  it('leaves nothing behind on the signal', async () => {
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...parameters: Parameters<typeof add>) => {
      listeners++;
      add(...parameters);
    };
    signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
      listeners--;
      remove(...parameters);
    };
    const echo = client();
    await echo.call('echo', 1, { signal });
    await echo.call('fail', 'x', { signal }).catch(() => {});
    expect(listeners).toBe(0);
  });
});

describe('a shared worker', () => {
  it('is one for equal options, and closing one user leaves the other alone', async () => {
    const options = { name: 'echo', script, workerData: { shared: 1 } };
    const one = shareWorkerClient<Echo>(options);
    const two = shareWorkerClient<Echo>(options);
    const hanging = one.call('hang', undefined);
    const answer = two.call('echo', 'two');
    await one.close();
    await expect(hanging).rejects.toMatchObject({ reason: 'closed' });
    expect(await answer).toBe('two');
    await expect(one.call('echo', 1)).rejects.toMatchObject({ reason: 'closed' });
    expect(await two.call('echo', 'again')).toBe('again');
    await two.close();
  });
});
