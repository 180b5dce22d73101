// Recording and playing back, without a network: what is kept, what is hidden, what is refused.
import { type FetchLike, type HttpRecording, recordFetch, replayFetch, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonCopy } from './support.js';

const URL_ = 'https://api.test/v1/things';

/** A server that answers with these chunks, one per read. */
function serverOf(
  chunks: readonly Uint8Array[],
  init: ResponseInit = {},
  atEnd: (controller: ReadableStreamDefaultController) => void = c => c.close(),
): FetchLike {
  return async () => {
    let next = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const chunk = chunks[next++];
          if (chunk) controller.enqueue(chunk);
          else atEnd(controller);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, init);
  };
}

async function chunksOf(response: Response): Promise<Uint8Array[]> {
  const reader = response.body!.getReader();
  const chunks: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  return chunks;
}

/** One exchange, recorded, as JSON. */
async function recorded(fetch: FetchLike, input: Parameters<FetchLike>[0] = URL_, init: RequestInit = {}, secrets: string[] = []) {
  const recordings: HttpRecording[] = [];
  const response = await recordFetch({ fetch, secrets, onRecording: recording => recordings.push(recording) })(input, init);
  const chunks = response.body ? await chunksOf(response) : [];
  expect(recordings).toHaveLength(1);
  return { recording: jsonCopy(recordings[0]!), chunks, response };
}
const bytesOf = (text: string) => new TextEncoder().encode(text);
const joined = (chunks: readonly Uint8Array[]) => Buffer.concat(chunks).toString();

describe('laws', () => {
  const chunked = fc.array(
    fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.string({ minLength: 1, unit: 'binary' }).map(bytesOf)),
    { maxLength: 9 },
  );

  test('what is played back is what came, chunk by chunk', async () => {
    await fc.assert(
      fc.asyncProperty(chunked, fc.constantFrom(200, 201, 400, 503), async (chunks, status) => {
        const given = chunks.filter(({ length }) => length > 0);
        const { recording, chunks: live } = await recorded(serverOf(given, { status, headers: { 'x-a': 'b' } }));
        const response = await replayFetch(recording)(URL_);
        expect([response.status, response.headers.get('x-a')]).toEqual([status, 'b']);
        const played = await chunksOf(response);
        expect(played.map(chunk => [...chunk])).toEqual(given.map(chunk => [...chunk]));
        expect(live).toEqual(given);
        expect(jsonCopy(recording)).toStrictEqual(recording);
      }),
    );
  });

  test('a secret is covered wherever it is cut', async () => {
    const text = '{"error":"Bad key sk-secret-123 (c2stc2VjcmV0LTEyMw==), twice: sk-secret-123"}';
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 40 }), async sizes => {
        const chunks: Uint8Array[] = [];
        let rest = text;
        for (const size of [...sizes, text.length]) {
          if (rest !== '') chunks.push(bytesOf(rest.slice(0, size)));
          rest = rest.slice(size);
        }
        const { recording } = await recorded(serverOf(chunks), URL_, { headers: { authorization: 'Bearer sk-secret-123' } });
        const played = await chunksOf(await replayFetch(recording)(URL_, { headers: { authorization: 'Bearer other-key' } }));
        expect(played.map(({ length }) => length)).toEqual(chunks.map(({ length }) => length));
        expect(joined(played)).not.toMatch(/secret|c2stc2Vjcm/);
        expect(JSON.parse(joined(played)).error).toMatch(/^Bad key \*{13} \(\*+.?=*\), twice: \*{13}$/);
      }),
      { numRuns: 50 },
    );
  });
});

