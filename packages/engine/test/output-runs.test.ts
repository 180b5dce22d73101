import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { askUser, type CallOptions, createSession, foldEvents, tool, unwrap, user } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { city, MODES, says, setUp } from './output-support.js';
import { call, collect, comparable, plainTool, resultsOf } from './support.js';

describe('with tools', () => {
  const weather = tool({
    name: 'weather',
    description: 'The weather.',
    input: z.object({ city: z.string() }),
    run: () => ({ degrees: 12 }),
  });

  test.each(MODES)('%s: the tools run, then the answer ends the run', async mode => {
    const answer = { city: 'Oslo', degrees: 12 };
    const turns = () => [{ toolCalls: [call('weather', { city: 'Oslo' })] }, says(mode, JSON.stringify(answer))];
    const { engine, chat, options } = setUp(mode, turns());
    const outcome = await engine.chat('Oslo?', { output: city, tools: [weather], ...options });
    expect(unwrap(outcome)).toEqual(answer);
    expect(resultsOf(outcome)).toEqual([['weather', '{"degrees":12}']]);
    expect(chat.requests).toHaveLength(2);
    const again = setUp(mode, turns());
    const events = await collect(again.engine.stream('Oslo?', { output: city, tools: [weather], ...options }));
    expect(comparable(foldEvents(events, { messages: [user('Oslo?')] }))).toEqual(comparable(outcome));
  });

  test('an answer beside calls: the calls run, and the answer counts', async () => {
    const both = { text: 'So:', toolCalls: [call('weather', { city: 'Oslo' }), call('answer', { city: 'Oslo', degrees: 1 })] };
    const { engine } = setUp('tool', [both]);
    const outcome = await engine.chat('Oslo?', { output: city, tools: [weather] });
    expect(unwrap(outcome)).toEqual({ city: 'Oslo', degrees: 1 });
    expect(resultsOf(outcome)).toHaveLength(1);
    expect(outcome.finishReason).toBe('tool_calls');
  });

  test('`generate` gives the calls back, without an answer', async () => {
    const { engine } = setUp('tool', [{ toolCalls: [call('weather', { city: 'Oslo' })] }]);
    const outcome = await engine.generate('Oslo?', { output: city, tools: [weather] });
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ name: 'weather' }] });
    expect(outcome).not.toHaveProperty('output');
  });

  test('a model that answers by text although it was given a tool is understood', async () => {
    const { engine } = setUp('tool', ['Sure: {"city":"Oslo","degrees":3}']);
    const outcome = await engine.chat('Oslo?', { output: city, tools: [weather] });
    expect(unwrap(outcome)).toEqual({ city: 'Oslo', degrees: 3 });
    expect(outcome.warnings).toMatchObject([{ code: 'repaired_arguments' }]);
  });

  test('two answers in one message: the first counts, and that is said', async () => {
    const { engine } = setUp('tool', [
      { toolCalls: [call('answer', { city: 'A', degrees: 1 }), call('answer', { city: 'B', degrees: 2 }, 'b')] },
    ]);
    const outcome = await engine.chat('?', { output: city });
    expect(unwrap(outcome)).toEqual({ city: 'A', degrees: 1 });
    expect(outcome.warnings).toMatchObject([{ code: 'other', message: expect.stringContaining('the first answer counts') }]);
  });

  test('a question of a tool comes before the answer', async () => {
    const asks = plainTool('asks', () => askUser('Which?'));
    const { engine } = setUp('tool', [{ toolCalls: [call('asks'), call('answer', { city: 'Oslo', degrees: 1 })] }]);
    expect(await engine.chat('?', { output: city, tools: [asks] })).toMatchObject({ status: 'interrupted', reason: 'ask_user' });
  });
});

