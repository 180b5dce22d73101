// What goes out in a form, and how a whole answer in JSON is read, beyond what each transcriber's own tests tell.
import { audioPart, createEngine, type JsonObject } from '@antiphon/engine';
import { elevenlabsTranscription, type OpenaiTranscriptionOptions, openaiTranscription } from '@antiphon/providers';
import { expect, test } from 'vitest';
import { formOf, type Script, type SoundServer, sine, soundServers } from './support/sound-server.js';

const KEY = 'secret-key-123';
const server = soundServers();
const engineAt = ({ url }: SoundServer, more: Partial<OpenaiTranscriptionOptions> = {}) =>
  createEngine({ transcription: openaiTranscription({ model: 'gpt-4o-transcribe', baseURL: url, apiKey: KEY, ...more }), retry: false });
const json = (body: unknown): Script => ({ http: res => res.end(JSON.stringify(body)) });
const SECOND = sine(24_000);

test('another model that the request names tells what it can', async () => {
  const at = await server(json({ text: 'Hi', words: [{ word: 'Hi', start: 0, end: 1 }] }));
  expect(await engineAt(at).transcribe(audioPart(SECOND), { timestamps: true, model: 'whisper-1' })).toMatchObject({
    status: 'completed',
    spans: [{ text: 'Hi', startMs: 0, endMs: 1000 }],
  });
});

test('the caller’s own lists go out with brackets; an answer that is no JSON is not asked for', async () => {
  const at = await server(json({ text: 'Hi' }));
  const ask = (openai: JsonObject) => engineAt(at).transcribe(audioPart(SECOND, 'audio/WAV'), { providerOptions: { openai } });
  const own = { response_format: 'verbose_json', timestamp_granularities: ['segment'], 'include[]': ['logprobs'], seed: null };
  expect(await ask(own)).toMatchObject({ status: 'completed' });
  const form = await formOf(at.hits[0]!.body, at.hits[0]!.headers['content-type']);
  expect([...form.keys()].sort()).toEqual(['file', 'include[]', 'model', 'response_format', 'timestamp_granularities[]']);
  for (const response_format of ['text', 'srt', 'vtt']) {
    expect(await ask({ response_format })).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
  }
  expect(at.hits).toHaveLength(1);
});

test('lists of the caller’s own: words one by one, objects as JSON', async () => {
  const at = await server({ http: res => res.end('{"text":"Hi","words":[]}') });
  const transcription = elevenlabsTranscription({ model: 'scribe_v2', baseURL: at.url, apiKey: KEY });
  const ear = createEngine({ transcription, retry: false });
  const elevenlabs = { keyterms: ['Antiphon', 'Oslo'], additional_formats: [{ format: 'srt' }] };
  expect(await ear.transcribe(audioPart(SECOND), { providerOptions: { elevenlabs } })).toMatchObject({ status: 'completed' });
  const form = await formOf(at.hits[0]!.body, at.hits[0]!.headers['content-type']);
  expect([form.getAll('keyterms'), form.get('additional_formats')]).toEqual([['Antiphon', 'Oslo'], '[{"format":"srt"}]']);
});

test.each([undefined, 2])('a JSON answer of a server that does not stream, indented by %s', async indent => {
  const body = JSON.stringify({ text: 'Hi there', usage: { type: 'duration', seconds: 1 } }, null, indent);
  const at = await server({ http: res => res.writeHead(200, { 'content-type': 'application/json' }).end(body) });
  expect(await engineAt(at, { streaming: 'upload' }).streamTranscription([SECOND]).outcome).toMatchObject({
    status: 'completed',
    text: 'Hi there',
    usage: { audioSeconds: 1 },
  });
});