describe('secrets', () => {
  const init = {
    method: 'POST',
    headers: {
      Authorization: 'Bearer sk-secret-123',
      'X-Api-Key': 'xk-secret-456',
      Cookie: 'a=cookie-789',
      'OpenAI-Organization': 'org-1',
      accept: 'text/plain',
    },
    body: JSON.stringify({
      api_key: 'body-secret-1',
      nested: [{ client_secret: 'body-secret-2', max_tokens: 5, key: 'C major' }],
      text: 'my pass is hunter2!',
    }),
  };

  test('stand nowhere, whatever they are called', async () => {
    const fetch = serverOf([bytesOf('you sent body-secret-1 and query-secret-3')], {
      headers: { 'set-cookie': 's=set-cookie-4', 'x-request-id': 'r1' },
    });
    const { recording } = await recorded(fetch, `${URL_}?key=query-secret-3&page=2`, init, ['hunter2']);
    const text = JSON.stringify(recording);
    for (const secret of ['sk-secret-123', 'xk-secret', 'cookie-789', 'org-1', 'body-secret', 'query-secret', 'set-cookie-4', 'hunter2']) {
      expect(text).not.toContain(secret);
    }
    expect(recording.request.url).toBe(`${URL_}?key=%5Bredacted%5D&page=2`);
    expect(JSON.parse((recording.request.body as { text: string }).text)).toEqual({
      api_key: '[redacted]',
      nested: [{ client_secret: '[redacted]', max_tokens: 5, key: 'C major' }],
      text: 'my pass is [redacted]!',
    });
    expect(recording.response?.headers).toMatchObject({ 'x-request-id': 'r1' });
  });

  test('other keys fit a recording', async () => {
    const { recording } = await recorded(serverOf([]), `${URL_}?key=one-key-1`, init, ['hunter2']);
    const other = { ...init, headers: { ...init.headers, Authorization: 'Bearer another', Cookie: 'b=other', 'X-Api-Key': 'xxxx' } };
    expect((await replayFetch(recording, { secrets: ['hunter2'] })(`${URL_}?key=other-2`, other)).status).toBe(200);
  });

  test('stand in no failure either', async () => {
    const recordings: HttpRecording[] = [];
    const fetch = recordFetch({
      fetch: async () => {
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('no route for sk-secret-123'), { code: 'EHOSTUNREACH' }) });
      },
      onRecording: recording => recordings.push(recording),
    });
    await expect(fetch(URL_, init)).rejects.toThrow('fetch failed');
    expect(recordings[0]?.failure).toEqual({ message: 'fetch failed', cause: 'no route for [redacted]', code: 'EHOSTUNREACH' });
    await expect(replayFetch(recordings)(URL_, init)).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'EHOSTUNREACH' } });
  });
});

describe('requests', () => {
  test('a form is compared field by field, whatever its boundary is', async () => {
    const form = (sound: number[]) => {
      const data = new FormData();
      data.append('model', 'whisper');
      data.append('file', new File([Uint8Array.from(sound)], 'a.wav', { type: 'audio/wav' }));
      return { method: 'POST', body: data };
    };
    const { recording } = await recorded(serverOf([]), URL_, form([255, 1]));
    expect(recording.request.body).toEqual({
      form: [
        { name: 'model', text: 'whisper' },
        { name: 'file', fileName: 'a.wav', mediaType: 'audio/wav', base64: '/wE=' },
      ],
    });
    expect((await replayFetch(recording)(URL_, form([255, 1]))).status).toBe(200);
    await expect(replayFetch(recording)(URL_, form([255, 2]))).rejects.toThrow('body.form[1].base64 was "/wE=" and is "/wI="');
  });

  test('JSON is compared as JSON, bytes as bytes, a Request as its parts', async () => {
    const { recording } = await recorded(serverOf([]), URL_, { method: 'post', body: '{"a":1,"b":[2]}' });
    expect((await replayFetch(recording)(new URL(URL_), { method: 'POST', body: '{ "b": [2], "a": 1 }' })).status).toBe(200);
    const bytes = await recorded(serverOf([]), URL_, { method: 'PUT', body: Uint8Array.of(0xff) });
    expect((await replayFetch(bytes.recording)(URL_, { method: 'PUT', body: Uint8Array.of(0xff).buffer })).status).toBe(200);
    const asked = () => new Request(URL_, { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } });
    const { recording: whole } = await recorded(serverOf([]), asked());
    expect((await replayFetch(whole)(asked())).status).toBe(200);
  });

  test.each<readonly [string, string, RequestInit, string]>([
    ['method', URL_, { method: 'GET' }, 'method was "POST" and is "GET"'],
    ['address', `${URL_}/other`, {}, 'url was'],
    ['header', URL_, { headers: { accept: 'text/html' } }, 'headers.accept was missing and is "text/html"'],
    ['missing body', URL_, { body: null }, 'body was {"a":{"b":[1,2]}} and is missing'],
    ['body', URL_, { body: '{"a":{"b":[1,3]}}' }, 'body.a.b[1] was 2 and is 3'],
    ['longer list', URL_, { body: '{"a":{"b":[1,2,3]}}' }, 'body.a.b[2] was missing and is 3'],
    ['list for an object', URL_, { body: '[]' }, 'body.a was {"b":[1,2]} and is missing'],
  ])('another %s is refused, with what is other', async (_, url, changes, message) => {
    const init = { method: 'POST', body: '{"a":{"b":[1,2]}}', headers: {} };
    const { recording } = await recorded(serverOf([]), URL_, init);
    const fetch = replayFetch(recording);
    await expect(fetch(url, { ...init, ...changes })).rejects.toThrow(message);
    await expect(fetch(url, { ...init, ...changes })).rejects.toMatchObject({ name: 'AdapterError', reason: 'invalid_request' });
    expect(fetch.remaining).toBe(1);
  });

  test('equal requests are answered in their order, others in any', async () => {
    const of = async (text: string, url = URL_) => (await recorded(serverOf([bytesOf(text)]), url)).recording;
    const fetch = replayFetch([await of('one'), await of('else', `${URL_}/2`), await of('two')]);
    const ask = async (url = URL_) => joined(await chunksOf(await fetch(url)));
    expect([await ask(`${URL_}/2`), await ask(), await ask(), fetch.remaining]).toEqual(['else', 'one', 'two', 0]);
    await expect(fetch(URL_)).rejects.toMatchObject({ reason: 'script_exhausted' });
  });

  test('a body that is a stream cannot be recorded, and says so', async () => {
    const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' } as RequestInit;
    await expect(recordFetch({ fetch: serverOf([]), onRecording: () => {} })(URL_, init)).rejects.toThrow('cannot be recorded');
  });

  test.each([undefined, null, 5, {}, { version: 2, request: {} }, { version: 1 }])('%j is no recording', broken => {
    expect(() => replayFetch([broken as never])).toThrow('record it again');
  });
});

