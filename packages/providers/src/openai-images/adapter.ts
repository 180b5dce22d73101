import type { AdapterContext, ImageAdapter, ImageResponse } from '@antiphon/engine';
import { fetchJson } from '../http/call.js';
import { type Service, type ServiceOptions, serviceFor } from '../http/service.js';
import { readImages } from './answer.js';
import { imageFamily } from './models.js';
import { editOf, generationOf, type ImageCall } from './request.js';

/** Options of `openaiImages`. */
export interface OpenaiImagesOptions extends ServiceOptions {}

const GENERATE = '/images/generations';
const EDIT = '/images/edits';

/**
 * An image model behind OpenAI's `/images`. Pictures come back as base64 (as URLs only from servers that give nothing else). Edits take up
 * to 16 pictures as PNG, JPEG or WebP, and a PNG mask whose transparent places are painted anew, in the first picture. What the model does
 * not take (a style, a JPEG that is transparent, a `response_format`) is refused before anything is sent.
 *
 * Errors as in `openaiEmbeddings`; a prompt that OpenAI refuses is `content_filter`.
 *
 * ```ts
 * const engine = createEngine({ images: openaiImages({ model: 'gpt-image-2' }) });
 * const { images } = completed(await engine.generateImage('A lighthouse at dusk', { size: { width: 1536, height: 1024 } }));
 * ```
 */
export function openaiImages(options: OpenaiImagesOptions): ImageAdapter {
  const service = serviceFor('openaiImages', options, 'https://api.openai.com/v1', [GENERATE, EDIT]);
  const { provider, model } = service;
  const { maxImages, maxInputImages, edits } = imageFamily(model);
  return {
    provider,
    model,
    ...(maxImages === undefined ? {} : { maxImages }),
    ...(maxInputImages === undefined ? {} : { maxInputImages }),
    generateImage: (request, context) => ask(service, GENERATE, () => generationOf(request, model, provider), context),
    ...(edits ? { editImage: (request, context) => ask(service, EDIT, () => editOf(request, model, provider), context) } : {}),
  };
}

async function ask(service: Service, path: string, build: () => ImageCall, context: AdapterContext): Promise<ImageResponse> {
  context.signal.throwIfAborted();
  const { body, warnings } = build();
  const outgoing = await service.outgoing(path, body, context);
  const { value } = await fetchJson(outgoing, context);
  return { ...readImages(value, outgoing.about), warnings };
}
