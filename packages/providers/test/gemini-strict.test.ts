// Embeddings, pictures and transcripts of Gemini through the engine, over a server that is as strict as Google's.
import {
  audioPart,
  type CapabilityOptions,
  type Clock,
  completed,
  createEngine,
  imagePart,
  type RetryPolicy,
  systemClock,
} from '@antiphon/engine';
import { type GeminiOptions, geminiEmbeddings, geminiImages, geminiTranscription } from '@antiphon/providers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from './support/server.js';
import { GEMINI_KEY, geminiVector, type StrictGemini, strictGemini } from './support/strict-gemini.js';
import { PNG } from './support/strict-server.js';

let server: StrictGemini;
beforeAll(async () => {
  server = await strictGemini();
});
afterAll(() => server.close());
let waits: number[] = [];
afterEach(() => {
  waits = [];
  server.requests.length = 0;
});

/** Writes down each wait before another try, and does not wait. Shorter ones let things close, longer ones are deadlines. */
const impatient: Clock = {
  ...systemClock,
  setTimer: (ms, fire) => systemClock.setTimer(ms > 500 && ms <= 60_000 ? waits.push(ms) * 0 : ms, fire),
};

interface Setup extends Partial<GeminiOptions> {
  readonly retry?: RetryPolicy | false;
}
function engineWith({ retry = false, ...options }: Setup = {}) {
  const at = (model: string) => ({ model, baseURL: server.baseURL, apiKey: GEMINI_KEY, ...options });
  return createEngine({
    embeddings: geminiEmbeddings(at('gemini-embedding-001')),
    images: geminiImages(at('gemini-2.5-flash-image')),
    transcription: geminiTranscription(at('gemini-2.5-flash')),
    clock: impatient,
    retry,
  });
}

const sound = audioPart(Uint8Array.of(1, 2, 3), 'audio/wav');
const png = imagePart(PNG, 'image/png');
const failed = (reason: string, words = '') => ({ status: 'failed', error: { reason, message: expect.stringContaining(words) } });
const bodies = <T = Record<string, never>>() => server.requests.map(({ json }) => json as T);

type Ask = (setup?: Setup, options?: CapabilityOptions & { readonly providerOptions?: object }) => Promise<{ readonly status: string }>;
describe.each<[string, string, Ask]>([
  ['geminiEmbeddings', 'embedContents', (setup, options) => engineWith(setup).embed('one', options as object)],
  ['geminiImages', 'generateContent', (setup, options) => engineWith(setup).generateImage('A cat', options as object)],
  ['geminiTranscription', 'generateContent', (setup, options) => engineWith(setup).transcribe(sound, options as object)],
])('%s', (_, method, ask) => {
  test('works, with the key in a header and not in the address', async () => {
    expect(await ask()).toMatchObject({ status: 'completed', warnings: [] });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]!.headers['x-goog-api-key']).toBe(GEMINI_KEY);
    expect(server.requests[0]!.path.toLowerCase()).toContain(method.toLowerCase());
    expect(server.requests[0]!.path).not.toContain(GEMINI_KEY);
  });

  test('a wrong key is told once, and is in no error', async () => {
    const apiKey = 'AIza-wrong-0000-0000';
    const outcome = await ask({ apiKey, retry: {} });
    expect(outcome).toMatchObject(failed('authentication_failed', 'API key not valid'));
    const { error } = outcome as unknown as { error: Error };
    expect(`${JSON.stringify(outcome)} ${error.message} ${error.stack} ${String(error.cause)}`).not.toContain(apiKey);
    expect(server.requests).toHaveLength(1);
  });

  test('no key at all', async () => {
    const { baseURL } = server;
    const bare = { baseURL, model: 'gemini-2.5-flash', headers: { 'x-goog-api-key': '' } };
    const outcome = await ask({ ...bare, apiKey: () => undefined as unknown as string });
    expect(outcome).toMatchObject(failed('permission_denied', 'unregistered callers'));
  });

  test('a model that nobody knows, and one that cannot do this', async () => {
    expect(await ask({ model: 'no-such-model', retry: {} })).toMatchObject(failed('model_not_found', 'models/no-such-model is not found'));
    const other = method === 'generateContent' ? 'gemini-embedding-001' : 'gemini-2.5-flash';
    expect(await ask({ model: other })).toMatchObject(failed('model_not_found', `models/${other} is not found`));
    expect(server.requests).toHaveLength(2);
  });

  test('a field that nobody knows is told with its place', async () => {
    const outcome = await ask({}, { providerOptions: { gemini: { wrongField: 1 } } });
    expect(outcome).toMatchObject(failed('invalid_request', 'Unknown name "wrongField"'));
  });

  test('a quota of the minute: sent again after the time that the server says', async () => {
    server.busy('7.5s');
    expect(await ask({ retry: { maxRetries: 1 } })).toMatchObject({ status: 'completed' });
    expect(waits).toEqual([7500]);
    expect(server.requests).toHaveLength(2);
  });

  test('a quota that is not soon over ends the call', async () => {
    server.busy('3600s');
    expect(await ask({ retry: {} })).toMatchObject({
      status: 'failed',
      error: { reason: 'rate_limited', retryAfterMs: 3_600_000, status: 429 },
    });
    server.busy('7.5s', { quota: 'PerDay' });
    expect(await ask({ retry: {} })).toMatchObject(failed('insufficient_quota', 'exceeded your current quota'));
    expect(server.requests).toHaveLength(2);
    expect(waits).toEqual([]);
  });

  test('an abort closes the connection', async () => {
    const caller = new AbortController();
    const waiting = server.silent();
    const outcome = ask({ retry: {} }, { signal: caller.signal });
    const socket = await waiting;
    caller.abort();
    expect(await outcome).toMatchObject({ status: 'interrupted' });
    await until(() => socket.destroyed, 'the connection is closed');
    expect(server.requests).toHaveLength(1);
  });
});

