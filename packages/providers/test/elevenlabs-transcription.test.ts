// ElevenLabs transcription: recordings over HTTP, live sound over its socket.
import { readFileSync } from 'node:fs';
import { type AntiphonError, audioPart, createEngine, type TranscriptionAdapter } from '@antiphon/engine';
import { type TranscriptionScenario, transcriptionConformance } from '@antiphon/engine/testing';
import { elevenlabsTranscription } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { listeningTwin } from './support/elevenlabs-socket.js';
import { formOf, type SoundServer, sine, soundServers } from './support/sound-server.js';

const KEY = 'secret-key-123';
const server = soundServers();
const adapterAt = ({ url }: SoundServer): TranscriptionAdapter =>
  elevenlabsTranscription({ model: 'scribe_v2', baseURL: url, apiKey: KEY });
const engineAt = (at: SoundServer) => createEngine({ transcription: adapterAt(at), retry: false });
const SECOND = sine(16_000, 16_000);
async function* sound(...pieces: (Uint8Array | 'commit')[]) {
  yield* pieces;
}
const WORDS = [
  { text: 'Hi', start: 0.1, end: 0.4, type: 'word', speaker_id: 'speaker_0', logprob: -0.1 },
  { text: ' ', start: 0.4, end: 0.5, type: 'spacing', speaker_id: 'speaker_0', logprob: -0.1 },
  { text: '(laughs)', start: 0.5, end: 0.9, type: 'audio_event', speaker_id: 'speaker_1', logprob: 0 },
];

describe('elevenlabsTranscription holds the contract of a transcriber', () => {
  const make = async (scenario: TranscriptionScenario) => {
    const failure =
      scenario.kind === 'failure'
        ? {
            status: scenario.status,
            body: JSON.stringify({ detail: { status: 'some_word', message: scenario.message } }),
            headers: scenario.retryAfterMs === undefined ? {} : { 'retry-after': String(scenario.retryAfterMs / 1000) },
          }
        : undefined;
    if (scenario.kind === 'answer' && scenario.answer.usage?.inputTokens === 0) return undefined;
    const made = await server({
      ...(failure ? { refuse: failure } : {}),
      http(res) {
        if (failure) return res.writeHead(failure.status, failure.headers).end(failure.body);
        if (scenario.kind === 'answer')
          res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text: scenario.answer.text, words: [] }));
      },
      socket(socket) {
        if (scenario.kind !== 'stream') return;
        const say = (value: object) => socket.send(JSON.stringify(value));
        say({ message_type: 'session_started' });
        let at = 0;
        socket.on('message', () => {
          const segment = scenario.answer.segments[at++];
          if (segment !== undefined) return say({ message_type: 'committed_transcript', text: segment });
          if (scenario.ends === 'complete') say({ message_type: 'commit_throttled', error: 'nothing left' });
          if (scenario.ends === 'lost') socket.terminate();
        });
      },
    });
    return { adapter: adapterAt(made), requests: () => made.hits.length, open: made.open };
  };
  const cases = transcriptionConformance(make);
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(25));
  for (const { name, run } of cases) test(name, run);
});

