// ElevenLabs speech: whole and streamed over HTTP, and from streamed text over its socket.
import { type AntiphonError, createEngine, type SpeechAdapter, systemClock } from '@antiphon/engine';
import { type SpeechScenario, scripted, speechConformance } from '@antiphon/engine/testing';
import { elevenlabsSpeech } from '@antiphon/providers';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Spoken, speakingTwin } from './support/elevenlabs-socket.js';
import { base64, type Script, type SoundServer, sine, soundServer } from './support/sound-server.js';

const KEY = 'secret-key-123';
const open: SoundServer[] = [];
async function server(script: Script): Promise<SoundServer> {
  const made = await soundServer(script);
  open.push(made);
  return made;
}
const closeAll = async () => {
  for (const each of open.splice(0)) await each.close();
};
afterEach(closeAll);
afterAll(closeAll);

const adapterAt = ({ url }: SoundServer, more: object = {}): SpeechAdapter =>
  elevenlabsSpeech({ model: 'eleven_flash_v2_5', baseURL: url, apiKey: KEY, ...more });
const engineAt = (at: SoundServer, chat = scripted(['x'])) => createEngine({ speech: adapterAt(at), chat, retry: false });
const fresh = (): Spoken => ({ text: '', messages: [], flushed: false });
async function* pieces(...texts: string[]) {
  yield* texts;
}

describe('elevenlabsSpeech holds the contract of a speech adapter', () => {
  const make = async (scenario: SpeechScenario) => {
    const failure =
      scenario.kind === 'failure'
        ? {
            status: scenario.status,
            body: JSON.stringify({ detail: { status: 'some_word', message: scenario.message } }),
            headers: scenario.retryAfterMs === undefined ? {} : { 'retry-after': String(scenario.retryAfterMs / 1000) },
          }
        : undefined;
    // The wire does not tell tokens.
    if (scenario.kind === 'answer' && scenario.answer.usage?.inputTokens === 0) return undefined;
    const script: Script = {
      ...(failure ? { refuse: failure } : {}),
      http(res) {
        if (failure) return res.writeHead(failure.status, failure.headers).end(failure.body);
        if (scenario.kind === 'silent') return;
        res.writeHead(200, { 'content-type': 'audio/pcm' });
        if (scenario.kind === 'answer') return res.end(Buffer.from(scenario.answer.audio.data, 'base64'));
        if (scenario.kind !== 'stream') return;
        for (const chunk of scenario.answer.chunks) res.write(chunk);
        if (scenario.ends === 'complete') res.end();
        if (scenario.ends === 'lost') setTimeout(() => res.destroy(), 20);
      },
      socket(socket) {
        if (scenario.kind !== 'stream') return;
        socket.once('message', () => {
          for (const chunk of scenario.answer.chunks) socket.send(JSON.stringify({ audio: base64(chunk), isFinal: null }));
          if (scenario.ends === 'complete') socket.send(JSON.stringify({ isFinal: true }));
          if (scenario.ends === 'lost') setTimeout(() => socket.terminate(), 20);
        });
      },
    };
    const made = await server(script);
    return { adapter: adapterAt(made), requests: () => made.hits.length, open: made.open };
  };
  const cases = speechConformance(make);
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(35));
  for (const { name, run } of cases) test(name, run);
});