describe('bodies', () => {
  test('no body is no body', async () => {
    const { recording } = await recorded(async () => new Response(null, { status: 204 }));
    const response = await replayFetch(recording)(URL_);
    expect([response.status, response.body]).toEqual([204, null]);
  });

  test('a broken connection breaks again, after the same chunks', async () => {
    const fetch = serverOf([bytesOf('half')], {}, controller =>
      controller.error(new TypeError('terminated', { cause: Object.assign(new Error('gone'), { code: 'ECONNRESET' }) })),
    );
    const recordings: HttpRecording[] = [];
    const live = await recordFetch({ fetch, onRecording: recording => recordings.push(recording) })(URL_);
    await expect(chunksOf(live)).rejects.toThrow('terminated');
    expect(recordings[0]?.response).toMatchObject({ end: 'lost', chunks: [{ text: 'half' }] });
    const reader = (await replayFetch(recordings)(URL_)).body!.getReader();
    expect(joined([(await reader.read()).value!])).toBe('half');
    await expect(reader.read()).rejects.toMatchObject({ message: 'terminated', cause: { message: 'gone', code: 'ECONNRESET' } });
  });

  test('the server is read no faster than the reader reads', async () => {
    let sent = 0;
    const endless = serverOf([], {}, controller => {
      sent++;
      controller.enqueue(bytesOf('x'));
    });
    const recordings: HttpRecording[] = [];
    const reader = (await recordFetch({ fetch: endless, onRecording: recording => recordings.push(recording) })(URL_)).body!.getReader();
    for (let i = 0; i < 3; i++) await reader.read();
    await new Promise(setImmediate);
    expect(sent).toBeLessThan(6);
    await reader.cancel();
    expect(recordings[0]?.response?.end).toBe('left');
  });

  test('an answer whose reader went away ends with an error when there is no signal to wait for', async () => {
    const { recording } = await recorded(serverOf([bytesOf('a')]));
    const left = { ...recording, response: { ...recording.response!, end: 'left' as const } };
    await expect(chunksOf(await replayFetch(left)(URL_))).rejects.toThrow('its reader went away');
  });

  test('times are those of the clock', async () => {
    const clock = virtualClock();
    const slow: FetchLike = async () => {
      await new Promise<void>(resolve => void clock.setTimer(100, resolve));
      return serverOf([bytesOf('a'), bytesOf('b')])(URL_);
    };
    const recordings: HttpRecording[] = [];
    const running = recordFetch({ fetch: slow, clock, onRecording: recording => recordings.push(recording) })(URL_).then(chunksOf);
    await clock.runAll();
    await running;
    expect(recordings[0]?.response).toMatchObject({ atMs: 100, chunks: [{ atMs: 100 }, { atMs: 100 }], endMs: 100 });
    const again = virtualClock();
    const played = replayFetch(recordings, { clock: again })(URL_).then(chunksOf);
    await again.runAll();
    expect(joined(await played)).toBe('ab');
    expect(again.now()).toBe(100);
  });

  test('a signal that was aborted uses nothing up; one that aborts later ends the body', async () => {
    const { recording } = await recorded(serverOf([bytesOf('a'), bytesOf('b')]));
    const fetch = replayFetch(recording);
    await expect(fetch(URL_, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    const stop = new AbortController();
    const reader = (await fetch(URL_, { signal: stop.signal })).body!.getReader();
    await reader.read();
    stop.abort('enough');
    await expect(reader.read()).rejects.toBe('enough');
  });
});
