import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { completed, createEngine, type EditImageOptions, type GenerateImageOptions, type ImagePart, imagePart } from '@antiphon/engine';
import { imageConformance } from '@antiphon/engine/testing';
import { openaiImages } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonFetch, makeUnderTest } from './support/one-answer.js';
import { KEY, PNG, type StrictServer, strictServer } from './support/strict-server.js';

let server: StrictServer;
beforeAll(async () => {
  server = await strictServer();
});
afterAll(() => server.close());

const engine = (model = 'gpt-image-1.5') =>
  createEngine({ images: openaiImages({ model, apiKey: KEY, fetch: server.as('openai') }), retry: false });
const last = () => server.requests.at(-1)!;
const png = imagePart(PNG, 'image/png');
const jpeg = imagePart('/9j/4AAQ', 'image/jpg');
const remote = imagePart({ url: 'https://pictures.test/a.png' }, 'image/png');

describe('openaiImages holds the contract', () => {
  const cases = imageConformance(
    makeUnderTest(
      fetch => openaiImages({ model: 'm', baseURL: 'http://model.test/v1', fetch }),
      ({ images, usage }) => ({
        created: 1,
        data: images.map(({ data }) => ({ b64_json: data })),
        ...(usage?.inputTokens === undefined ? {} : { usage: { input_tokens: usage.inputTokens } }),
      }),
    ),
  );
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(25));
  for (const { name, run } of cases) test(name, run);
});

