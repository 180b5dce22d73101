// OpenAI speech: whole and streamed, as bytes and as events.
import { type AntiphonError, createEngine } from '@antiphon/engine';
import { type SpeechScenario, speechConformance } from '@antiphon/engine/testing';
import { openaiSpeech } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { base64, type SoundServer, sine, soundServers } from './support/sound-server.js';

const KEY = 'secret-key-123';
const server = soundServers();
const adapterAt = ({ url }: SoundServer, model = 'gpt-4o-mini-tts') => openaiSpeech({ model, baseURL: url, apiKey: KEY });
const engineAt = (at: SoundServer, model?: string) => createEngine({ speech: adapterAt(at, model), retry: false });

describe.each(['bytes', 'events'])('openaiSpeech (%s) holds the contract of a speech adapter', how => {
  const make = async (scenario: SpeechScenario) => {
    // Bytes do not tell what they cost.
    if (how === 'bytes' && scenario.kind === 'answer' && scenario.answer.usage?.inputTokens === 0) return undefined;
    const made = await server({
      http(res) {
        if (scenario.kind === 'silent') return;
        if (scenario.kind === 'failure') {
          const headers = scenario.retryAfterMs === undefined ? {} : { 'retry-after': String(scenario.retryAfterMs / 1000) };
          return res.writeHead(scenario.status, headers).end(JSON.stringify({ error: { message: scenario.message } }));
        }
        const chunks = scenario.kind === 'answer' ? [Buffer.from(scenario.answer.audio.data, 'base64')] : scenario.answer.chunks;
        const ends = scenario.kind === 'answer' ? 'complete' : scenario.ends;
        res.writeHead(200, { 'content-type': how === 'bytes' ? 'audio/pcm' : 'text/event-stream' });
        for (const chunk of chunks) {
          if (how === 'bytes') res.write(chunk);
          else res.write(`data: ${JSON.stringify({ type: 'speech.audio.delta', audio: base64(chunk) })}\n\n`);
        }
        if (ends === 'lost') setTimeout(() => res.destroy(), 20);
        if (ends !== 'complete') return;
        const input = scenario.kind === 'answer' ? scenario.answer.usage?.inputTokens : undefined;
        if (how === 'events') res.write(`data: ${JSON.stringify({ type: 'speech.audio.done', usage: { input_tokens: input } })}\n\n`);
        res.end();
      },
    });
    return { adapter: adapterAt(made), requests: () => made.hits.length, open: made.open };
  };
  for (const { name, run } of speechConformance(make)) test(name, run);
});

test('the request says what was asked for; the sound is what came', async () => {
  const at = await server({ http: res => res.writeHead(200, { 'content-type': 'audio/wav' }).end(sine(100)) });
  const outcome = await engineAt(at).speak('Hello', { voice: 'coral', format: 'wav', speed: 2, instructions: 'Whisper.' });
  expect(outcome).toMatchObject({ status: 'completed', format: 'wav', audio: { mediaType: 'audio/wav' } });
  const body = { model: 'gpt-4o-mini-tts', input: 'Hello', voice: 'coral', response_format: 'wav', speed: 2, instructions: 'Whisper.' };
  expect(JSON.parse(String(at.hits[0]!.body))).toEqual(body);
  expect(at.hits[0]!.url).toBe('/v1/audio/speech');
});

test('pieces of raw sound make the same whole, with its rate', async () => {
  const whole = sine(1_000);
  const at = await server({
    http(res) {
      res.writeHead(200, { 'content-type': 'application/octet-stream' });
      for (let i = 0; i < whole.length; i += 333) res.write(whole.subarray(i, i + 333));
      res.end();
    },
  });
  const outcome = await engineAt(at).streamSpeech('Hello', { format: 'pcm' }).outcome;
  expect(outcome).toMatchObject({ status: 'completed', sampleRate: 24_000, format: 'pcm', audio: { data: base64(whole) } });
});

test('the caller’s own fields count: a voice, and the format of events, which do not say what sound they hold', async () => {
  const events = ['{"type":"speech.audio.delta","audio":"AAAA"}', '{"type":"speech.audio.done"}'];
  const at = await server({
    http: res => res.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.map(data => `data: ${data}\n\n`).join('')),
  });
  const providerOptions = { openai: { stream_format: 'sse', response_format: 'wav', voice: { id: 'voice_1' } } };
  expect(await engineAt(at).speak('x', { providerOptions })).toMatchObject({ format: 'wav', audio: { mediaType: 'audio/wav' } });
  expect(JSON.parse(String(at.hits[0]!.body))).toMatchObject(providerOptions.openai);
});

test.each([
  ['times of words', 'gpt-4o-mini-tts', { timestamps: true }],
  ['a sample rate', 'gpt-4o-mini-tts', { format: 'pcm', sampleRate: 16_000 }],
  ['a language', 'gpt-4o-mini-tts', { language: 'de' }],
  ['a speed out of range', 'gpt-4o-mini-tts', { speed: 5 }],
  ['instructions for tts-1', 'tts-1', { instructions: 'Whisper.' }],
  ['a telephone format', 'gpt-4o-mini-tts', { format: 'ulaw' }],
] as const)('refused before I/O: %s', async (_, model, options) => {
  const at = await server({});
  expect(await engineAt(at, model).speak('x', options)).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
  expect(await engineAt(at, model).streamSpeech('x', options).outcome).toMatchObject({
    status: 'failed',
    error: { reason: 'unsupported' },
  });
  expect(at.hits).toHaveLength(0);
});

test('a text that is too long for OpenAI is refused before I/O', async () => {
  const speech = openaiSpeech({ model: 'tts-1', apiKey: KEY, fetch: () => Promise.reject(new Error('no')) });
  expect(await createEngine({ speech }).speak('é'.repeat(4097))).toMatchObject({ error: { reason: 'context_length_exceeded' } });
});

test.each([
  ['a wrong key', 401, 'application/json', `{"error":{"message":"Incorrect API key provided: ${KEY}"}}`, 'authentication_failed'],
  ['a web page', 200, 'text/html', '<html><title>Login</title></html>', 'malformed_response'],
  ['JSON', 200, 'application/json', '{"ok":true}', 'malformed_response'],
  ['an empty body', 200, 'audio/mpeg', '', 'malformed_response'],
  ['half a sample', 200, 'audio/pcm', 'abc', 'truncated'],
  ['garbage events', 200, 'text/event-stream', 'data: hm\n\n', 'malformed_response'],
  ['events without an end', 200, 'text/event-stream', 'data: {"type":"speech.audio.delta","audio":"AAAA"}\n\n', 'truncated'],
  [
    'an error among the events',
    200,
    'text/event-stream',
    'data: {"error":{"message":"busy","code":"overloaded"}}\n\n',
    'provider_unavailable',
  ],
])('%s instead of sound', async (_, status, type, body, reason) => {
  const at = await server({ http: res => res.writeHead(status, { 'content-type': type }).end(body) });
  const outcome = (await engineAt(at).speak('x')) as { error: AntiphonError };
  expect(outcome.error.reason).toBe(reason);
  expect(JSON.stringify(outcome.error)).not.toContain(KEY);
  await expect.poll(at.open).toBe(0);
});
