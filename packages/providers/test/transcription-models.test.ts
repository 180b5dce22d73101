// How OpenAI's families of transcription models differ: what they tell, which fields they read, whether they hear pauses.
import { audioPart, createEngine } from '@antiphon/engine';
import { openaiTranscription } from '@antiphon/providers';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { type Heard, realtimeTwin } from './support/openai-realtime.js';
import { formOf, type SoundServer, sine, soundServers } from './support/sound-server.js';

const server = soundServers();
const engineAt = ({ url }: SoundServer, model: string) =>
  createEngine({ transcription: openaiTranscription({ model, baseURL: url, apiKey: 'secret-key-123' }), retry: false });
const SECOND = sine(24_000);

test.each([
  ['whisper-1', { language: 'english' }, { language: 'de' }, 'english'],
  ['gpt-4o-transcribe', {}, { language: 'de' }, undefined],
  ['gpt-transcribe', { languages: [{ code: 'de' }, { code: 'en' }] }, { 'languages[]': 'de' }, 'de'],
])('%s: the expected language goes where it is read, the one that was heard comes back', async (model, told, sent, language) => {
  const at = await server({ http: res => res.end(JSON.stringify({ text: 'Hallo', ...told })) });
  const outcome = await engineAt(at, model).transcribe(audioPart(SECOND), { language: 'de-AT', prompt: 'Oslo' });
  expect([outcome.status, outcome.language]).toEqual(['completed', language]);
  const { file: _, ...fields } = Object.fromEntries(await formOf(at.hits[0]!.body, at.hits[0]!.headers['content-type']));
  expect(fields).toEqual({ model, prompt: 'Oslo', response_format: 'json', ...sent });
});

test.each([
  ['gpt-transcribe', { logprobs: true, commit: 'manual' }, /how sure/],
  ['gpt-transcribe', { timestamps: true, commit: 'manual' }, /times of words/],
  ['gpt-4o-transcribe-diarize', { prompt: 'Oslo', commit: 'manual' }, /no prompt/],
  ['gpt-realtime-whisper', { prompt: 'Oslo', commit: 'manual' }, /no prompt/],
  ['gpt-realtime-whisper', {}, /hears no pauses/],
  ['gpt-live-transcribe', { commit: 'vad' }, /hears no pauses/],
] as const)('%s: what it does not do is refused before I/O (%j)', async (model, options, message) => {
  const at = await server({});
  expect(await engineAt(at, model).streamTranscription([SECOND], options).outcome).toMatchObject({
    status: 'failed',
    error: { reason: 'unsupported', message: expect.stringMatching(message) },
  });
  expect(at.hits).toHaveLength(0);
});

test.each([
  ['gpt-live-transcribe', { languages: ['de'] }],
  ['gpt-realtime-whisper', { language: 'de' }],
])('%s streams with manual commits, without a detector of pauses', async (model, language) => {
  const heard: Heard = { bytes: 0, commits: 0 };
  const at = await server({ socket: realtimeTwin(heard) });
  const options = { sampleRate: 24_000, commit: 'manual', language: 'de' } as const;
  expect(await engineAt(at, model).streamTranscription([SECOND, 'commit', SECOND], options).outcome).toMatchObject({
    status: 'completed',
    text: 'segment 1 of 48000 segment 2 of 48000',
  });
  expect(heard.session).toMatchObject({ audio: { input: { transcription: { model, ...language }, turn_detection: null } } });
});

test('words that come before the commit of their segment are told at once', async () => {
  const item = { item_id: 'i1', content_index: 0 };
  const transcription = 'conversation.item.input_audio_transcription';
  const at = await server({
    socket(socket: WebSocket) {
      const say = (value: object) => socket.send(JSON.stringify(value));
      say({ type: 'session.created' });
      socket.on('message', data => {
        const { type } = JSON.parse(String(data)) as { type: string };
        if (type === 'session.update') say({ type: 'session.updated' });
        if (type === 'input_audio_buffer.append') say({ type: `${transcription}.delta`, ...item, delta: 'Hal' });
        if (type === 'input_audio_buffer.commit') {
          say({ type: `${transcription}.delta`, ...item, delta: 'lo' });
          say({ type: 'input_audio_buffer.committed', item_id: 'i1' });
        }
        if (type !== 'input_audio_buffer.clear') return;
        say({ type: 'input_audio_buffer.cleared' });
        say({ type: `${transcription}.completed`, ...item, transcript: 'Hallo', usage: { type: 'duration', seconds: 1 } });
      });
    },
  });
  const stream = engineAt(at, 'gpt-live-transcribe').streamTranscription([SECOND], { sampleRate: 24_000, commit: 'manual' });
  const said: string[] = [];
  for await (const event of stream) if ('text' in event) said.push(event.text);
  expect(said).toEqual(['Hal', 'Hallo', 'Hallo']);
  expect(await stream.outcome).toMatchObject({ status: 'completed', text: 'Hallo', usage: { audioSeconds: 1 } });
});

test.each([
  ['audio_unintelligible', { status: 'completed', text: 'Hallo', warnings: [{ code: 'other' }] }],
  ['server_error', { status: 'failed', text: 'Hallo', error: { reason: 'provider_unavailable' } }],
])('a segment that fails with %s', async (code, ending) => {
  const at = await server({
    socket(socket: WebSocket) {
      const say = (value: object) => socket.send(JSON.stringify(value));
      const transcription = 'conversation.item.input_audio_transcription';
      say({ type: 'session.created' });
      let commits = 0;
      socket.on('message', data => {
        const { type } = JSON.parse(String(data)) as { type: string };
        if (type === 'session.update') say({ type: 'session.updated' });
        if (type === 'input_audio_buffer.clear') say({ type: 'input_audio_buffer.cleared' });
        if (type !== 'input_audio_buffer.commit') return;
        const item_id = `i${++commits}`;
        say({ type: 'input_audio_buffer.committed', item_id });
        if (commits === 1) say({ type: `${transcription}.completed`, item_id, transcript: 'Hallo' });
        else say({ type: `${transcription}.failed`, item_id, error: { type: 'transcription_error', code, message: 'It failed.' } });
      });
    },
  });
  const options = { sampleRate: 24_000, commit: 'manual' } as const;
  expect(await engineAt(at, 'gpt-4o-transcribe').streamTranscription([SECOND, 'commit', SECOND], options).outcome).toMatchObject(ending);
});