describe('a picture', () => {
  test('is made, with every setting', async () => {
    const options: GenerateImageOptions = {
      n: 2,
      size: { width: 1536, height: 1024 },
      quality: 'high',
      background: 'transparent',
      format: 'webp',
      providerOptions: { openai: { moderation: 'low', output_compression: 50 } },
    };
    const { images, usage, warnings } = completed(await engine().generateImage('A lighthouse', options));
    expect(last().path).toBe('/openai/v1/images/generations');
    expect(last().json).toEqual({
      model: 'gpt-image-1.5',
      prompt: 'A lighthouse',
      n: 2,
      size: '1536x1024',
      quality: 'high',
      background: 'transparent',
      output_format: 'webp',
      moderation: 'low',
      output_compression: 50,
    });
    expect(images).toEqual([1, 2].map(() => ({ type: 'image', mediaType: 'image/webp', data: 'UklGRgAA' })));
    expect({ usage, warnings }).toEqual({ usage: { inputTokens: 9, outputTokens: 272, totalTokens: 281 }, warnings: [] });
  });

  test('no field is sent that was not asked for', async () => {
    completed(await engine().generateImage('A lighthouse'));
    expect(last().json).toEqual({ model: 'gpt-image-1.5', prompt: 'A lighthouse' });
  });

  test('more than ten are made in several requests', async () => {
    const before = server.requests.length;
    expect(completed(await engine().generateImage('A lighthouse', { n: 23 })).images).toHaveLength(23);
    const sent = server.requests.slice(before).map(({ json }) => json!.n as number);
    expect(sent.sort((a, b) => a - b)).toEqual([3, 10, 10]);
  });

  test.each<[string, string, object, RegExp]>([
    ['a size that the model does not know', 'invalid_request', { size: { width: 7, height: 7 } }, /Supported values are: 1024x1024/],
    ['a prompt that is refused', 'content_filter', { prompt: 'forbidden' }, /safety system/],
    ['a model that is not there', 'model_not_found', { model: 'gpt-image-0' }, /does not exist/],
  ])('the server’s own words about %s', async (_, reason, options, message) => {
    const outcome = await engine().generateImage({ prompt: 'A lighthouse', ...options });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason, status: 400 + (reason === 'model_not_found' ? 4 : 0), requestId: 'req-1' },
    });
    if (outcome.status === 'failed') expect(outcome.error.message).toMatch(message);
  });

  test.each<[string, string, GenerateImageOptions, RegExp]>([
    ['response_format (GPT)', 'gpt-image-1.5', { providerOptions: { openai: { response_format: 'b64_json' } } }, /no response_format/],
    ['a style (GPT)', 'gpt-image-1.5', { style: 'vivid' }, /no style/],
    ['a transparent JPEG', 'gpt-image-1.5', { background: 'transparent', format: 'jpeg' }, /transparent/],
    ['a stream', 'gpt-image-1.5', { providerOptions: { openai: { stream: true } } }, /not streamed/],
    ['a format (DALL·E)', 'dall-e-3', { format: 'webp' }, /no format/],
    ['a model of another family', 'gpt-image-1.5', { model: 'dall-e-3', n: 2 }, /more than the 1/],
  ])('what the model does not take is refused before anything is sent: %s', async (_, model, options, message) => {
    const before = server.requests.length;
    const outcome = await engine(model).generateImage('A lighthouse', options);
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported', message: expect.stringMatching(message) } });
    expect(server.requests.length).toBe(before);
  });

  test('DALL·E is asked for base64; a server that nobody knows is not', async () => {
    for (const [model, expected] of [
      ['dall-e-3', 'b64_json'],
      ['flux', undefined],
    ] as const) {
      // biome-ignore format: a table
      const { fetch, seen } = jsonFetch({ data: [{ b64_json: PNG, revised_prompt: 'A tall lighthouse' }] });
      const images = openaiImages({ model, apiKey: KEY, fetch });
      const outcome = completed(await createEngine({ images }).generateImage('A lighthouse'));
      expect(outcome.images).toEqual([{ ...png, revisedPrompt: 'A tall lighthouse' }]);
      expect(JSON.parse(seen[0]!.body as string).response_format).toBe(expected);
    }
  });

  test.each<[string, object, object]>([
    [
      'the bytes say what they are',
      { data: [{ b64_json: '/9j/4AAQ' }], output_format: 'png' },
      { mediaType: 'image/jpeg', data: '/9j/4AAQ' },
    ],
    ['the server says it', { data: [{ b64_json: 'AAAA' }], output_format: 'avif' }, { mediaType: 'image/avif', data: 'AAAA' }],
    ['a data URL', { data: [{ b64_json: `data:image/png;base64,${PNG}` }] }, { mediaType: 'image/png', data: PNG }],
    ['a URL', { data: [{ url: 'https://x.test/a' }] }, { mediaType: 'image/png', url: 'https://x.test/a' }],
  ])('is read: %s', async (_, body, expected) => {
    const images = openaiImages({ model: 'm', apiKey: KEY, fetch: jsonFetch(body).fetch });
    expect(completed(await createEngine({ images }).generateImage('x')).images).toEqual([{ type: 'image', ...expected }]);
  });

  test.each([{}, { data: [] }, { data: [{}] }, { data: [{ b64_json: '' }] }, { data: 'x' }, [], null])(
    'is not read out of %j',
    async body => {
      const images = openaiImages({ model: 'm', apiKey: KEY, fetch: jsonFetch(body).fetch });
      const outcome = await createEngine({ images, retry: false }).generateImage('x');
      expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
    },
  );
});

