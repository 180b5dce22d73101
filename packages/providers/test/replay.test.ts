// Real HTTP, recorded through openaiChat and played back to it without a socket.
import { createEngine, type StreamEvent } from '@antiphon/engine';
import { type HttpRecording, recordFetch, replayFetch, virtualClock } from '@antiphon/engine/testing';
import { openaiChat } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, HELLO, run } from './support/run.js';
import { serve, type TestServer } from './support/server.js';
import { chunk, END, event, events, fn, head, pieces, send, sse, TEXT, TOOL_END, tools } from './support/wire.js';

const KEY = 'sk-very-secret-123';
const EMOJI = Buffer.from(event(chunk({ content: 'Grüße 🎉' })));

let server: TestServer;
beforeAll(async () => {
  server = await serve({
    text: res => send(res, sse([...TEXT, ...END])),
    // In pieces that cut a character and the key in two.
    pieces: res => pieces(res, [EMOJI.subarray(0, EMOJI.indexOf('ü') + 1), EMOJI.subarray(EMOJI.indexOf('ü') + 1), sse(END)]),
    tool: res => send(res, sse([tools(fn(0, 'c1', 'add', '{"a":1}')), ...TOOL_END])),
    'names the key': res => pieces(res, ['data: {"error":{"message":"Bad key sk-very-', 'sec', 'ret-123, sorry"}}\n\n']),
    refuses: res => {
      res.writeHead(401, { 'content-type': 'application/json', 'set-cookie': 'session=abcdef' });
      res.end(JSON.stringify({ error: { message: `Incorrect API key: ${KEY}` } }));
    },
    dies: async res => {
      await pieces(res, [event(TEXT[0])], false);
      res.destroy();
    },
    stalls: res => {
      head(res);
      res.write(events([TEXT[0], TEXT[1]]));
    },
    silent: () => {},
  });
});
afterAll(() => server.close());

/** One call over the wire, recorded, as JSON that was written and read again. */
async function record(name: string, work?: (adapter: ReturnType<typeof openaiChat>) => Promise<unknown>) {
  const recordings: HttpRecording[] = [];
  const fetch = recordFetch({ onRecording: recording => recordings.push(recording) });
  const adapter = openaiChat({ model: 'm', baseURL: server.url(name), apiKey: KEY, fetch });
  const live = work ? await work(adapter) : await run(adapter);
  return { live, recordings: JSON.parse(JSON.stringify(recordings)) as HttpRecording[] };
}
const replaying = (name: string, recordings: readonly HttpRecording[], apiKey = 'another-key') => {
  const fetch = replayFetch(recordings);
  return { fetch, adapter: openaiChat({ model: 'm', baseURL: server.url(name), apiKey, fetch }) };
};

