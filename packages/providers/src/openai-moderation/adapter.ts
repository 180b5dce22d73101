import {
  type AdapterContext,
  type ImagePart,
  isRecord,
  type Json,
  type ModerationAdapter,
  type ModerationItem,
  type ModerationRequest,
  type ModerationResponse,
  type TextPart,
  type Warning,
} from '@antiphon/engine';
import { fetchJson, refuse } from '../http/call.js';
import { ownOptions, withOwnOptions } from '../http/own-options.js';
import { type Service, type ServiceOptions, serviceFor } from '../http/service.js';
import { namesOf } from '../http/usage.js';
import { addressOf } from '../media/data-url.js';
import { type OpenaiModerationResult, readVerdicts, unjudged } from './verdicts.js';

/** Options of `openaiModeration`. */
export interface OpenaiModerationOptions extends ServiceOptions {}

/** What `openaiModeration` answers: the contract's verdicts, and by which input each category was judged. */
export interface OpenaiModerationResponse extends ModerationResponse {
  readonly results: readonly OpenaiModerationResult[];
}

/** A `ModerationAdapter` whose own answers say more; through the engine they are the contract's. */
export interface OpenaiModerationAdapter extends ModerationAdapter {
  moderate(request: ModerationRequest, context: AdapterContext): Promise<OpenaiModerationResponse>;
}

const PATH = '/moderations';
/** Texts in one request. OpenAI names no limit; this many are known to work. */
const MAX_TEXTS = 1000;

/**
 * A moderation model of OpenAI. `omni-moderation-latest` judges texts and images, the older `text-moderation-…` texts only. Categories and
 * scores are OpenAI's own. A category that does not apply to the input (most of them, for an image alone) is `false` with the score 0 all
 * the same: such categories are named in a warning.
 *
 * Errors as in `openaiEmbeddings`.
 *
 * ```ts
 * const engine = createEngine({ moderation: openaiModeration({ model: 'omni-moderation-latest' }) });
 * const outcome = await engine.moderate([question, [textPart('And this?'), imagePart(bytes)]]);
 * ```
 */
export function openaiModeration(options: OpenaiModerationOptions): OpenaiModerationAdapter {
  const service = serviceFor('openaiModeration', options, 'https://api.openai.com/v1', [PATH]);
  return {
    provider: service.provider,
    model: service.model,
    maxBatchSize: MAX_TEXTS,
    images: judgesImages(service.model),
    moderate: (request, context) => moderate(service, request, context),
  };
}

async function moderate(service: Service, request: ModerationRequest, context: AdapterContext): Promise<OpenaiModerationResponse> {
  context.signal.throwIfAborted();
  const model = request.model ?? service.model;
  const { input } = request;
  const withImages = input.filter(hasImage).length;
  refuse(service.provider, [
    input.length > MAX_TEXTS && `${input.length} items are more than the ${MAX_TEXTS} of one request`,
    withImages > 0 && input.length > 1 && 'an item with images needs a request of its own',
    withImages > 0 && !judgesImages(model) && `${model} judges texts only`,
  ]);
  const warnings: Warning[] = [];
  const body = withOwnOptions({ model, input: inputOf(input) }, ownOptions(request, service.provider, 'openai'), warnings);
  const outgoing = await service.outgoing(PATH, body, context);
  const { value } = await fetchJson(outgoing, context);
  const answer = isRecord(value) ? value : {};
  const results = readVerdicts(answer.results, outgoing.about);
  return { results, ...namesOf(answer), warnings: [...warnings, ...unjudged(results)] };
}

/** A list of texts is judged text by text; a list of parts is judged as one. */
function inputOf(items: readonly ModerationItem[]): Json {
  const [first] = items;
  if (first !== undefined && typeof first !== 'string' && hasImage(first)) return first.map(partOf);
  return items.map(item => (typeof item === 'string' ? item : item.map(part => (part.type === 'text' ? part.text : '')).join('\n\n')));
}

function partOf(part: TextPart | ImagePart): Json {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'image_url', image_url: { url: addressOf(part) } };
}

function hasImage(item: ModerationItem): boolean {
  return typeof item !== 'string' && item.some(part => part.type === 'image');
}

function judgesImages(model: string): boolean {
  return !model.startsWith('text-moderation');
}
