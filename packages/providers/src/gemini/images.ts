import {
  type AdapterContext,
  AdapterError,
  type GeneratedImage,
  type ImageAdapter,
  type ImagePart,
  type ImageRequest,
  type ImageResponse,
  isRecord,
  type Warning,
} from '@antiphon/engine';
import { refuse } from '../http/call.js';
import { unsupportedSetting } from '../http/warnings.js';
import type { WireObject } from '../http/wire-values.js';

import { type Endpoint, endpointFor, type GeminiOptions, PROVIDER } from './endpoint.js';
import { generate, textOf, withOwn } from './generate.js';
import { isGemini3 } from './models.js';
import { mediaToWire } from './parts.js';
import type { WirePart } from './wire.js';

/** Aspect ratios that the image models know, as width by height. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;
/** Further ones of the fast models since 3.1. */
const LONG_RATIOS = [...RATIOS, '1:4', '4:1', '1:8', '8:1'] as const;
/** How far a size may be from a ratio and still mean it; 1344 by 768 pixels are what "16:9" gives. */
const TOLERANCE = 0.05;
/** Pictures in one edit, as far as the largest model takes them. */
const MAX_INPUTS = 14;

/**
 * Pictures made or changed by a Gemini image model (`generateContent` with image output), one a request. A size becomes the aspect ratio
 * that it has and, for Gemini 3, the resolution class nearest to it; a size of no known ratio is refused. Quality, style and background go
 * into the prompt's words, not into settings: they come back as warnings. There is no mask.
 *
 * Throws as `gemini` does, and `content_filter` when prompt or picture was blocked.
 *
 * ```ts
 * const engine = createEngine({ images: geminiImages({ model: 'gemini-2.5-flash-image' }) });
 * ```
 */
export function geminiImages(options: GeminiOptions): ImageAdapter {
  const endpoint = endpointFor('geminiImages', options);
  return {
    provider: PROVIDER,
    model: options.model,
    maxImages: 1,
    maxInputImages: MAX_INPUTS,
    mask: false,
    generateImage: (request, context) => make(endpoint, options.model, request, [], context),
    async editImage(request, context) {
      refuse(PROVIDER, [
        request.mask !== undefined && 'it takes no mask',
        request.images.length > MAX_INPUTS && `${request.images.length} images are more than the ${MAX_INPUTS} it takes`,
      ]);
      return make(endpoint, options.model, request, request.images, context);
    },
  };
}

async function make(
  endpoint: Endpoint,
  ownModel: string,
  request: ImageRequest,
  inputs: readonly ImagePart[],
  context: AdapterContext,
): Promise<ImageResponse> {
  context.signal.throwIfAborted();
  const model = request.model ?? ownModel;
  const ratios = /gemini-(3\.\d+-flash|[4-9])/.test(model) ? LONG_RATIOS : RATIOS;
  const ratio = request.size && ratioOf(request.size, ratios);
  refuse(PROVIDER, [
    (request.n ?? 1) > 1 && 'it makes one picture a request',
    request.size !== undefined &&
      ratio === undefined &&
      `it makes no pictures of ${request.size.width} by ${request.size.height} pixels, only of the ratios ${ratios.join(', ')}`,
  ]);
  const warnings = unexpressed(request);
  const generationConfig = {
    responseModalities: ['TEXT', 'IMAGE'],
    imageConfig: ratio && { aspectRatio: ratio, imageSize: sizeClass(request, model) },
  };
  const parts = [{ text: request.prompt }, ...inputs.map(mediaToWire)];
  const body: WireObject = { contents: [{ role: 'user', parts }], generationConfig };
  const answer = await generate(endpoint, model, withOwn(body, request), context);
  const images = answer.parts.flatMap(pictureIn);
  if (images.length === 0) throw withoutPicture(textOf(answer.parts) || answer.why, answer.finish);
  return { images, ...answer.about, warnings };
}

function pictureIn({ inlineData, fileData }: WirePart): GeneratedImage[] {
  if (isRecord(inlineData) && typeof inlineData.data === 'string') {
    return [{ type: 'image', mediaType: String(inlineData.mimeType ?? 'image/png'), data: inlineData.data }];
  }
  if (isRecord(fileData) && typeof fileData.fileUri === 'string') {
    return [{ type: 'image', mediaType: String(fileData.mimeType ?? 'image/png'), url: fileData.fileUri }];
  }
  return [];
}

/** A model that talks instead of painting mostly says why. */
function withoutPicture(words: string, finish: string): AdapterError {
  const said = words === '' ? '.' : `: ${words.slice(0, 500)}`;
  const ended = finish === '' || finish === 'STOP' ? '' : ` (${finish})`;
  return new AdapterError('malformed_response', `${PROVIDER} answered without a picture${ended}${said}`, { provider: PROVIDER });
}

function ratioOf({ width, height }: NonNullable<ImageRequest['size']>, ratios: readonly string[]): string | undefined {
  const distance = (ratio: string) => {
    const [w, h] = ratio.split(':').map(Number) as [number, number];
    return Math.abs((width / height) * (h / w) - 1);
  };
  const nearest = ratios.reduce((best, next) => (distance(next) < distance(best) ? next : best));
  return distance(nearest) <= TOLERANCE ? nearest : undefined;
}

/** Gemini 3 has three classes; earlier models have one and refuse the word. */
function sizeClass({ size }: ImageRequest, model: string): string | undefined {
  if (size === undefined || !isGemini3(model)) return undefined;
  const pixels = Math.sqrt(size.width * size.height);
  return pixels > 2900 ? '4K' : pixels > 1450 ? '2K' : '1K';
}

function unexpressed(request: ImageRequest): Warning[] {
  const words = (['quality', 'style', 'background'] as const)
    .filter(setting => request[setting] !== undefined && request[setting] !== 'auto')
    .map(setting => unsupportedSetting(setting, `Gemini has no setting for the ${setting} of a picture: say it in the prompt.`));
  if (request.format !== undefined)
    words.push(unsupportedSetting('format', 'Gemini chooses the format of a picture; look at its media type.'));
  if (request.size !== undefined)
    words.push(unsupportedSetting('size', 'Gemini has aspect ratios and classes of resolution: the pixels may differ a little.'));
  return words;
}
