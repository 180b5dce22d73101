// llamaCpp on the real native library, with a tiny model of random weights: what it writes is noise, so only the form of it is looked at.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assistant, type ChatRequest, createEngine, imagePart, textPart, tool, toolResult, user } from '@antiphon/engine';
import { type LlamaCppAdapter, type LlamaCppOptions, llamaCpp } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { writeTinyGguf } from './support/gguf.js';
import { grammarCases } from './support/llama-grammar.js';
import { llamaPeer } from './support/llama-peer.js';
import { contextOf, HELLO, run } from './support/run.js';

const folder = mkdtempSync(join(tmpdir(), 'antiphon-llama-'));
const modelPath = join(folder, 'tiny.gguf');
const peer = llamaPeer();
beforeAll(() => writeTinyGguf(modelPath));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('before any native code', () => {
  test.each<[string, object, RegExp]>([
    ['no path', { modelPath: '' }, /path of a GGUF file/],
    ['a context of no tokens', { modelPath: 'm', contextSize: 0 }, /contextSize must be a whole number/],
    ['half a thread', { modelPath: 'm', threads: 0.5 }, /threads must be/],
  ])('%s is refused', (_, options, words) => {
    expect(() => llamaCpp(options as LlamaCppOptions)).toThrow(words);
  });

  test('a missing peer is told with the command that installs it', async () => {
    const gone = () => Promise.reject(new Error('Cannot find package'));
    await expect(run(llamaCpp({ modelPath, load: gone }))).resolves.toMatchObject({
      error: { name: 'ConfigurationError', message: expect.stringContaining('npm install node-llama-cpp') },
    });
  });

  test('a missing file, and one of another kind', async () => {
    const text = join(folder, 'text.gguf');
    writeFileSync(text, 'hello');
    const missing = await run(llamaCpp({ modelPath: join(folder, 'none.gguf') }));
    const wrong = await run(llamaCpp({ modelPath: text }));
    expect([missing.error?.reason, wrong.error?.reason]).toEqual(['model_not_found', 'invalid_option']);
    expect(wrong.error?.message).toContain('is no GGUF file');
  });
});