describe('vectors', () => {
  const texts = (count: number) => Array.from({ length: count }, (_, i) => `text ${i}`);
  const sizes = () => bodies<{ requests: unknown[] }>().map(({ requests }) => requests.length);
  const unit = (vector: readonly number[]) => vector.map(value => value / Math.hypot(...vector));

  test('of a long list come in order, a hundred a request', async () => {
    const input = texts(250);
    const { vectors } = completed(await engineWith().embed(input, { dimensions: 4, task: 'document' }));
    expect(sizes()).toEqual([100, 100, 50]);
    for (const [i, vector] of vectors.entries())
      for (const [n, value] of unit(geminiVector(input[i]!, 4)).entries()) expect(vector[n]).toBeCloseTo(value, 10);
  });

  test.each([
    ['gemini-embedding-001', undefined],
    ['gemini-embedding-001', 3072],
    ['gemini-embedding-001', 768],
    ['gemini-embedding-001', 1],
    ['gemini-embedding-2', 768],
  ])('%s with %s dimensions: of length 1', async (model, dimensions) => {
    const { vectors } = completed(await engineWith({ model }).embed(['one', 'two'], dimensions === undefined ? {} : { dimensions }));
    for (const vector of vectors) {
      expect(vector).toHaveLength(dimensions ?? 3072);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 10);
    }
  });

  test('wider ones are refused', async () => {
    expect(await engineWith().embed('one', { dimensions: 3073 })).toMatchObject(failed('invalid_request'));
  });

  test('a failure in the middle keeps what came, and the rest can be had later', async () => {
    const input = texts(250);
    server.busy('7s', { after: 1 });
    const outcome = await engineWith().embed(input, { concurrency: 1, dimensions: 4 });
    expect(outcome).toMatchObject(failed('rate_limited'));
    if (outcome.status !== 'failed') throw new Error('It did not fail.');
    expect(outcome.vectors.indexOf(null)).toBe(100);
    expect(outcome.resume.missing).toHaveLength(150);
    const { vectors } = completed(await engineWith().embed(outcome.resume.request, { done: outcome.vectors }));
    expect(sizes()).toEqual([100, 100, 100, 50]);
    expect(vectors).toEqual(completed(await engineWith().embed(input, { dimensions: 4 })).vectors);
  });

  test('a body of more than 4 MiB is refused, and what came before is kept', async () => {
    const outcome = await engineWith().embed([...texts(100), 'a'.repeat(4_200_000)], { concurrency: 1, dimensions: 4 });
    expect(outcome).toMatchObject({ ...failed('invalid_request', 'payload size'), resume: { missing: [100] } });
  });
});