describe('recordings', () => {
  test('the form, the spans, and nothing that was not asked for', async () => {
    const at = await server({
      http: res =>
        res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ language_code: 'eng', text: 'Hi (laughs)', words: WORDS, audio_duration_secs: 1.5 })),
    });
    const providerOptions = { elevenlabs: { diarize: true } };
    const outcome = await engineAt(at).transcribe(audioPart(SECOND, 'audio/wav'), {
      language: 'en-GB',
      timestamps: true,
      logprobs: true,
      providerOptions,
    });
    expect(outcome).toMatchObject({
      status: 'completed',
      text: 'Hi (laughs)',
      language: 'eng',
      durationMs: 1500,
      usage: { audioSeconds: 1.5 },
    });
    expect(outcome.spans).toEqual([
      { text: 'Hi', kind: 'word', startMs: 100, endMs: 400, logprob: -0.1, speaker: 'speaker_0' },
      { text: ' ', kind: 'spacing', startMs: 400, endMs: 500, logprob: -0.1, speaker: 'speaker_0' },
      { text: '(laughs)', kind: 'sound', startMs: 500, endMs: 900, logprob: 0, speaker: 'speaker_1' },
    ]);
    const form = await formOf(at.hits[0]!.body, at.hits[0]!.headers['content-type']);
    expect(form.get('model_id')).toBe('scribe_v2');
    expect(form.get('language_code')).toBe('en');
    expect(form.get('diarize')).toBe('true');
    expect((form.get('file') as File).size).toBe(SECOND.length);
    expect(at.hits[0]!.headers['xi-api-key']).toBe(KEY);
    const direct = await adapterAt(at).transcribe(
      { audio: audioPart(SECOND, 'audio/wav'), timestamps: true },
      { signal: new AbortController().signal, requestId: 'x', clock: clockOf() },
    );
    expect(direct.spans!.map(span => (span as { speaker?: string }).speaker)).toEqual(['speaker_0', 'speaker_0', 'speaker_1']);
    expect((await engineAt(at).transcribe(audioPart(SECOND, 'audio/wav'))).spans).toBeUndefined();
  });

  test('a prompt is refused before I/O', async () => {
    const at = await server({});
    expect(await engineAt(at).transcribe(audioPart(SECOND), { prompt: 'x' })).toMatchObject({ error: { reason: 'unsupported' } });
    expect(at.hits).toHaveLength(0);
  });

  test('recorded: what ElevenLabs really answered', async ({ skip }) => {
    const folder = new URL('../../../../shared/streams/', import.meta.url);
    const name = 'transcription/elevenlabs-transcription.json';
    let body: string;
    try {
      body = readFileSync(new URL(name, folder), 'utf8');
    } catch {
      console.log('skipped: the recorded streams are not here');
      return skip();
    }
    const { facts } = JSON.parse(readFileSync(new URL('facts.json', folder), 'utf8'))[name];
    const at = await server({ http: res => res.writeHead(200, { 'content-type': 'application/json' }).end(body) });
    const outcome = await engineAt(at).transcribe(audioPart(SECOND), { timestamps: true, logprobs: true });
    expect(outcome).toMatchObject({ status: 'completed', text: facts.text, language: facts.language });
    expect(outcome.spans).toHaveLength(facts.words);
    expect(
      outcome
        .spans!.filter(({ kind }) => kind === 'word')
        .map(({ text }) => text)
        .join(' '),
    ).toBe(facts.text);
  });
});

