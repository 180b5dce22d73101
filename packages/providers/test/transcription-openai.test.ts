// OpenAI transcription: recordings, streamed uploads, and live sound over the realtime socket.
import { readFileSync } from 'node:fs';
import { type AntiphonError, audioPart, createEngine } from '@antiphon/engine';
import { type TranscriptionScenario, transcriptionConformance } from '@antiphon/engine/testing';
import { type OpenaiTranscriptionOptions, openaiTranscription } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { type Heard, realtimeTwin } from './support/openai-realtime.js';
import { formOf, type Script, type SoundServer, sine, soundServers } from './support/sound-server.js';

const KEY = 'secret-key-123';
const server = soundServers();
const adapterAt = ({ url }: SoundServer, more: Partial<OpenaiTranscriptionOptions> = {}) =>
  openaiTranscription({ model: 'gpt-4o-transcribe', baseURL: url, apiKey: KEY, ...more });
const engineAt = (at: SoundServer, more: Partial<OpenaiTranscriptionOptions> = {}) =>
  createEngine({ transcription: adapterAt(at, more), retry: false });
const json = (body: unknown): Script => ({
  http: res => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
});
const SECOND = sine(24_000);
async function* sound(...pieces: (Uint8Array | 'commit')[]) {
  yield* pieces;
}

describe.each(['realtime', 'upload'] as const)('openaiTranscription (%s) holds the contract of a transcriber', streaming => {
  const make = async (scenario: TranscriptionScenario) => {
    const failure =
      scenario.kind === 'failure'
        ? {
            status: scenario.status,
            body: JSON.stringify({ error: { message: scenario.message } }),
            headers: scenario.retryAfterMs === undefined ? {} : { 'retry-after': String(scenario.retryAfterMs / 1000) },
          }
        : undefined;
    const made = await server({
      ...(failure ? { refuse: failure } : {}),
      http(res) {
        if (failure) return res.writeHead(failure.status, failure.headers).end(failure.body);
        if (scenario.kind === 'answer') {
          const { text, usage } = scenario.answer;
          const told = usage?.inputTokens === undefined ? {} : { usage: { type: 'tokens', input_tokens: usage.inputTokens } };
          return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text, ...told }));
        }
        if (scenario.kind !== 'stream') return;
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const text = scenario.answer.segments.join(' ');
        const say = (value: object) => res.write(`data: ${JSON.stringify(value)}\n\n`);
        say({ type: 'transcript.text.delta', delta: text.slice(0, 4) });
        // A segment is complete in one event here; what can be lost or stay open is what comes before it.
        if (scenario.ends === 'lost') return setTimeout(() => res.destroy(), 20);
        say({ type: 'transcript.text.done', text });
        if (scenario.ends === 'complete') res.end();
      },
      socket(socket) {
        if (scenario.kind !== 'stream') return;
        const say = (value: object) => socket.send(JSON.stringify(value));
        say({ type: 'session.created' });
        socket.on('message', data => {
          const { type } = JSON.parse(String(data)) as { type: string };
          if (type === 'session.update') say({ type: 'session.updated' });
          if (type !== 'input_audio_buffer.clear') return;
          for (const [i, transcript] of scenario.answer.segments.entries()) {
            say({ type: 'input_audio_buffer.speech_started' });
            say({ type: 'input_audio_buffer.committed', item_id: `i${i}` });
            say({ type: 'conversation.item.input_audio_transcription.completed', item_id: `i${i}`, transcript });
          }
          if (scenario.ends === 'complete') say({ type: 'input_audio_buffer.cleared' });
          if (scenario.ends === 'lost') socket.terminate();
        });
      },
    });
    return { adapter: adapterAt(made, { streaming }), requests: () => made.hits.length, open: made.open };
  };
  for (const { name, run } of transcriptionConformance(make)) test(name, run);
});

