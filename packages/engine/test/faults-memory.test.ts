// Memory over time: what is over is let go, and what is long takes no more than its text. In processes of their own, with a collector to call.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const from = (name: string) => JSON.stringify(fileURLToPath(import.meta.resolve(name)));

/** Runs the code in a process that may call its garbage collector, and gives what it prints. */
function told(code: string): Record<string, number> {
  const prelude = `
    import * as engineModule from ${from('@antiphon/engine')};
    import * as testing from ${from('@antiphon/engine/testing')};
    const { createEngine, createSession, memoryStore, broadcast } = engineModule;
    const { scripted } = testing;
    const settle = async () => { for (let i = 0; i < 5; i++) { await new Promise(setImmediate); globalThis.gc(); } };
    const heap = async () => { await settle(); return process.memoryUsage().heapUsed / 1e6; };
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', prelude + code], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Record<string, number>;
}

describe('memory', () => {
  test('a run that is over is let go, however it ended, though its signal lives on', () => {
    const { alive, made } = told(`
      const stop = new AbortController();
      const refs = [];
      const engine = createEngine({ retry: false, chat: scripted(Array.from({ length: 60 }, (_, i) => i % 3 ? 'Hi there' : new Error('down'))) });
      for (let i = 0; i < 60; i++) await (async () => {
        const stream = engine.stream('Hi', { signal: stop.signal });
        refs.push(new WeakRef(stream));
        if (i % 2) for await (const _ of stream) break;
        refs.push(new WeakRef(await stream.outcome));
      })();
      await settle();
      console.log(JSON.stringify({ made: refs.length, alive: refs.filter(ref => ref.deref()).length, signal: Number(stop.signal.aborted) }));
    `);
    expect(made).toBe(120);
    expect(alive).toBeLessThanOrEqual(2);
  });

  test('a long stream takes the memory of its text, not of its events', () => {
    const { grew, length } = told(`
      const words = 400_000;
      const chat = { provider: 'p', model: 'm', async *stream() {
        for (let i = 0; i < words; i++) yield { type: 'text_delta', index: 0, delta: 'abcdefgh' };
        yield { type: 'message_end', finishReason: 'stop', usage: {} };
      } };
      const before = await heap();
      const stream = createEngine({ chat }).stream('Hi');
      let n = 0, most = 0;
      for await (const event of stream) if (++n % 100_000 === 0) { globalThis.gc(); most = Math.max(most, process.memoryUsage().heapUsed / 1e6); }
      console.log(JSON.stringify({ grew: most - before, length: (await stream.outcome).text.length }));
    `);
    expect(length).toBe(3_200_000);
    // The text is 3 MB; its events would be more than 40.
    expect(grew).toBeLessThan(30);
  });

  test('many short turns of a session leave nothing but their messages', () => {
    const { grew } = told(`
      const stop = new AbortController();
      const engine = createEngine({ chat: { provider: 'p', model: 'm', async *stream() {
        yield { type: 'text_delta', index: 0, delta: 'Hi' };
        yield { type: 'message_end', finishReason: 'stop', usage: {} };
      } } });
      const session = createSession({ engine });
      const turn = async () => { await session.send('Hi', { signal: stop.signal }); if (session.messages.length > 20) session.replaceMessages([]); };
      for (let i = 0; i < 300; i++) await turn();
      const before = await heap();
      for (let i = 0; i < 3000; i++) await turn();
      console.log(JSON.stringify({ grew: (await heap()) - before }));
    `);
    expect(grew).toBeLessThan(2);
  });
});