describe('pictures', () => {
  test.each([
    ['gemini-2.5-flash-image', 1024, 1024],
    ['gemini-2.5-flash-image', 832, 1248],
    ['gemini-2.5-flash-image', 1248, 832],
    ['gemini-2.5-flash-image', 864, 1184],
    ['gemini-2.5-flash-image', 1184, 864],
    ['gemini-2.5-flash-image', 896, 1152],
    ['gemini-2.5-flash-image', 1152, 896],
    ['gemini-2.5-flash-image', 768, 1344],
    ['gemini-2.5-flash-image', 1344, 768],
    ['gemini-2.5-flash-image', 1536, 672],
    ['gemini-3-pro-image-preview', 1024, 1024],
    ['gemini-3-pro-image-preview', 2048, 2048],
    ['gemini-3-pro-image-preview', 4096, 4096],
  ])('%s of %i by %i', async (model, width, height) => {
    const outcome = await engineWith({ model }).generateImage('A cat', { size: { width, height } });
    expect(outcome).toMatchObject({ status: 'completed', images: [{ mediaType: 'image/png', data: PNG }], model });
  });

  test('several are several requests, and a failure keeps those that were made', async () => {
    expect(completed(await engineWith().generateImage('A cat', { n: 3 })).images).toHaveLength(3);
    expect(server.requests).toHaveLength(3);
    server.busy('7s', { after: 1 });
    const outcome = await engineWith().generateImage('A cat', { n: 3, concurrency: 1 });
    expect(outcome).toMatchObject({ ...failed('rate_limited'), images: [{ data: PNG }] });
  });

  test.each<[string, Parameters<typeof imagePart>]>([
    ['a PNG', [PNG, 'image/png']],
    ['a JPEG by its usual wrong name', ['/9j/4AAQ', 'image/jpg']],
    ['an address', [{ url: 'https://pictures.test/a.png' }, 'image/png']],
  ])('%s can be changed', async (_, [source, type]) => {
    expect(await engineWith().editImage(imagePart(source, type), { prompt: 'Make it night' })).toMatchObject({ status: 'completed' });
  });

  test.each<[string, string, string]>([
    ['a kind that it does not read', imagePart('R0lGODdh', 'image/gif').data!, 'image/gif'],
    ['something else than it says', '/9j/4AAQ', 'image/png'],
  ])('%s is refused', async (_, data, type) => {
    const words = type === 'image/gif' ? 'Unsupported MIME type: image/gif' : 'Unable to process input image';
    expect(await engineWith().editImage(imagePart(data, type), { prompt: 'x' })).toMatchObject(failed('invalid_request', words));
  });

  test('fourteen pictures are taken, fifteen are not sent', async () => {
    const engine = engineWith({ model: 'gemini-3-pro-image-preview' });
    expect(await engine.editImage(Array(14).fill(png), { prompt: 'Join them' })).toMatchObject({ status: 'completed' });
    expect(await engine.editImage(Array(15).fill(png), { prompt: 'Join them' })).toMatchObject(failed('unsupported'));
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['a forbidden prompt', 'Something forbidden', 'PROHIBITED_CONTENT'],
    ['a picture that may not be shown', 'Something indecent', 'Unable to show'],
  ])('%s', async (_, prompt, words) => {
    expect(await engineWith({ retry: {} }).generateImage(prompt)).toMatchObject(failed('content_filter', words));
    expect(server.requests).toHaveLength(1);
  });

  test('words instead of a picture are told; a model that only writes is refused', async () => {
    const providerOptions = { gemini: { generationConfig: { responseModalities: ['TEXT'] } } };
    expect(await engineWith().generateImage('A cat', { providerOptions })).toMatchObject(failed('malformed_response', 'Here it is:'));
    const writer = await engineWith({ model: 'gemini-2.5-flash' }).generateImage('A cat');
    expect(writer).toMatchObject(failed('invalid_request', 'requested response modalities: image,text'));
  });
});