describe('recorded and played back', () => {
  test.each(['text', 'pieces', 'tool', 'refuses', 'dies'])('%s: the same events and the same error', async name => {
    const { live, recordings } = await record(name);
    const hits = server.hits(name);
    const { adapter, fetch } = replaying(name, recordings, KEY);
    const played = await run(adapter);
    const comparable = (value: unknown) => {
      const { error, ...rest } = value as { error?: { toJSON(): object } };
      return JSON.parse(JSON.stringify({ ...rest, error: error?.toJSON() }).replaceAll('[redacted]', '*'.repeat(KEY.length)));
    };
    expect(comparable(played)).toEqual(comparable(live));
    expect([server.hits(name), fetch.remaining]).toEqual([hits, 0]);
  });

  test('chunks keep their boundaries, also inside a character', async () => {
    const { recordings } = await record('pieces');
    const chunks = recordings[0]?.response?.chunks ?? [];
    expect(chunks).toHaveLength(3);
    expect(chunks.map(part => Object.keys(part).includes('base64'))).toEqual([true, true, false]);
    expect(chunks.every((part, i) => part.atMs >= (chunks[i - 1]?.atMs ?? 0))).toBe(true);
  });

  test.each(['text', 'refuses', 'names the key', 'silent'])('%s: nothing secret stands in the recording', async name => {
    const { recordings } = await record(name, async adapter => {
      const controller = new AbortController();
      const hits = server.hits(name);
      const running = run(adapter, HELLO, contextOf(controller.signal)).catch(() => {});
      while (server.hits(name) === hits) await new Promise(resolve => setImmediate(resolve));
      if (name === 'silent') controller.abort();
      await running;
    });
    expect(recordings).toHaveLength(1);
    expect(recordings[0]?.request.headers.authorization).toBe('[redacted]');
    const said = recordings[0]?.response?.chunks.map(part => ('text' in part ? part.text : '')).join('') ?? '';
    for (const text of [JSON.stringify(recordings), said]) {
      expect(text).not.toContain(KEY);
      expect(text).not.toContain('session=abcdef');
    }
    if (name === 'names the key') expect(said).toContain(`Bad key ${'*'.repeat(KEY.length)}, sorry`);
  });

  test('a call that was left in the middle waits there for an abort', async () => {
    const { recordings } = await record('stalls', async adapter => {
      for await (const item of adapter.stream(HELLO, contextOf())) if (item.type === 'text_delta') break;
    });
    expect(recordings[0]?.response?.end).toBe('left');
    const controller = new AbortController();
    const reason = new Error('enough');
    const seen: string[] = [];
    const read = async () => {
      for await (const item of replaying('stalls', recordings).adapter.stream(HELLO, contextOf(controller.signal))) {
        seen.push(item.type);
        if (item.type === 'text_delta') setImmediate(() => controller.abort(reason));
      }
    };
    await expect(read()).rejects.toBe(reason);
    expect(seen).toContain('text_delta');
  });

  test('an abort before the headers is played back as one', async () => {
    const abortWhenAsked = async (adapter: ReturnType<typeof openaiChat>, asked: () => boolean) => {
      const controller = new AbortController();
      const running = run(adapter, HELLO, contextOf(controller.signal));
      while (!asked()) await new Promise(resolve => setImmediate(resolve));
      controller.abort(new Error('enough'));
      await expect(running).rejects.toThrow('enough');
    };
    const before = server.hits('silent');
    const { recordings } = await record('silent', adapter => abortWhenAsked(adapter, () => server.hits('silent') > before));
    expect(recordings[0]?.failure?.aborted).toBe(true);
    const { adapter, fetch } = replaying('silent', recordings);
    await abortWhenAsked(adapter, () => fetch.remaining === 0);
  });

  test('a refused connection is recorded and fails again', async () => {
    const closed = await serve(() => {});
    const url = closed.url();
    await closed.close();
    const recordings: HttpRecording[] = [];
    const options = { model: 'm', baseURL: url };
    const live = await run(openaiChat({ ...options, fetch: recordFetch({ onRecording: recording => recordings.push(recording) }) }));
    const played = await run(openaiChat({ ...options, fetch: replayFetch(recordings) }));
    expect(recordings[0]?.failure?.code).toBe('ECONNREFUSED');
    expect(played.error?.toJSON()).toEqual(live.error?.toJSON());
  });

  test('what was not recorded is refused, with the first difference', async () => {
    const { recordings } = await record('text');
    const other = await run(replaying('text', recordings).adapter, { messages: [{ role: 'user', content: 'Say goodbye.' }] });
    expect(other.error?.message).toContain('body.messages[0].content was "Say hello." and is "Say goodbye."');
    const { adapter } = replaying('text', recordings);
    await run(adapter);
    expect((await run(adapter)).error?.message).toContain('came after all 1 recordings were used');
    const elsewhere = await run(replaying('tool', recordings).adapter);
    expect(elsewhere.error?.message).toMatch(/url was ".*text.*" and is ".*tool.*"/);
    expect(() => replayFetch([{ version: 2 } as never])).toThrow('version 2');
  });

  test('a whole run with tools, and its times on the virtual clock', async () => {
    const recordings: HttpRecording[] = [];
    const clock = virtualClock();
    const timed = recordings.length;
    const answers = [sse([tools(fn(0, 'c1', 'add', '{"a":1}')), ...TOOL_END]), sse([...TEXT, ...END])];
    const wire = await serve((res, _req, n) => send(res, answers[n - 1] ?? ''));
    const engineWith = (fetch: Parameters<typeof openaiChat>[0]['fetch'] & object) =>
      createEngine({ chat: openaiChat({ model: 'm', baseURL: wire.url(), fetch }) });
    const add = { name: 'add', description: 'Adds.', inputSchema: { type: 'object' } };
    const ask = async (engine: ReturnType<typeof engineWith>) => {
      const seen: StreamEvent['type'][] = [];
      for (let turn = 0; turn < 2; turn++) {
        const thread = { messages: HELLO.messages, tools: [add] };
        for await (const item of engine.streamGenerate(thread as never)) seen.push(item.type);
      }
      return seen;
    };
    const live = await ask(engineWith(recordFetch({ onRecording: recording => recordings.push(recording) })));
    await wire.close();
    expect(recordings.length).toBe(timed + 2);
    expect(await ask(engineWith(replayFetch(recordings)))).toEqual(live);

    const late = recordings.map(
      ({ response, ...rest }): HttpRecording => ({
        ...rest,
        response: { ...response!, atMs: 1000, chunks: response!.chunks.map((part, i) => ({ ...part, atMs: 2000 + i })), endMs: 3000 },
      }),
    );
    const running = ask(engineWith(replayFetch(late, { clock })));
    await clock.runAll();
    expect(await running).toEqual(live);
    expect(clock.now()).toBeGreaterThanOrEqual(4000);
  });
});
