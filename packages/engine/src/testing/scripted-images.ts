import type { GeneratedImage, ImageAdapter, ImageEditRequest, ImageRequest, ImageResponse } from '../capabilities/images.js';
import { Script, type Scripted, type Turns } from './scripted-turns.js';

/** Pictures, or a whole response. */
export type ScriptedPictures = readonly GeneratedImage[] | ImageResponse;
export interface ScriptedImages extends ImageAdapter, Scripted<ImageRequest | ImageEditRequest> {}

/**
 * An image model for tests; generating and editing use the same turns. One call more than there are turns fails with `script_exhausted`.
 *
 * ```ts
 * const images = scriptedImages([[imagePart(bytes, 'image/png')]]);
 * const outcome = await createEngine({ images }).generateImage('A lighthouse');
 * ```
 */
export function scriptedImages(
  turns: Turns<ImageRequest | ImageEditRequest, ScriptedPictures>,
  options: { readonly model?: string; readonly maxImages?: number; readonly maxInputImages?: number; readonly mask?: boolean } = {},
): ScriptedImages {
  const { model = 'scripted', maxImages = 4, maxInputImages = 2, mask = true } = options;
  const script = new Script(turns);
  const answer = async (...[request, context, refuse]: Parameters<typeof script.answer>): Promise<ImageResponse> => {
    const said = await script.answer(request, context, [
      request.prompt === '' && 'there is no prompt',
      (request.n ?? 1) > maxImages && `${request.n} images are more than ${maxImages}`,
      ...(refuse ?? []),
    ]);
    return 'images' in said ? said : { images: said, model: request.model ?? model };
  };
  return {
    provider: 'scripted',
    model,
    maxImages,
    maxInputImages,
    mask,
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    generateImage: (request, context) => answer(request, context),
    editImage: (request, context) =>
      answer(request, context, [
        request.images.length === 0 && 'there is no image to edit',
        request.images.length > maxInputImages && `${request.images.length} images are more than ${maxInputImages}`,
        request.mask !== undefined && !mask && 'there is a mask',
      ]),
  };
}