describe('what goes wrong', () => {
  test.each(MODES)('%s: an answer that was cut off is not closed; the model is told', async mode => {
    const cut = says(mode, '{"city":"Oslo","degrees":12', { finishReason: 'length' });
    const { engine, chat, options } = setUp(mode, [cut, cut]);
    const outcome = await engine.chat('?', { output: city, ...options });
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'invalid_output', issues: [{ path: '$' }] } });
    expect(chat.requests[1]?.messages.at(-1)?.content).toContain('cut off');
  });

  test.each(MODES)('%s: nearly-JSON is mended, and that is said', async mode => {
    const { engine, chat, options } = setUp(mode, [says(mode, "{city: 'Oslo', degrees: 12,}")]);
    const outcome = await engine.chat('?', { output: city, ...options });
    expect(unwrap(outcome)).toEqual({ city: 'Oslo', degrees: 12 });
    expect(outcome.warnings).toMatchObject([{ code: 'repaired_arguments' }]);
    expect(chat.requests).toHaveLength(1);
  });

  test('a content filter gets no second try', async () => {
    const { engine, chat } = setUp('native', [{ text: '{"city":', finishReason: 'content_filter' }]);
    expect(await engine.chat('?', { output: city })).toMatchObject({ status: 'failed', error: { reason: 'invalid_output' } });
    expect(chat.requests).toHaveLength(1);
  });

  test('an aborted run keeps the text that came', async () => {
    const stop = new AbortController();
    const { engine } = setUp('native', [says('native', '{"city":"Oslo","degrees":12}')]);
    const stream = engine.stream('?', { output: city, signal: stop.signal });
    for await (const event of stream) if (event.type === 'output_delta') stop.abort();
    const outcome = await stream.outcome;
    expect(outcome).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    expect(outcome.text).toMatch(/^\{/);
    expect(outcome).not.toHaveProperty('output');
  });

  test('a schema that throws fails the run', async () => {
    const { engine } = setUp('native', ['{}']);
    const output = z.object({}).refine(() => {
      throw new Error('boom');
    });
    expect(await engine.chat('?', { output })).toMatchObject({
      status: 'failed',
      error: { reason: 'invalid_output', message: expect.stringContaining('boom') },
    });
  });

  test('a forgotten wrapper is forgiven', async () => {
    const { engine } = setUp('instructions', ['[1,2]']);
    expect(unwrap(await engine.chat('?', { output: z.array(z.number()), outputMode: 'instructions' }))).toEqual([1, 2]);
  });

  test('an empty answer by tool is an empty object', async () => {
    const { engine } = setUp('tool', [says('tool', '')]);
    const outcome = await engine.chat('?', { output: z.object({}) });
    expect([outcome.status, outcome.text]).toEqual(['completed', '{}']);
  });
});

