import type { ImageEditRequest, ImagePart, ImageRequest, JsonObject, Warning } from '@antiphon/engine';
import { refuse } from '../http/call.js';
import { appendFields, bracketed } from '../http/form-fields.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { addressOf } from '../media/data-url.js';
import { bareMediaType } from '../media/media-type.js';
import { type ImageFamily, imageFamily } from './models.js';

/** What a request becomes on the wire. */
export interface ImageCall {
  readonly body: JsonObject | FormData;
  readonly warnings: readonly Warning[];
}

/** A picture to be made. Throws `AdapterError` (`unsupported`) with everything that the model does not take. */
export function generationOf(request: ImageRequest, ownModel: string, provider: string): ImageCall {
  const { fields, warnings, faults } = settingsOf(request, ownModel, provider);
  refuse(provider, faults);
  return { body: fields, warnings };
}

/**
 * Pictures to be changed: a form with the bytes as files, or JSON when one of them is a URL (which the server fetches). Throws
 * `AdapterError` (`unsupported`) with everything that the model does not take.
 */
export function editOf(request: ImageEditRequest, ownModel: string, provider: string): ImageCall {
  const { fields, warnings, faults, model, family } = settingsOf(request, ownModel, provider);
  refuse(provider, [...faults, ...inputFaults(request, model, family)]);
  const { images, mask } = request;
  if (!picturesIn(request).some(isUrl)) return { body: formOf(fields, images, mask), warnings };
  const files = { images: images.map(reference), ...(mask ? { mask: reference(mask) } : {}) };
  return { body: { ...fields, ...files }, warnings };
}

function settingsOf(request: ImageRequest, ownModel: string, provider: string) {
  const { prompt, n, size, quality, style, background, format } = request;
  const model = request.model ?? ownModel;
  const family = imageFamily(model);
  const own = ownOptions(request, provider, 'openai');
  const warnings: Warning[] = [];
  const settings = { quality, style, background, format };
  const faults = [
    ...family.unsupported.map(name => settings[name] !== undefined && `${model} has no ${name}`),
    n !== undefined && n > (family.maxImages ?? n) && `${n} images are more than the ${family.maxImages} that ${model} makes at once`,
    background === 'transparent' && format === 'jpeg' && 'a JPEG cannot be transparent; use png or webp',
    family.refusesResponseFormat && own.response_format !== undefined && `${model} has no response_format: it always answers with base64`,
    own.stream === true && 'pictures are not streamed',
  ];
  const asked: JsonObject = {
    model,
    prompt,
    ...(n === undefined ? {} : { n }),
    ...(size === undefined ? {} : { size: `${size.width}x${size.height}` }),
    ...(quality === undefined ? {} : { quality }),
    ...(style === undefined ? {} : { style }),
    ...(background === undefined ? {} : { background }),
    ...(format === undefined ? {} : { output_format: format }),
    // URLs that end within the hour would be lost with them.
    ...(family.asksBase64 && own.response_format === undefined ? { response_format: 'b64_json' } : {}),
  };
  return { fields: withOwnOptions(asked, own, warnings), warnings, faults, model, family };
}

function inputFaults(request: ImageEditRequest, model: string, family: ImageFamily): (string | false)[] {
  const { images, mask } = request;
  const most = family.maxInputImages ?? images.length;
  const types = family.inputTypes;
  const odd = types && images.find(image => !isUrl(image) && !types.includes(mediaTypeOf(image)));
  return [
    !family.edits && `${model} cannot change images`,
    images.length > most && `${images.length} images are more than the ${most} that ${model} takes`,
    odd !== undefined && `${model} takes ${types?.join(', ')}, not ${odd.mediaType}`,
    !family.inputUrls && picturesIn(request).some(isUrl) && `${model} takes images as bytes, not as URLs`,
    types !== undefined &&
      mask !== undefined &&
      !isUrl(mask) &&
      mediaTypeOf(mask) !== 'image/png' &&
      `a mask is a PNG, not ${mask.mediaType}`,
  ];
}

function picturesIn({ images, mask }: ImageEditRequest): readonly ImagePart[] {
  return mask ? [...images, mask] : images;
}

function formOf(fields: JsonObject, images: readonly ImagePart[], mask: ImagePart | undefined): FormData {
  const form = new FormData();
  appendFields(form, fields, bracketed);
  const name = images.length === 1 ? 'image' : 'image[]';
  for (const [i, image] of images.entries()) form.append(name, fileOf(image), fileName(image, `image-${i + 1}`));
  if (mask) form.append('mask', fileOf(mask), fileName(mask, 'mask'));
  return form;
}

function fileOf(image: ImagePart): Blob {
  const bytes = Uint8Array.from(atob(image.data ?? ''), character => character.charCodeAt(0));
  return new Blob([bytes], { type: mediaTypeOf(image) });
}

/** The server tells kinds apart by the ending of the name. */
function fileName(image: ImagePart, stem: string): string {
  const kind = mediaTypeOf(image).slice('image/'.length).replace(/\+.*$/, '');
  return `${stem}.${kind === 'jpeg' ? 'jpg' : kind}`;
}

function mediaTypeOf({ mediaType }: ImagePart): string {
  const bare = bareMediaType(mediaType);
  return bare === 'image/jpg' ? 'image/jpeg' : bare;
}

function isUrl({ data }: ImagePart): boolean {
  return data === undefined;
}

function reference(image: ImagePart): JsonObject {
  return { image_url: addressOf({ ...image, mediaType: mediaTypeOf(image) }) };
}