describe('over HTTP', () => {
  test('the request says what was asked for, and the key stands in a header only', async () => {
    const at = await server({
      http: res => res.writeHead(200, { 'content-type': 'audio/mpeg', 'request-id': 'r1', 'character-cost': '5' }).end('x'),
    });
    const outcome = await createEngine({ speech: adapterAt(at) }).speak('Hello', {
      voice: 'v/1',
      language: 'de-AT',
      speed: 1.1,
      format: 'mp3',
    });
    expect(outcome).toMatchObject({
      status: 'completed',
      format: 'mp3',
      sampleRate: 44_100,
      usage: { characters: 5 },
      responseIds: ['r1'],
    });
    const [hit] = at.hits;
    expect(hit!.url).toBe('/v1/text-to-speech/v%2F1?output_format=mp3_44100_128');
    expect(hit!.headers['xi-api-key']).toBe(KEY);
    const body = { text: 'Hello', model_id: 'eleven_flash_v2_5', language_code: 'de', voice_settings: { speed: 1.1 } };
    expect(JSON.parse(String(hit!.body))).toEqual(body);
  });

  const alignment = (text: string, from: number) => ({
    characters: [...text],
    character_start_times_seconds: [...text].map((_, i) => from + i / 10),
    character_end_times_seconds: [...text].map((_, i) => from + (i + 1) / 10),
  });
  const WORDS = [
    { text: 'Good', startMs: 0, endMs: 400 },
    { text: 'day', startMs: 500, endMs: 800 },
  ];

  test('times of words, whole', async () => {
    const http: Script['http'] = res =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ audio_base64: base64(sine(4)), alignment: alignment('Good day', 0) }));
    const at = await server({ http });
    const outcome = await engineAt(at).speak('Good day', { format: 'pcm', timestamps: true });
    expect(outcome).toMatchObject({ status: 'completed', words: WORDS, sampleRate: 24_000 });
    expect(at.hits[0]!.url).toContain('/with-timestamps?output_format=pcm_24000');
  });

  test.each(['', 'data: '])('times of words, streamed with lines that begin with %j; a word is cut by its pieces', async prefix => {
    const lines = [
      { audio_base64: base64(sine(4)), alignment: alignment('Goo', 0) },
      { audio_base64: base64(sine(2)), alignment: alignment('d day', 0.3) },
    ];
    const http: Script['http'] = res =>
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(lines.map(line => `${prefix}${JSON.stringify(line)}\n\n`).join(''));
    const outcome = await engineAt(await server({ http })).streamSpeech('Good day', { format: 'pcm', timestamps: true }).outcome;
    expect(outcome).toMatchObject({ status: 'completed', words: WORDS });
    expect(Buffer.from(outcome.audio!.data, 'base64').length).toBe(12);
  });

  test.each([
    ['a rate that the format does not have', { format: 'pcm', sampleRate: 12_345 }, 'pcm of 12345 Hz'],
    ['a format that it does not have', { format: 'aac' }, 'cannot give aac'],
    ['a speed that it does not have', { speed: 3 }, '0.7 to 1.2'],
    ['instructions', { instructions: 'whisper' }, 'no setting for instructions'],
  ] as const)('%s is refused before I/O', async (_, options, words) => {
    const at = await server({});
    for (const ask of [() => engineAt(at).speak('x', options), () => engineAt(at).streamSpeechFromText(pieces('x'), options).outcome]) {
      const outcome = await ask();
      expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
      expect(String((outcome as { error: Error }).error.message)).toContain(words);
    }
    expect(at.hits).toHaveLength(0);
  });

  test.each([
    [
      'a wrong key',
      401,
      'application/json',
      `{"detail":{"status":"invalid_api_key","message":"Invalid API key ${KEY}"}}`,
      'authentication_failed',
    ],
    [
      'a quota',
      401,
      'application/json',
      '{"detail":{"status":"quota_exceeded","message":"This exceeds your quota"}}',
      'insufficient_quota',
    ],
    ['a web page', 200, 'text/html', '<html><title>Login</title></html>', 'malformed_response'],
    ['JSON', 200, 'application/json', '{"ok":true}', 'malformed_response'],
    ['an empty body', 200, 'audio/mpeg', '', 'malformed_response'],
  ])('%s instead of sound', async (_, status, type, body, reason) => {
    const at = await server({ http: res => res.writeHead(status, { 'content-type': type }).end(body) });
    const outcome = (await engineAt(at).speak('x')) as { error: AntiphonError };
    expect(outcome.error.reason).toBe(reason);
    expect(JSON.stringify(outcome.error)).not.toContain(KEY);
  });
});