describe('partial values', () => {
  test('never change afterwards, and leave out what is not certain', async () => {
    const { engine, options } = setUp('instructions', [{ chunks: ['Well: {"va', 'lue":[', '1,2', '3,"a', 'b"', ']', '} Ok?'] }]);
    const stream = engine.stream('?', { output: z.array(z.union([z.number(), z.string()])), ...options });
    const seen: unknown[] = [];
    for await (const event of stream) if (event.type === 'output_delta') seen.push(event);
    expect(seen).toEqual([
      { type: 'output_delta', delta: '{"value":[', value: [] },
      { type: 'output_delta', delta: '1,2', value: [1] },
      { type: 'output_delta', delta: '3,"a', value: [1, 23, 'a'] },
      { type: 'output_delta', delta: 'b"', value: [1, 23, 'ab'] },
      { type: 'output_delta', delta: ']', value: [1, 23, 'ab'] },
      { type: 'output_delta', delta: '} ', value: [1, 23, 'ab'] },
    ]);
  });

  test('are the text and the value in the end, however the text comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        async (object, sizes) => {
          const text = JSON.stringify(object);
          const chunks: string[] = [];
          for (let at = 0; at < text.length; ) {
            const size = sizes.next().value ?? 1;
            chunks.push(text.slice(at, at + size));
            at += size;
          }
          const { engine } = setUp('native', [{ chunks }]);
          const events = await collect(engine.streamGenerate('?', { output: { type: 'object' } }));
          const deltas = events.flatMap(event => (event.type === 'output_delta' ? [event] : []));
          expect(deltas.map(({ delta }) => delta).join('')).toBe(text);
          expect(deltas.at(-1)?.value).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  test('20,000 of them, each read, take bounded memory', () => {
    const from = (name: string) => JSON.stringify(fileURLToPath(import.meta.resolve(name)));
    const code = `
      import { createEngine } from ${from('@antiphon/engine')};
      import { scripted } from ${from('@antiphon/engine/testing')};
      const items = Array.from({ length: 2600 }, (_, i) => ({ id: i, name: 'some name ' + i, tags: ['a'] }));
      const chunks = JSON.stringify({ items }).match(/.{1,5}/gs);
      const engine = createEngine({ chat: scripted([{ chunks }], { structuredOutput: true }) });
      const peak = () => process.resourceUsage().maxRSS / 1024;
      const before = peak();
      let last, count = 0;
      for await (const event of engine.stream('?', { output: { type: 'object' } })) if (event.type === 'output_delta') { count++; last = event.value; }
      console.log(JSON.stringify({ count, grew: peak() - before, items: last.items.length }));
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const told = JSON.parse(stdout) as { count: number; grew: number; items: number };
    expect(told.items).toBe(2600);
    expect(told.count).toBeGreaterThan(20_000);
    expect(told.grew).toBeLessThan(150);
  });

  test.each(['native', 'tool'] as const)('%s: the time of a stream grows with its length', async mode => {
    const list = (deltas: number) => JSON.stringify({ items: Array.from({ length: deltas / 2 }, (_, i) => i + 10_000) });
    const run = async (deltas: number) => {
      const text = list(deltas);
      const reply = mode === 'tool' ? says(mode, text) : { chunks: text.match(/.{1,3}/gs) ?? [] };
      const { engine } = setUp(mode, [reply]);
      const before = process.cpuUsage();
      let last: unknown;
      for await (const event of engine.stream('?', { output: { type: 'object' } })) if (event.type === 'output_delta') last = event.value;
      const { user: spent, system } = process.cpuUsage(before);
      expect(last).toEqual(JSON.parse(text));
      return (spent + system) / 1000;
    };
    await run(2000);
    let ratio = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 5 && ratio > 12; attempt++) {
      const small = Math.min(await run(2000), await run(2000), await run(2000));
      ratio = Math.min(await run(20_000), await run(20_000)) / Math.max(1, small);
    }
    expect(ratio).toBeLessThanOrEqual(12);
  });
});

describe('an answer that does not fit is a step like any other', () => {
  test.each<readonly [string, CallOptions, string]>([
    ['maxTurns', { maxTurns: 1 }, 'max_turns'],
    ['stopWhen', { stopWhen: () => true }, 'stop_when'],
    ['budget', { budget: { tokens: 5 } }, 'budget'],
  ])('%s keeps the model from being asked again', async (_, options, reason) => {
    const { chat, engine } = setUp('native', [{ text: '{}', usage: { totalTokens: 5 } }, '{"city":"Oslo","degrees":1}']);
    const session = createSession({ engine });
    expect(await session.send('?', { output: city, ...options })).toMatchObject({ status: 'interrupted', reason, steps: [{}] });
    expect(chat.requests).toHaveLength(1);
    // The faults stand in the thread, so that the run can go on.
    expect(unwrap(await session.resume({ output: city }))).toEqual({ city: 'Oslo', degrees: 1 });
  });
});

test('the schema tells the type of the output', async () => {
  const { engine } = setUp('native', ['{"city":"Oslo","degrees":1}', '{"city":"Oslo","degrees":1}', 'Hi']);
  const typed = await engine.chat('?', { output: city.transform(({ degrees }) => ({ fahrenheit: degrees * 1.8 + 32 })) });
  expectTypeOf(unwrap(typed)).toEqualTypeOf<{ fahrenheit: number }>();
  expect(unwrap(typed)).toEqual({ fahrenheit: 33.8 });
  const stream = engine.stream('?', { output: city });
  expectTypeOf(unwrap(await stream.outcome)).toEqualTypeOf<{ city: string; degrees: number }>();
  expectTypeOf(unwrap(await engine.chat('?', { temperature: 1 }))).toBeString();
});

test('a session’s turns have the type of their schema; JSON Schema tells none', async () => {
  const { engine } = setUp('native', ['{"city":"Oslo","degrees":1}', 'Hi', '{"value":1}']);
  const session = createSession({ engine });
  expectTypeOf(unwrap(await session.send('?', { output: city }))).toEqualTypeOf<{ city: string; degrees: number }>();
  expectTypeOf(unwrap(await session.stream('?').outcome)).toBeString();
  expectTypeOf(unwrap(await session.send('?', { output: { type: 'number' } }))).toBeUnknown();
});