describe('transcripts', () => {
  const { mediaTypes = [], maxAudioBytes = 0 } = geminiTranscription({ model: 'm' });

  test.each(mediaTypes)('%s is read', async type => {
    const outcome = await engineWith().transcribe(audioPart(Uint8Array.of(1, 2, 3), type), { language: 'en', prompt: 'Antiphon' });
    expect(outcome).toMatchObject({ status: 'completed', text: expect.stringMatching(/^I heard 3 bytes of audio\/\w+\.$/), warnings: [] });
  });

  test('the longest recording fits into a request, a longer one is not sent', async () => {
    const long = (bytes: number) => audioPart(new Uint8Array(bytes).fill(1), 'audio/wav');
    expect(await engineWith().transcribe(long(maxAudioBytes), { prompt: 'words '.repeat(1000) })).toMatchObject({
      text: `I heard ${maxAudioBytes} bytes of audio/wav.`,
    });
    expect(await engineWith().transcribe(long(maxAudioBytes + 1))).toMatchObject(failed('unsupported'));
    expect(server.requests).toHaveLength(1);
  });

  test('silence, a cut, a schema', async () => {
    const own = (generationConfig: object) => ({ providerOptions: { gemini: { generationConfig } } }) as object;
    expect(await engineWith().transcribe(audioPart(new Uint8Array(9)))).toMatchObject({ status: 'completed', text: '' });
    expect(await engineWith().transcribe(sound, own({ maxOutputTokens: 2 }))).toMatchObject(failed('truncated'));
    const responseJsonSchema = { type: 'object', properties: { text: { type: 'string' } } };
    expect(await engineWith().transcribe(sound, own({ responseMimeType: 'application/json', responseJsonSchema }))).toMatchObject({
      text: '{"text":"I heard 3 bytes of audio/wav."}',
    });
    expect(await engineWith().transcribe(sound, own({ responseJsonSchema }))).toMatchObject(failed('invalid_request'));
  });

  test('a model that does not listen', async () => {
    const outcome = await engineWith({ model: 'gemini-2.5-flash-image' }).transcribe(sound);
    expect(outcome).toMatchObject(failed('invalid_request', 'Audio input modality is not enabled for models/gemini-2.5-flash-image'));
  });
});

const one = (model: string, text: string) => ({ model, content: { parts: [{ text }] } });
const own = 'models/gemini-embedding-001';
test.each<[string, string, string, object]>([
  ['101 texts', `${own}:batchEmbedContents`, 'at most 100 requests', { requests: Array(101).fill(one(own, 'a')) }],
  ['a bare name', `${own}:batchEmbedContents`, 'requests[1].model: unexpected', { requests: [one(own, 'a'), one('x', 'a')] }],
  ['another model', `${own}:batchEmbedContents`, 'invalid argument', { requests: [one('models/x', 'a')] }],
  ['no words', `${own}:embedContent`, 'contains an empty Part', one(own, '')],
  ['a wrong task', `${own}:embedContent`, "'task_type' (type.", { ...one(own, 'a'), taskType: 'SEARCH' }],
  [
    'a wrong place',
    'models/gemini-2.5-flash:generateContent',
    'Unknown name "x" at \'contents[0].parts[0]\'',
    { contents: [{ parts: [{ x: 1 }] }] },
  ],
  ['no contents', 'models/gemini-2.5-flash:generateContent', 'contents is not specified', {}],
])('what the adapters never send, the server refuses: %s', async (_, place, words, body) => {
  const headers = { 'x-goog-api-key': GEMINI_KEY };
  const response = await fetch(`${server.baseURL}/${place}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { error } = (await response.json()) as { error: { code: number; status: string; message: string } };
  expect(error).toMatchObject({ code: response.status, status: 'INVALID_ARGUMENT', message: expect.stringContaining(words) });
});