describe.skipIf(!peer)('with a model', () => {
  const load = () => peer!.load();
  const make = (more: object = {}) => llamaCpp({ modelPath, gpu: false, threads: 1, contextSize: 2048, load, ...more });
  let chat: LlamaCppAdapter;
  beforeAll(() => {
    chat = make();
  });
  afterAll(() => chat.close());
  const ask = (more: Partial<ChatRequest> = {}) => run(chat, { ...HELLO, maxTokens: 24, temperature: 1, seed: 7, ...more });

  test('text comes in pieces, is counted, and is cut where it should be', async () => {
    expect(statSync(modelPath).size).toBeLessThan(700_000);
    const first = await ask();
    expect(first.events.filter(({ type }) => type === 'text_delta').length).toBeGreaterThan(5);
    expect(first).toMatchObject({ finish: 'length', raw: 'maxTokens', usage: { outputTokens: 24 } });
    const { inputTokens = 0, totalTokens } = first.usage!;
    expect([inputTokens > 10, totalTokens]).toEqual([true, inputTokens + 24]);
    const again = await ask();
    expect(again.text).toBe(first.text);
    expect(again.usage?.cachedInputTokens).toBe(inputTokens - 1);
    expect((await ask({ seed: 8 })).text).not.toBe(first.text);
  });

  test('a stop text ends the answer before it', async () => {
    const { text } = await ask();
    const stop = text.slice(3, 5);
    const cut = await ask({ stop: [stop] });
    expect(cut).toMatchObject({ finish: 'stop', raw: 'customStopTrigger' });
    expect(cut.text).not.toContain(stop);
  });

  test('an abort ends the answer soon, throws its reason, and leaves the model to others', async () => {
    const controller = new AbortController();
    const reason = { why: 'enough' };
    const long = chat.stream({ ...HELLO, temperature: 1 }, contextOf(controller.signal));
    let pieces = 0;
    const reading = (async () => {
      for await (const event of long) if (event.type === 'text_delta' && ++pieces === 3) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    expect(pieces).toBe(3);
    expect((await ask()).finish).toBe('length');
  });

  test('an abort while a long prompt is read', async () => {
    const controller = new AbortController();
    const reading = run(chat, { messages: [user('word '.repeat(300))] }, contextOf(controller.signal));
    setImmediate(() => controller.abort(new Error('enough')));
    await expect(reading).rejects.toThrow('enough');
    expect((await ask()).finish).toBe('length');
  });

  test('whoever leaves early stops the generation', async () => {
    for await (const event of chat.stream(HELLO, contextOf())) if (event.type === 'text_delta') break;
    expect((await ask()).finish).toBe('length');
  });

  test('the model waits for a reader that stops, and goes on with it', async () => {
    let sequence: { tokenMeter: { usedOutputTokens: number } } | undefined;
    const adapter = make({
      load: async () => {
        const module = (await load()) as { LlamaChat: new (options: object) => object };
        class LlamaChat extends module.LlamaChat {
          constructor(options: { contextSequence: typeof sequence }) {
            super(options);
            sequence = options.contextSequence;
          }
        }
        return { ...module, LlamaChat };
      },
    });
    // A random model ends where it likes; a grammar makes it go on.
    const output = { name: 'long', schema: { type: 'array', items: { enum: ['abcdefgh'] }, minItems: 200 } };
    const events = adapter.stream({ ...HELLO, output, maxTokens: 900, seed: 7 }, contextOf())[Symbol.asyncIterator]();
    for (let i = 0; i < 3; i++) await events.next();
    const written = () => sequence?.tokenMeter.usedOutputTokens ?? 0;
    for (let still = 0, before = -1; still < 10; before = written()) {
      await new Promise(resolve => setTimeout(resolve, 5));
      still = written() === before ? still + 1 : 0;
    }
    expect([written() > 100, written() < 800]).toEqual([true, true]);
    let end: unknown;
    for (let next = await events.next(); !next.done; next = await events.next()) end = next.value;
    expect(end).toMatchObject({ type: 'message_end', finishReason: 'length', usage: { outputTokens: 900 } });
    await adapter.close();
  });

  test('requests wait for each other, or run side by side', async () => {
    const both = await Promise.all([ask(), ask({ seed: 8 })]);
    expect(both.map(({ usage }) => usage?.outputTokens)).toEqual([24, 24]);
    const wide = make({ parallel: 2, contextSize: 512 });
    const side = await Promise.all([
      run(wide, { ...HELLO, maxTokens: 8 }),
      run(wide, { ...HELLO, maxTokens: 8 }),
      run(wide, { ...HELLO, maxTokens: 8 }),
    ]);
    await wide.close();
    expect(side.map(({ finish }) => finish)).toEqual(['length', 'length', 'length']);
    expect(new Set(side.map(({ text }) => text)).size).toBe(1);
  });

  grammarCases(ask);

  const bool = { type: 'boolean' };
  const add = {
    name: 'add',
    description: 'Adds.',
    inputSchema: { type: 'object', properties: { a: { enum: [1, 2] }, b: { type: 'boolean' } }, required: ['a', 'b'] },
  };
  const now = { name: 'now', description: 'Tells the time.', inputSchema: { type: 'object', properties: {} } };

  test.each([1, 2])('a demanded call is a real one, with arguments of its shape (seed %i)', async seed => {
    const { calls, finish, error } = await ask({ seed, maxTokens: 300, tools: [add, now], toolChoice: { tool: 'add' } });
    expect([error, finish, calls.length]).toEqual([undefined, 'tool_calls', 1]);
    expect(calls[0]?.invalid).toBeUndefined();
    expect([1, 2]).toContain(calls[0]?.arguments.a);
    expect(typeof calls[0]?.arguments.b).toBe('boolean');
  });

  test('a call without arguments, and its result in the next request', async () => {
    const { calls } = await ask({ tools: [now], toolChoice: 'required' });
    expect(calls).toMatchObject([{ name: 'now', arguments: {} }]);
    const call = calls[0]!;
    const messages = [
      user('When?'),
      { role: 'assistant' as const, content: [{ type: 'tool_call' as const, ...call }] },
      toolResult(call.id, 'noon'),
    ];
    expect(await ask({ messages, tools: [now] })).toMatchObject({ error: undefined, finish: 'length' });
  });

  test('a call that is cut off is marked and not run', async () => {
    const { calls, finish } = await ask({ maxTokens: 12, tools: [add], toolChoice: 'required' });
    expect([finish, calls[0]?.invalid?.reason]).toEqual(['length', 'truncated']);
  });

  test('an engine runs its tools', async () => {
    const ran: unknown[] = [];
    const adder = tool({ ...add, run: input => ran.push(input) });
    const outcome = await createEngine({ chat }).step('Add.', { tools: [adder], toolChoice: { tool: 'add' }, maxTokens: 300 });
    expect([outcome.status, ran.length]).toEqual(['completed', 1]);
  });

  test('an answer of a shape, beside tools', async () => {
    const output = { type: 'object', properties: { on: bool }, required: ['on'] };
    const outcome = await createEngine({ chat }).chat('Is it on?', { tools: [tool({ ...now, run: () => 'noon' })], output, maxTokens: 60 });
    expect(outcome).toMatchObject({ status: 'completed', output: { on: expect.any(Boolean) } });
  });

  test('settings that it has not, and pictures, come back as warnings', async () => {
    const messages = [user([textPart('See:'), imagePart(new Uint8Array([1]))])];
    const { warnings } = await ask({
      messages,
      reasoning: 'low',
      promptCache: { key: 'a' },
      providerOptions: { 'llama-cpp': { topK: 3, mirostat: 2 } },
    });
    expect(warnings.map(({ setting }) => setting)).toEqual([undefined, 'reasoning', 'promptCache', 'providerOptions.mirostat']);
  });

  test('a conversation that does not fit is refused, and nothing is shifted out of it', async () => {
    const { error } = await ask({ messages: [user('word '.repeat(3000))] });
    expect(error).toMatchObject({ reason: 'context_length_exceeded', message: expect.stringContaining('context of 2048') });
  });

  test('where the marks of a call do not fit, the request is refused or the answer cut, and nothing is shifted out of it', async () => {
    const complaints = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')];
    const short = make({ contextSize: 1280 });
    const vote = { ...add, inputSchema: { type: 'object', properties: { votes: { type: 'array', items: bool } }, required: ['votes'] } };
    const ask = (last: number, maxTokens = 300) =>
      run(short, {
        messages: [user('Hi'), assistant('b'.repeat(60)), user('q'.repeat(last))],
        ...{ tools: [vote], toolChoice: 'required', temperature: 1, seed: 7, maxTokens },
      });
    const { usage } = await ask(1, 4);
    const ends = [];
    for (const room of [1, 8, 16, 24, 80]) {
      const { error, raw, calls } = await ask(1281 - usage!.inputTokens! - room);
      ends.push([error?.reason ?? raw, calls[0]?.invalid?.reason]);
    }
    await short.close();
    const refused = ['context_length_exceeded', undefined];
    const cut = ['contextFull', 'truncated'];
    expect(ends).toEqual([refused, refused, cut, cut, ['functionCalls', undefined]]);
    expect(complaints.map(spy => spy.mock.calls)).toEqual([[], []]);
    for (const spy of complaints) spy.mockRestore();
  });

  test('a broken model file is an error, and the adapter can still be closed', async () => {
    const broken = join(folder, 'broken.gguf');
    writeFileSync(broken, `GGUF${'x'.repeat(100)}`);
    const adapter = make({ modelPath: broken });
    expect((await run(adapter)).error).toMatchObject({
      reason: 'invalid_request',
      message: expect.stringContaining('could not be loaded'),
    });
    await adapter.close();
  });

  test('close ends what is being written; later calls are refused', async () => {
    const adapter = make();
    const reading = run(adapter, HELLO);
    await Promise.all([adapter.close(), adapter.close()]);
    expect((await reading).error?.message).toContain('is closed');
    expect((await run(adapter)).error?.message).toContain('is closed');
  });

  test('the process ends by itself after close', () => {
    const providers = fileURLToPath(import.meta.resolve('@antiphon/providers'));
    const script = `
      import { llamaCpp } from ${JSON.stringify(providers)};
      const chat = llamaCpp({ modelPath: ${JSON.stringify(modelPath)}, gpu: false, threads: 1, contextSize: 256, load: () => import(${JSON.stringify(peer!.entry)}) });
      const context = { signal: new AbortController().signal, requestId: 'x', clock: {} };
      for await (const _ of chat.stream({ messages: [{ role: 'user', content: 'Hi' }], maxTokens: 4 }, context));
      await chat.close();
      console.log('closed');`;
    const file = join(folder, 'process.mjs');
    writeFileSync(file, script);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 25_000 });
    expect([status, stdout.trim(), stderr]).toEqual([0, 'closed', '']);
  });
});
