/** What the models of one family take: data, so that a new family is a row. */
export interface ImageFamily {
  /** Pictures of one request. */
  readonly maxImages?: number;
  readonly edits: boolean;
  readonly maxInputImages?: number;
  /** Media types of the pictures to be changed; undefined: not known. */
  readonly inputTypes?: readonly string[];
  /** Pictures to be changed may be given as URLs. */
  readonly inputUrls: boolean;
  /** The server has to be asked for base64; where it is not, it refuses the field. */
  readonly asksBase64: boolean;
  /** Settings that the family does not have. */
  readonly unsupported: readonly ('quality' | 'style' | 'background' | 'format')[];
  /** `response_format` is an unknown parameter. */
  readonly refusesResponseFormat: boolean;
}

const GPT_IMAGE: ImageFamily = {
  maxImages: 10,
  edits: true,
  maxInputImages: 16,
  inputTypes: ['image/png', 'image/jpeg', 'image/webp'],
  inputUrls: true,
  asksBase64: false,
  unsupported: ['style'],
  refusesResponseFormat: true,
};
const DALL_E_3: ImageFamily = {
  maxImages: 1,
  edits: false,
  inputUrls: false,
  asksBase64: true,
  unsupported: ['background', 'format'],
  refusesResponseFormat: false,
};
const DALL_E_2: ImageFamily = {
  maxImages: 10,
  edits: true,
  maxInputImages: 1,
  inputTypes: ['image/png'],
  inputUrls: false,
  asksBase64: true,
  unsupported: ['style', 'background', 'format'],
  refusesResponseFormat: false,
};
/** A model that nobody knows (another server's, or an Azure deployment with a name of its own): its server decides. */
const UNKNOWN: ImageFamily = { edits: true, inputUrls: false, asksBase64: false, unsupported: [], refusesResponseFormat: false };

/** By how the names of their models begin. */
const FAMILIES: readonly (readonly [string, ImageFamily])[] = [
  ['gpt-image', GPT_IMAGE],
  ['chatgpt-image', GPT_IMAGE],
  ['dall-e-3', DALL_E_3],
  ['dall-e-2', DALL_E_2],
];

/** The family of a model by its name. */
export function imageFamily(model: string): ImageFamily {
  return FAMILIES.find(([beginning]) => model.startsWith(beginning))?.[1] ?? UNKNOWN;
}
