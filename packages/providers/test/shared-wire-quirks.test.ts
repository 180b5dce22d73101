// The inputs that are kept beside the repository, when they are there: through the engine, with its retries.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Clock, createEngine, systemClock, tool } from '@antiphon/engine';
import { openaiChat } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, serve, type TestServer } from './support/server.js';

interface Expected {
  text?: string;
  finish?: string;
  usage?: [number, number];
  err?: boolean | RegExp;
  hits?: number;
  tools?: [string, unknown][];
  ids?: boolean;
  reasoning?: string;
  noValidTool?: boolean;
  notStop?: boolean;
}

const path = fileURLToPath(new URL('../../../../shared/cases/wire-quirks.mjs', import.meta.url));
const present = existsSync(path);
if (!present) console.log('skipped: the shared wire inputs are not beside this checkout');
const cases = present
  ? ((await import(pathToFileURL(path).href)) as { SC: Record<string, Answer>; OK: Expected; EXPECT: Record<string, Expected> })
  : { SC: {}, OK: {}, EXPECT: {} };

const TOOLS = [
  tool({ name: 'write', description: 'Writes', input: { type: 'object', properties: { text: { type: 'string' } } }, run: () => null }),
  tool({ name: 'noargs', description: 'Nothing', input: { type: 'object', properties: {} }, run: () => null }),
];

/** Waits between tries are cut short; time limits stay. */
const impatient: Clock = { ...systemClock, setTimer: (ms, fire) => systemClock.setTimer(ms < 5_000 ? 1 : ms, fire) };

describe.skipIf(!present)('shared wire inputs', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await serve(cases.SC);
  });
  afterAll(() => server.close());

  it.concurrent.each(Object.keys(cases.SC))('%s', async name => {
    const expected = cases.EXPECT[name] ?? cases.OK;
    const chat = openaiChat({ model: 'm', baseURL: server.url(name), apiKey: 'sk-wire-quirks' });
    const outcome = await createEngine({ chat, tools: TOOLS, clock: impatient, retry: { maxRetries: 2 } }).generate('Hello');
    const error = outcome.status === 'failed' ? outcome.error : undefined;
    if (expected.err instanceof RegExp) expect(error?.message).toMatch(expected.err);
    else if (expected.err !== undefined) expect(error !== undefined, error?.message).toBe(expected.err);
    if (expected.text !== undefined) {
      const shown = outcome.text.length > 1000 ? `<${outcome.text.length} chars>` : outcome.text;
      expect(shown).toBe(expected.text);
    }
    if (expected.reasoning !== undefined) expect(outcome.reasoning).toBe(expected.reasoning);
    if (expected.finish !== undefined) expect(outcome.finishReason).toBe(expected.finish === 'tool' ? 'tool_calls' : expected.finish);
    if (expected.usage !== undefined) expect([outcome.usage.inputTokens, outcome.usage.outputTokens]).toEqual(expected.usage);
    if (expected.tools !== undefined) expect(outcome.toolCalls.map(call => [call.name, call.arguments])).toEqual(expected.tools);
    if (expected.ids) expect(new Set(outcome.toolCalls.map(call => call.id)).size).toBe(outcome.toolCalls.length);
    if (expected.noValidTool) expect(outcome.toolCalls.filter(call => !call.invalid)).toEqual([]);
    if (expected.notStop) expect(outcome.finishReason).not.toBe('stop');
    if (expected.hits !== undefined) expect(server.hits(name)).toBe(expected.hits);
  });
});