describe('live sound', () => {
  const session = (hook?: (point: string, socket: WebSocket) => boolean | undefined) => {
    const heard = { bytes: 0, commits: 0 };
    return { heard, script: { socket: listeningTwin(heard, hook) } };
  };

  test('vad: partials, segments, and the rest at the end; all bytes arrive, in messages of at most a second', async () => {
    const { heard, script } = session();
    const at = await server(script);
    const long = sine(40_000, 16_000);
    const stream = engineAt(at).streamTranscription(sound(long, SECOND.subarray(0, 24_001), SECOND.subarray(24_001)), {
      language: 'de-DE',
    });
    const types = new Set<string>();
    for await (const event of stream) types.add(event.type);
    const outcome = await stream.outcome;
    expect(outcome).toMatchObject({
      status: 'completed',
      text: 'heard 32000 heard 32000 heard 48000'.replace('heard 48000', outcome.text.split(' ').slice(-2).join(' ')),
      durationMs: 3500,
    });
    expect(types).toEqual(new Set(['transcription_start', 'partial_transcript', 'committed_transcript', 'transcription_end', 'end']));
    expect(heard).toEqual({ bytes: 112_000, commits: 1 });
    const { searchParams } = new URL(at.hits[0]!.url, 'ws://x');
    expect(Object.fromEntries(searchParams)).toEqual({
      model_id: 'scribe_v2',
      audio_format: 'pcm_16000',
      commit_strategy: 'vad',
      language_code: 'de',
    });
    await expect.poll(at.open).toBe(0);
  });

  test('manual: each commit is a segment, with times and probabilities', async () => {
    const { heard, script } = session();
    const at = await server(script);
    const outcome = await engineAt(at).streamTranscription(sound(SECOND, 'commit', SECOND), {
      providerOptions: { elevenlabs: { keyterms: ['Antiphon', 'Oslo'] } },
      commit: 'manual',
      timestamps: true,
      logprobs: true,
    }).outcome;
    expect(outcome).toMatchObject({ status: 'completed', text: 'heard 32000 heard 32000', language: 'en' });
    expect(outcome.spans).toHaveLength(4);
    expect(outcome.spans![0]).toEqual({ text: 'heard', kind: 'word', startMs: 0, endMs: 400, logprob: -0.25, speaker: 'speaker_0' });
    expect(heard.commits).toBe(2);
    expect(new URL(at.hits[0]!.url, 'ws://x').searchParams.getAll('keyterms')).toEqual(['Antiphon', 'Oslo']);
  });

  test('a segment whose times never come fails the call and keeps the text', async () => {
    const { script } = session();
    const at = await server({
      socket(socket, req) {
        const send = socket.send.bind(socket);
        socket.send = ((data: string) => (data.includes('with_timestamps') ? undefined : send(data))) as typeof socket.send;
        script.socket(socket, req);
        socket.on('message', data => String(data).includes('"commit":true') && setImmediate(() => socket.close(1000)));
      },
    });
    const outcome = await engineAt(at).streamTranscription(sound(SECOND), { commit: 'manual', timestamps: true }).outcome;
    expect(outcome.status).toBe('failed');
  });

  test('a wrong key takes nothing of the sound', async () => {
    const at = await server(session().script);
    let taken = 0;
    async function* counted() {
      taken++;
      yield SECOND;
    }
    const transcription = elevenlabsTranscription({ model: 'm', baseURL: at.url, apiKey: 'another-key-9' });
    const outcome = (await createEngine({ transcription, retry: false }).streamTranscription(counted()).outcome) as {
      error: AntiphonError;
    };
    expect(outcome.error.reason).toBe('authentication_failed');
    expect(JSON.stringify(outcome.error)).not.toContain('another-key-9');
    expect(taken).toBe(0);
  });

  test('a rate that it does not take is refused before I/O', async () => {
    const at = await server(session().script);
    expect(await engineAt(at).streamTranscription(sound(SECOND), { sampleRate: 11_025 }).outcome).toMatchObject({
      error: { reason: 'unsupported' },
    });
    expect(at.hits).toHaveLength(0);
  });

  test.each(['open', 'audio', 'commit'])('the socket is killed at: %s', async point => {
    const { script } = session((name, socket) => {
      if (name !== point) return false;
      socket.terminate();
      return true;
    });
    const at = await server(script);
    const outcome = (await engineAt(at).streamTranscription(sound(SECOND, SECOND), { timeoutMs: 5_000 }).outcome) as {
      status: string;
      error: AntiphonError;
    };
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'network_error' } });
    await expect.poll(at.open).toBe(0);
  });

  test.each([
    ['quota_exceeded', 'insufficient_quota'],
    ['rate_limited', 'rate_limited'],
    ['chunk_size_exceeded', 'invalid_request'],
    ['transcriber_error', 'provider_unavailable'],
    ['commit_throttled', 'rate_limited'],
  ])('the message %s is %s', async (type, reason) => {
    const at = await server({ socket: socket => socket.send(JSON.stringify({ message_type: type, error: 'So it is.' })) });
    expect(await engineAt(at).streamTranscription(sound(SECOND)).outcome).toMatchObject({
      error: { reason, message: expect.stringContaining('So it is.') },
    });
  });
});

function clockOf() {
  return { now: () => 0, wallTime: () => 0, setTimer: () => () => {} };
}