describe('recordings', () => {
  test('Whisper: times of words', async () => {
    const at = await server(
      json({
        text: 'Hi there',
        language: 'english',
        duration: 1.2,
        words: [
          { word: 'Hi', start: 0, end: 0.5 },
          { word: 'there', start: 0.5, end: 1 },
        ],
      }),
    );
    const outcome = await engineAt(at, { model: 'whisper-1' }).transcribe(audioPart(SECOND, 'audio/wav'), {
      timestamps: true,
      language: 'en-US',
      prompt: 'Names',
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Hi there', language: 'english', durationMs: 1200 });
    expect(outcome.spans![1]).toEqual({ text: 'there', kind: 'word', startMs: 500, endMs: 1000 });
    const form = await formOf(at.hits[0]!.body, at.hits[0]!.headers['content-type']);
    expect([
      form.get('model'),
      form.get('response_format'),
      form.getAll('timestamp_granularities[]'),
      form.get('language'),
      form.get('prompt'),
    ]).toEqual(['whisper-1', 'verbose_json', ['word'], 'en', 'Names']);
    expect((form.get('file') as File).name).toBe('audio.wav');
    expect(at.hits[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test('GPT: log-probabilities of tokens, and usage', async () => {
    const logprobs = [{ token: 'Hi', logprob: -0.01, bytes: [72, 105] }];
    const at = await server(
      json({ text: 'Hi', logprobs, usage: { type: 'tokens', input_tokens: 14, output_tokens: 2, total_tokens: 16 } }),
    );
    const outcome = await engineAt(at).transcribe(audioPart(SECOND, 'audio/mpeg'), { logprobs: true });
    expect(outcome).toMatchObject({
      status: 'completed',
      spans: [{ text: 'Hi', kind: 'token', logprob: -0.01 }],
      usage: { inputTokens: 14, outputTokens: 2, totalTokens: 16 },
    });
    expect((await formOf(at.hits[0]!.body, at.hits[0]!.headers['content-type'])).getAll('include[]')).toEqual(['logprobs']);
  });

  test.each([
    ['times of a GPT model', 'gpt-4o-transcribe', { timestamps: true }],
    ['times of a GPT model that the request names', 'whisper-1', { timestamps: true, model: 'gpt-4o-transcribe' }],
    ['log-probabilities of Whisper', 'whisper-1', { logprobs: true }],
  ])('%s are refused before I/O', async (_, model, options) => {
    const at = await server({});
    expect(await engineAt(at, { model }).transcribe(audioPart(SECOND), options)).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported' },
    });
    expect(await engineAt(at, { model }).streamTranscription(sound(SECOND), options).outcome).toMatchObject({
      error: { reason: 'unsupported' },
    });
    expect(at.hits).toHaveLength(0);
  });

  test('live times of Whisper, and a type that has no ending, are refused before I/O', async () => {
    const at = await server({});
    const engine = engineAt(at, { model: 'whisper-1' });
    expect(await engine.streamTranscription(sound(SECOND), { timestamps: true }).outcome).toMatchObject({
      error: { reason: 'unsupported' },
    });
    expect(await engine.transcribe(audioPart(SECOND, 'audio/midi'))).toMatchObject({ error: { reason: 'unsupported' } });
    expect(at.hits).toHaveLength(0);
  });

  test.each([
    ['a wrong key', 401, `{"error":{"message":"Incorrect API key provided: ${KEY}","code":"invalid_api_key"}}`, 'authentication_failed'],
    ['a web page', 200, '<html><title>Login</title></html>', 'malformed_response'],
    ['an empty body', 200, '', 'malformed_response'],
    ['no text', 200, '{"task":"transcribe"}', 'malformed_response'],
  ])('%s', async (_, status, body, reason) => {
    const at = await server({ http: res => res.writeHead(status).end(body) });
    const outcome = (await engineAt(at).transcribe(audioPart(SECOND))) as { error: AntiphonError };
    expect(outcome.error.reason).toBe(reason);
    expect(JSON.stringify(outcome.error)).not.toContain(KEY);
  });

  test('recorded: what OpenAI really answered', async ({ skip }) => {
    const folder = new URL('../../../../shared/streams/', import.meta.url);
    const name = 'transcription/openai-transcription.json';
    let body: string;
    try {
      body = readFileSync(new URL(name, folder), 'utf8');
    } catch {
      console.log('skipped: the recorded streams are not here');
      return skip();
    }
    const { facts } = JSON.parse(readFileSync(new URL('facts.json', folder), 'utf8'))[name];
    const at = await server({ http: res => res.writeHead(200, { 'content-type': 'application/json' }).end(body) });
    const outcome = await engineAt(at, { model: 'whisper-1' }).transcribe(audioPart(SECOND), { timestamps: true });
    expect(outcome).toMatchObject({
      status: 'completed',
      text: facts.text,
      language: facts.language,
      durationMs: Math.round(facts.duration * 1000),
    });
    expect(outcome.spans).toHaveLength(facts.words);
    expect(outcome.usage.audioSeconds).toBe(37);
  });
});

describe('uploads of live sound', () => {
  test('each commit is one upload of a WAV file, streamed', async () => {
    const sizes: number[] = [];
    const at = await server({
      async http(res, body, req) {
        const form = await formOf(body, req.headers['content-type']);
        const file = new Uint8Array(await (form.get('file') as File).arrayBuffer());
        sizes.push(new DataView(file.buffer).getUint32(40, true));
        expect(form.get('stream')).toBe('true');
        expect(new TextDecoder().decode(file.subarray(0, 4))).toBe('RIFF');
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('data: {"type":"transcript.text.delta","delta":"Hel"}\n\n');
        res.end('data: {"type":"transcript.text.done","text":"Hello.","usage":{"type":"tokens","input_tokens":5}}\n\n');
      },
    });
    const outcome = await engineAt(at, { streaming: 'upload' }).streamTranscription(sound(SECOND, 'commit', SECOND), {
      commit: 'manual',
      sampleRate: 24_000,
    }).outcome;
    expect(outcome).toMatchObject({ status: 'completed', text: 'Hello. Hello.', durationMs: 2000, usage: { inputTokens: 10 } });
    expect(sizes).toEqual([48_000, 48_000]);
  });
});

describe('live sound over the realtime socket', () => {
  const session = (hook?: (point: string, socket: WebSocket) => boolean | undefined) => {
    const heard: Heard = { bytes: 0, commits: 0 };
    return { heard, script: { socket: realtimeTwin(heard, hook) } };
  };

  test('segments are told in the order in which they were spoken, with the rest at the end', async () => {
    const { heard, script } = session();
    const at = await server(script);
    const outcome = await engineAt(at).streamTranscription(sound(SECOND, SECOND, SECOND.subarray(0, 24_000)), {
      sampleRate: 24_000,
      language: 'de-AT',
      logprobs: true,
    }).outcome;
    expect(outcome).toMatchObject({
      status: 'completed',
      text: 'segment 1 of 48000 segment 2 of 48000 segment 3 of 24000',
      durationMs: 2500,
    });
    expect(outcome.usage).toEqual({ inputTokens: 30, outputTokens: 9, totalTokens: 39 });
    expect(outcome.spans!.map(({ logprob }) => logprob)).toEqual([-0.5, -0.5, -0.5]);
    expect(heard.session).toEqual({
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model: 'gpt-4o-transcribe', language: 'de' },
          turn_detection: { type: 'server_vad' },
        },
      },
      include: ['item.input_audio_transcription.logprobs'],
    });
    expect(at.hits[0]!.url).not.toContain(KEY);
    await expect.poll(at.open).toBe(0);
  });

  test('sound that ends together with a segment has no rest; manual commits are segments', async () => {
    const { script } = session();
    const at = await server(script);
    expect(await engineAt(at).streamTranscription(sound(SECOND), { sampleRate: 24_000 }).outcome).toMatchObject({
      status: 'completed',
      text: 'segment 1 of 48000',
    });
    const manual = session();
    const there = await server(manual.script);
    const outcome = await engineAt(there).streamTranscription(sound(SECOND, 'commit', SECOND), { sampleRate: 24_000, commit: 'manual' })
      .outcome;
    expect(outcome).toMatchObject({ status: 'completed', text: 'segment 1 of 48000 segment 2 of 48000' });
  });

  test.each([8_000, 16_000])('sound of %i Hz is raised to the rate of the wire', async sampleRate => {
    const { heard, script } = session();
    const at = await server(script);
    const whole = sine(sampleRate * 2, sampleRate);
    const parts = [whole.subarray(0, 2_000), whole.subarray(2_000, 9_002), whole.subarray(9_002)];
    expect((await engineAt(at).streamTranscription(sound(...parts), { sampleRate }).outcome).status).toBe('completed');
    expect(Math.abs(heard.bytes - 96_000)).toBeLessThanOrEqual(8);
  });

  test('a wrong key takes nothing of the sound and is not shown', async () => {
    const at = await server(session().script);
    let taken = 0;
    async function* counted() {
      taken++;
      yield SECOND;
    }
    const engine = engineAt(at, { apiKey: 'another-key-9' });
    const outcome = (await engine.streamTranscription(counted(), { sampleRate: 24_000 }).outcome) as { error: AntiphonError };
    expect(outcome.error.reason).toBe('authentication_failed');
    expect(JSON.stringify(outcome.error)).not.toContain('another-key-9');
    expect(taken).toBe(0);
  });

  test.each(['open', 'session', 'audio', 'commit', 'clear'])('the socket is killed at: %s', async point => {
    const { script } = session((name, socket) => {
      if (name !== point) return false;
      socket.terminate();
      return true;
    });
    const at = await server(script);
    const outcome = await engineAt(at).streamTranscription(sound(SECOND, SECOND, SECOND), { sampleRate: 24_000, timeoutMs: 5_000 }).outcome;
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'network_error' } });
    await expect.poll(at.open).toBe(0);
  });
});