describe('an edit', () => {
  const bytesOf = async (value: FormDataEntryValue | null) => Buffer.from(await (value as File).arrayBuffer()).toString('base64');

  test('sends one picture and its mask as files', async () => {
    const options: EditImageOptions = { prompt: 'Make it night', mask: png, size: { width: 1024, height: 1024 }, n: 1, format: 'jpeg' };
    const { images, usage } = completed(
      await engine().editImage(jpeg, { ...options, providerOptions: { openai: { input_fidelity: 'high' } } }),
    );
    const { path, form, headers } = last();
    expect(path).toBe('/openai/v1/images/edits');
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect([...form!.keys()].sort()).toEqual(['image', 'input_fidelity', 'mask', 'model', 'n', 'output_format', 'prompt', 'size']);
    const [image, mask] = [form!.get('image') as File, form!.get('mask') as File];
    expect([image.name, image.type, mask.name, mask.type]).toEqual(['image-1.jpg', 'image/jpeg', 'mask.png', 'image/png']);
    expect([await bytesOf(image), await bytesOf(mask)]).toEqual([jpeg.data, PNG]);
    expect(images).toEqual([{ type: 'image', mediaType: 'image/jpeg', data: '/9j/4AAQ' }]);
    expect(usage).toEqual({ inputTokens: 9, outputTokens: 272, totalTokens: 281 });
  });

  test('sends several pictures as a list', async () => {
    completed(await engine().editImage([png, jpeg, png], { prompt: 'Join them' }));
    expect((last().form!.getAll('image[]') as File[]).map(({ name }) => name)).toEqual(['image-1.png', 'image-2.jpg', 'image-3.png']);
  });

  test('sends JSON when a picture is a URL, which only the server fetches', async () => {
    completed(await engine().editImage([remote, png], { prompt: 'Join them', mask: png }));
    const data = { image_url: `data:image/png;base64,${PNG}` };
    expect(last().json).toEqual({ model: 'gpt-image-1.5', prompt: 'Join them', images: [{ image_url: remote.url }, data], mask: data });
  });

  const pdf: ImagePart = { type: 'image', mediaType: 'image/tiff', data: 'AAAA' };
  test.each<[string, string, readonly ImagePart[], EditImageOptions, RegExp]>([
    ['17 pictures', 'gpt-image-1.5', Array.from({ length: 17 }, () => png), {}, /more than the 16/],
    ['a kind of picture', 'gpt-image-1.5', [pdf], {}, /not image\/tiff/],
    ['a mask that is no PNG', 'gpt-image-1.5', [png], { mask: jpeg }, /a mask is a PNG/],
    ['two pictures (DALL·E 2)', 'dall-e-2', [png, png], {}, /more than the 1/],
    ['a JPEG (DALL·E 2)', 'dall-e-2', [jpeg], {}, /not image\/jpg/],
    ['a URL (DALL·E 2)', 'dall-e-2', [remote], {}, /not as URLs/],
    ['any (DALL·E 3)', 'dall-e-3', [png], {}, /cannot change images/],
    ['any, for one call (DALL·E 3)', 'gpt-image-1.5', [png], { model: 'dall-e-3' }, /cannot change images/],
  ])('what the model does not take is refused before anything is sent: %s', async (_, model, images, options, message) => {
    const before = server.requests.length;
    const outcome = await engine(model).editImage(images, { prompt: 'Make it night', ...options });
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported', message: expect.stringMatching(message) } });
    expect(server.requests.length).toBe(before);
  });

  test('a header of the caller’s does not spoil the form', async () => {
    const headers = { 'Content-Type': 'application/json', 'X-Team': 'night' };
    const images = openaiImages({ model: 'gpt-image-1.5', baseURL: server.at('openai/v1'), apiKey: KEY, headers });
    completed(await createEngine({ images }).editImage(png, { prompt: 'Make it night' }));
    expect([last().form?.has('image'), last().headers['x-team']]).toEqual([true, 'night']);
  });
});

describe('recorded answers', () => {
  const root = fileURLToPath(new URL('../../../../shared/streams/', import.meta.url));
  const present = existsSync(`${root}facts.json`);
  if (!present) console.log('skipped: the recorded answers are not beside this checkout');
  const read = (file: string) => JSON.parse(readFileSync(root + file, 'utf8'));

  test.skipIf(!present)('an edit', async () => {
    const file = 'image/openai-image-edit.json';
    const { facts } = read('facts.json')[file];
    const images = openaiImages({ model: 'gpt-image-1', apiKey: KEY, fetch: jsonFetch(read(file)).fetch });
    const outcome = completed(await createEngine({ images }).editImage(png, { prompt: 'x' }));
    expect(outcome.images.map(({ data }) => data!.length)).toEqual(facts.b64_lengths);
    expect(outcome.images.filter(({ revisedPrompt }) => revisedPrompt)).toEqual(facts.revised_prompt_on);
    expect(outcome.images[0]!.mediaType).toBe('image/png');
    expect(outcome.usage).toEqual({});
  });

  test.skipIf(!present)('a field that is refused', async () => {
    const file = 'image/gpt-image-response-format-error.json';
    const { facts } = read('facts.json')[file];
    const images = openaiImages({ model: 'my-deployment', apiKey: KEY, fetch: jsonFetch(read(file), { status: 400 }).fetch });
    const outcome = await createEngine({ images, retry: false }).generateImage('x');
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'invalid_request', status: 400, retryable: false } });
    if (outcome.status === 'failed') expect(outcome.error.message).toContain(facts.error.message);
  });
});
