import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type JsonObject } from '../data/json.js';
import type { ImagePart } from '../data/parts.js';
import { oneOf, providerOptions, type Rule, type Rules, text, wholeNumber } from '../data/rules.js';
import { inBatches } from './batches.js';
import type { CapabilityOptions, CapabilityOutcome, CapabilityResponse } from './call.js';
import { checkedRequest } from './checks.js';
import { image, listOf } from './nested-rules.js';
import { isOwnModel, malformed, refuseUnsupported } from './refusals.js';
import { type Call, type Runtime, runCall } from './run-call.js';

/** A picture to be made, as plain data. */
export interface ImageRequest {
  readonly prompt: string;
  /** Overrides the adapter's model. */
  readonly model?: string;
  /** How many pictures; default 1. */
  readonly n?: number;
  /** Pixels; left out, the provider chooses. */
  readonly size?: { readonly width: number; readonly height: number };
  /** The provider's own word for it, such as `high`. */
  readonly quality?: string;
  readonly style?: string;
  readonly background?: 'transparent' | 'opaque' | 'auto';
  readonly format?: 'png' | 'jpeg' | 'webp';
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

/** Pictures to be changed. Transparent places of the mask are those to be painted anew. */
export interface ImageEditRequest extends ImageRequest {
  readonly images: readonly ImagePart[];
  readonly mask?: ImagePart;
}

/** A picture that a model made, as base64 bytes or as the provider's URL. */
export interface GeneratedImage extends ImagePart {
  /** The prompt that the provider made of yours. */
  readonly revisedPrompt?: string;
}

export interface ImageResponse extends CapabilityResponse {
  readonly images: readonly GeneratedImage[];
}

/** The contract of an image model. One request per call; failures as in the other contracts (`EmbeddingAdapter`). */
export interface ImageAdapter {
  readonly provider: string;
  readonly model: string;
  /** The most pictures that one request makes; more are asked for in several. Default: as many as asked for. */
  readonly maxImages?: number;
  /** The most pictures that an edit by its own model takes; default as many as given. */
  readonly maxInputImages?: number;
  /** False when an edit takes no mask. */
  readonly mask?: boolean;
  generateImage(request: ImageRequest, context: AdapterContext): Promise<ImageResponse>;
  /** Absent when the model cannot change pictures. */
  editImage?(request: ImageEditRequest, context: AdapterContext): Promise<ImageResponse>;
}

/** Options of one call; they win over the request. */
export interface GenerateImageOptions extends Omit<ImageRequest, 'prompt'>, CapabilityOptions {
  /** Requests under way at once; default 4. */
  readonly concurrency?: number;
}
export interface EditImageOptions extends Partial<ImageEditRequest>, CapabilityOptions {
  readonly concurrency?: number;
}

/** How it ended. A failure keeps the pictures that were made before it. */
export type ImageOutcome = CapabilityOutcome<
  { readonly images: readonly GeneratedImage[] },
  { readonly images: readonly GeneratedImage[] }
>;

/**
 * Makes pictures; the method of the engine.
 *
 * ```ts
 * const { images } = completed(await engine.generateImage('A lighthouse at dusk', { n: 2 }));
 * ```
 */
export type GenerateImage = (input: string | ImageRequest, options?: GenerateImageOptions) => Promise<ImageOutcome>;

/**
 * Changes pictures; the method of the engine.
 *
 * ```ts
 * const outcome = await engine.editImage(imagePart(bytes, 'image/png'), { prompt: 'Make it night' });
 * ```
 */
export type EditImage = (input: ImagePart | readonly ImagePart[] | ImageEditRequest, options?: EditImageOptions) => Promise<ImageOutcome>;

const size: Rule = [
  '{ width, height } in pixels',
  value => isRecord(value) && wholeNumber[1](value.width) === true && wholeNumber[1](value.height) === true,
];
const RULES: Rules = {
  prompt: text,
  model: text,
  n: wholeNumber,
  size,
  quality: text,
  style: text,
  background: oneOf('transparent', 'opaque', 'auto'),
  format: oneOf('png', 'jpeg', 'webp'),
  providerOptions,
};
const EDIT_RULES: Rules = { ...RULES, images: listOf(image, 'image'), mask: image };
const OPTIONS: Rules = { concurrency: wholeNumber };

export function generateImageWith(adapter: ImageAdapter, runtime: Runtime): GenerateImage {
  return async (input, options = {}) => {
    const given = isRecord(input) ? input : { prompt: input };
    const rules = { request: RULES, required: ['prompt'], options: OPTIONS };
    const request = checkedRequest<ImageRequest>('generateImage', given, options, rules);
    const about = { method: 'generateImage', adapter, request } as const;
    return make(about, options, runtime, [], (part, context) => adapter.generateImage(part, context));
  };
}

export function editImageWith(adapter: ImageAdapter, runtime: Runtime): EditImage {
  return async (input, options = {}) => {
    const given = isRecord(input) && input.type !== 'image' ? input : { images: Array.isArray(input) ? input : [input] };
    const rules = { request: EDIT_RULES, required: ['prompt', 'images'], options: OPTIONS };
    const request = checkedRequest<ImageEditRequest>('editImage', given, options, rules);
    const most = (isOwnModel(adapter, request) ? adapter.maxInputImages : undefined) ?? Number.POSITIVE_INFINITY;
    const faults = [
      !adapter.editImage && 'it cannot change images',
      request.images.length > most && `${request.images.length} images are more than the ${most} it takes`,
      request.mask !== undefined && adapter.mask === false && 'it takes no mask',
    ];
    const about = { method: 'editImage', adapter, request } as const;
    return make(about, options, runtime, faults, async (part, context) => adapter.editImage?.(part, context));
  };
}

async function make<R extends ImageRequest>(
  about: { readonly method: 'generateImage' | 'editImage'; readonly adapter: ImageAdapter; readonly request: R },
  options: GenerateImageOptions,
  runtime: Runtime,
  faults: readonly (string | false)[],
  ask: (part: R, context: AdapterContext) => Promise<unknown>,
): Promise<ImageOutcome> {
  const { adapter, request } = about;
  const { n = 1 } = request;
  const most = Math.min(n, adapter.maxImages ?? n);
  const batches = Array.from({ length: Math.ceil(n / most) }, (_, i) => ({ place: i, count: Math.min(most, n - i * most) }));
  const made: GeneratedImage[][] = [];
  const work = async (call: Call) => {
    refuseUnsupported(adapter.provider, faults);
    await inBatches(batches, options.concurrency, async ({ place, count }, noMore) => {
      const part = request.n === undefined ? request : { ...request, n: count };
      made[place] = await call.send(
        context => ask(part, context),
        answer => readImages(answer, adapter.provider),
        noMore,
      );
    });
    const came = made.flat().length;
    // A provider may withhold some of them; that is told, not hidden.
    if (came !== n) call.warn({ code: 'other', setting: 'n', message: `${n} images were asked for and ${came} came.` });
  };
  return runCall(about, options, runtime, work, () => ({ images: made.flat() }));
}

function readImages(answer: Record<string, unknown>, provider: string): GeneratedImage[] {
  const { images } = answer;
  if (!Array.isArray(images) || images.length === 0) throw malformed(provider, 'the answer has no images');
  const bad = images.findIndex(item => {
    const result = image[1](item);
    return result !== true && (result === false || result.length > 0);
  });
  if (bad >= 0) throw malformed(provider, `image ${bad} is no image part with a media type and data or a url`);
  return images as GeneratedImage[];
}