describe('from a text that is being written', () => {
  test('an engine speaks its own run: whole words, flushed at the end, words with times over all pieces', async () => {
    const spoken = fresh();
    const at = await server({ socket: speakingTwin(spoken) });
    const engine = engineAt(at, scripted(['Once upon a time there was a cat.']));
    const outcome = await engine.streamSpeechFromText(engine.stream('A story.'), { format: 'pcm', timestamps: true }).outcome;
    expect('error' in outcome ? outcome.error : undefined).toBeUndefined();
    expect(outcome).toMatchObject({ status: 'completed', format: 'pcm', sampleRate: 24_000 });
    expect(spoken.text.trim()).toBe('Once upon a time there was a cat.');
    expect(spoken.flushed).toBe(true);
    expect(spoken.messages.at(-1)).toEqual({ text: '' });
    expect(outcome.words!.map(({ text }) => text)).toEqual(['Once', 'upon', 'a', 'time', 'there', 'was', 'a', 'cat.']);
    for (const [i, word] of outcome.words!.entries()) {
      expect(word.endMs).toBeGreaterThan(word.startMs);
      if (i > 0) expect(word.startMs).toBeGreaterThanOrEqual(outcome.words![i - 1]!.endMs);
    }
    const seconds = Buffer.from(outcome.audio!.data, 'base64').length / 2 / 24_000;
    expect(outcome.words!.at(-1)!.endMs / 1000).toBeLessThanOrEqual(seconds);
    expect(at.hits).toHaveLength(1);
    expect(at.hits[0]!.url).not.toContain(KEY);
    await expect.poll(at.open).toBe(0);
  });

  test('words that are cut in two are sent whole, and so are those of a script without spaces', async () => {
    const spoken = fresh();
    const at = await server({ socket: speakingTwin(spoken) });
    expect((await engineAt(at).streamSpeechFromText(pieces('On', 'ce up', 'on a ti', 'me。', 'End')).outcome).status).toBe('completed');
    expect(spoken.messages.map(({ text }) => text)).toEqual([' ', 'Once ', 'upon a ', 'time。', 'End ', '']);
  });

  test('text is sent before the next piece is written', async () => {
    const spoken = fresh();
    const at = await server({ socket: speakingTwin(spoken) });
    async function* slow() {
      yield 'A first sentence. ';
      await expect.poll(() => spoken.text).toBe('A first sentence. ');
      yield 'Done.';
    }
    expect((await engineAt(at).streamSpeechFromText(slow()).outcome).status).toBe('completed');
  });

  test('leaving closes the socket, even while the source waits', async () => {
    const at = await server({ socket: speakingTwin(fresh()) });
    async function* endless() {
      yield 'Twelve letters or more. ';
      await new Promise(() => {});
    }
    for await (const event of adapterAt(at).streamSpeechFromText!({}, endless(), contextOf())) if (event.type === 'audio_delta') break;
    await expect.poll(at.open).toBe(0);
    const stream = engineAt(at).streamSpeechFromText(pieces('Twelve letters or more. '));
    for await (const event of stream) if (event.type === 'audio_delta') break;
    expect((await stream.outcome).status).toBe('interrupted');
    await expect.poll(at.open).toBe(0);
  });

  test('a source that fails, and a run that fails, fail the speech', async () => {
    const at = await server({ socket: speakingTwin(fresh()) });
    async function* broken() {
      yield 'Twelve letters or more. ';
      throw new Error('pen broke');
    }
    const outcome = await engineAt(at).streamSpeechFromText(broken()).outcome;
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason: 'invalid_request', message: expect.stringContaining('pen broke') },
    });
    await expect.poll(at.open).toBe(0);
  });

  const POINTS = ['open', 'begun', 'text', 'audio', 'end of text', 'before final', 'after all'] as const;
  describe.each(['terminate', 'close 1011', 'close 1000'] as const)('the socket ends (%s)', how => {
    test.each(POINTS)('%s', async point => {
      const spoken = fresh();
      let ended = false;
      const end = (name: string, socket: WebSocket) => {
        if (name !== point || ended) return false;
        ended = true;
        if (how === 'terminate') socket.terminate();
        else socket.close(how === 'close 1011' ? 1011 : 1000, 'Server is sorry');
        return true;
      };
      const at = await server({ socket: speakingTwin(spoken, end) });
      const events: string[] = [];
      const heard: Uint8Array[] = [];
      const engine = createEngine({ speech: adapterAt(at), retry: { maxRetries: 2, baseMs: 1, capMs: 1 } });
      const stream = engine.streamSpeechFromText(pieces('One two three. ', 'Four five six. ', 'Seven.'), {
        format: 'pcm',
        timeoutMs: 5_000,
      });
      for await (const event of stream) {
        events.push(event.type);
        if (event.type === 'audio_delta') heard.push(event.bytes);
      }
      const outcome = await stream.outcome;
      // Nothing is spoken twice: what was taken from the text was sent once, and only a connection that took none is made again.
      expect('One two three. Four five six. Seven. '.startsWith(spoken.text.trim())).toBe(true);
      if (point === 'after all') expect(outcome.status).toBe('completed');
      else {
        expect(outcome.status).toBe('failed');
        const { error } = outcome as { error: AntiphonError };
        expect(['network_error', 'truncated', 'provider_unavailable']).toContain(error.reason);
        expect(error.reason).not.toBe('timeout');
        if (heard.length > 0) expect(error.retryable).toBe(false);
        expect(events.filter(type => type === 'speech_start').length).toBeLessThanOrEqual(1);
      }
      await expect.poll(at.open).toBe(0);
    });
  });

  test.each([
    ['garbage', 'no JSON at all', 'malformed_response'],
    ['a list', '[1]', 'malformed_response'],
    ['sound that is no base64', '{"audio":"%%%"}', 'malformed_response'],
    ['an error', `{"message":"Voice not found for ${KEY}","error":"voice_not_found","code":1008}`, 'invalid_request'],
    ['a full quota', '{"message":"You are out","error":"quota_exceeded","code":1008}', 'insufficient_quota'],
    ['an end without sound', '{"isFinal":true}', 'malformed_response'],
  ])('%s on the socket', async (_, frame, reason) => {
    const at = await server({ socket: socket => socket.send(frame) });
    const outcome = (await engineAt(at).streamSpeechFromText(pieces('Hello.')).outcome) as { error: AntiphonError };
    expect(outcome.error.reason).toBe(reason);
    expect(JSON.stringify(outcome.error)).not.toContain(KEY);
    await expect.poll(at.open).toBe(0);
  });

  test('bytes where text is expected are read when they are JSON, and refused when they are not', async () => {
    const good = await server({ socket: socket => socket.send(Buffer.from(JSON.stringify({ audio: base64(sine(2)), isFinal: true }))) });
    expect((await engineAt(good).streamSpeechFromText(pieces('Hi.')).outcome).status).toBe('completed');
    const bad = await server({ socket: socket => socket.send(Buffer.from([255, 254, 0, 1])) });
    expect(await engineAt(bad).streamSpeechFromText(pieces('Hi.')).outcome).toMatchObject({ error: { reason: 'malformed_response' } });
  });

  test('a wrong key is told by its close code, without the key', async () => {
    const at = await server({ socket: speakingTwin(fresh()) });
    const speech = elevenlabsSpeech({ model: 'm', baseURL: at.url, apiKey: 'another-key-9' });
    const outcome = (await createEngine({ speech, retry: false }).streamSpeechFromText(pieces('Hi.')).outcome) as { error: AntiphonError };
    expect(outcome.error.reason).toBe('authentication_failed');
    expect(outcome.error.message).toContain('1008');
    expect(JSON.stringify(outcome.error)).not.toContain('another-key-9');
  });

  test('a socket of the caller gets the headers', async () => {
    const at = await server({ socket: speakingTwin(fresh()) });
    const seen: unknown[] = [];
    class Own extends WebSocket {
      constructor(url: string, options: { headers: Record<string, string> }) {
        super(url, options);
        seen.push(url, options.headers);
      }
    }
    const speech = adapterAt(at, { webSocket: Own });
    expect((await createEngine({ speech }).streamSpeechFromText(pieces('Hi.')).outcome).status).toBe('completed');
    expect(seen[1]).toEqual({ 'xi-api-key': KEY });
    expect(String(seen[0])).toMatch(/^ws:\/\/127/);
  });
});

function contextOf(signal = new AbortController().signal) {
  return { signal, requestId: 'test', clock: systemClock };
}
