import { AdapterError, completed, createEngine, imagePart } from '@antiphon/engine';
import { scriptedImages } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';

const picture = (n: number) => imagePart(new Uint8Array([n]), 'image/png');

describe('images', () => {
  test('more than one request makes are asked for in several, and keep their order', async () => {
    const images = scriptedImages([[picture(1), picture(2)], [picture(3), picture(4)], [picture(5)]], { maxImages: 2 });
    const outcome = completed(await createEngine({ images }).generateImage('a boat', { n: 5, size: { width: 64, height: 64 } }));
    expect(outcome.images).toEqual([1, 2, 3, 4, 5].map(picture));
    expect(images.requests.map(({ n }) => n)).toEqual([2, 2, 1]);
  });

  test('a failure keeps what was made', async () => {
    const images = scriptedImages([[picture(1)], new AdapterError('content_filter', 'No.')], { maxImages: 1 });
    const outcome = await createEngine({ images }).generateImage('a boat', { n: 2, concurrency: 1 });
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'content_filter' }, images: [picture(1)] });
  });

  test('a provider that withholds some is told of', async () => {
    const images = scriptedImages([[picture(1)]]);
    const outcome = completed(await createEngine({ images }).generateImage('a boat', { n: 3 }));
    expect(outcome.warnings).toEqual([{ code: 'other', setting: 'n', message: '3 images were asked for and 1 came.' }]);
  });

  test('one image or several are edited', async () => {
    const images = scriptedImages([[picture(9)], [picture(9)], [picture(9)]]);
    const engine = createEngine({ images });
    await engine.editImage(picture(1), { prompt: 'at night' });
    await engine.editImage([picture(1), picture(2)], { prompt: 'at night', mask: picture(3) });
    await engine.editImage({ prompt: 'at night', images: [picture(4)] });
    expect(images.requests.map(request => 'images' in request && request.images.length)).toEqual([1, 2, 1]);
  });

  test('what a model cannot do is refused before it is sent', async () => {
    const { editImage: _, ...noEdit } = scriptedImages([]);
    const outcome = await createEngine({ images: noEdit }).editImage(picture(1), { prompt: 'x' });
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
    const images = scriptedImages([], { mask: false, maxInputImages: 1 });
    const both = await createEngine({ images }).editImage([picture(1), picture(2)], { prompt: 'x', mask: picture(3) });
    expect(both.status === 'failed' && both.error.message).toMatch(/2 images are more than the 1.*no mask/);
  });

  test('every fault of a request is listed', async () => {
    const engine = createEngine({ images: scriptedImages([]) });
    const paths = (call: Promise<unknown>) => call.catch(error => error.issues.map(({ path }: { path: string }) => path));
    expect(
      await paths(engine.generateImage({ prompt: '', n: 0, size: { width: 1.5, height: 2 }, format: 'bmp', quality: 3 } as never)),
    ).toEqual(['prompt', 'n', 'size', 'format', 'quality']);
    expect(await paths(engine.editImage([], { prompt: 'x' }))).toEqual(['images']);
    expect(await paths(engine.editImage(['bytes'] as never))).toEqual(['images[0]', 'prompt']);
    expect(await paths(engine.editImage({ type: 'image', mediaType: 'image/png' } as never, { prompt: 'x' }))).toEqual(['images[0].data']);
  });

  test.each([
    ['none', []],
    ['something else', [{ url: 'x' }]],
    ['no bytes and no url', [{ type: 'image', mediaType: 'image/png' }]],
  ])('an answer with %s is no answer', async (_, made) => {
    const images = { provider: 'mine', model: 'm', generateImage: async () => ({ images: made }) as never };
    expect(await createEngine({ images }).generateImage('x')).toMatchObject({
      status: 'failed',
      error: { reason: 'malformed_response' },
      images: [],
    });
  });
});
