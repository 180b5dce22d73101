import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type JsonObject } from '../data/json.js';
import type { ImagePart, TextPart } from '../data/parts.js';
import { providerOptions, type Rule, type Rules, shown, text, wholeNumber } from '../data/rules.js';
import { chunked, fillPlaces } from './batches.js';
import type { CapabilityOptions, CapabilityOutcome, CapabilityResponse } from './call.js';
import { checkedRequest } from './checks.js';
import { image, listOf } from './nested-rules.js';
import { isOwnModel, malformed, refuseUnsupported } from './refusals.js';
import { type Call, type Runtime, runCall } from './run-call.js';

/** One thing to be judged: a text, or text and images that belong together. */
export type ModerationItem = string | readonly (TextPart | ImagePart)[];

/** Things to be judged, as plain data. */
export interface ModerationRequest {
  readonly input: readonly ModerationItem[];
  /** Overrides the adapter's model. */
  readonly model?: string;
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

/** The verdict on one item. Categories and scores are the provider's own: there is no common list of harms, and no threshold is right for all. */
export interface ModerationResult {
  readonly flagged: boolean;
  readonly categories: { readonly [category: string]: boolean };
  /** 0 to 1. */
  readonly scores: { readonly [category: string]: number };
}

/** Verdicts in any order: `index` is the place of the item in `input`. */
export interface ModerationResponse extends CapabilityResponse {
  readonly results: readonly (ModerationResult & { readonly index: number })[];
}

/** The contract of a moderation model. One request per call; failures as in the other contracts (`EmbeddingAdapter`). */
export interface ModerationAdapter {
  readonly provider: string;
  readonly model: string;
  /** The most texts in one request; more are sent as several. An item of parts always has a request of its own. */
  readonly maxBatchSize: number;
  /** True when its own model judges images too. */
  readonly images?: boolean;
  moderate(request: ModerationRequest, context: AdapterContext): Promise<ModerationResponse>;
}

/** Options of one call; they win over the request. */
export interface ModerateOptions extends Omit<ModerationRequest, 'input'>, CapabilityOptions {
  /** Requests under way at once; default 4. */
  readonly concurrency?: number;
}

/** How moderation ended. `results` stand in the order of the items, with null where a verdict is missing: an item without one is not clean. */
export type ModerateOutcome = CapabilityOutcome<
  { readonly results: readonly ModerationResult[] /** Any of them was flagged. */; readonly flagged: boolean },
  { readonly results: readonly (ModerationResult | null)[] }
>;

/**
 * Judges texts and images; the method of the engine.
 *
 * ```ts
 * const outcome = await engine.moderate([question, [textPart('And this?'), imagePart(bytes)]]);
 * const allowed = outcome.status === 'completed' && !outcome.flagged;
 * ```
 */
export type Moderate = (
  input: string | readonly ModerationItem[] | ModerationRequest,
  options?: ModerateOptions,
) => Promise<ModerateOutcome>;

const part: Rule = [
  'a text or image part',
  value => (isRecord(value) && value.type === 'text' ? typeof value.text === 'string' && value.text !== '' : image[1](value)),
];
const parts = listOf(part, 'part');
const item: Rule = ['a text or a list of parts', value => (Array.isArray(value) ? parts[1](value) : text[1](value))];
const RULES: Rules = { input: listOf(item, 'item'), model: text, providerOptions };

export function moderateWith(adapter: ModerationAdapter, runtime: Runtime): Moderate {
  return async (input, options = {}) => {
    const given = typeof input === 'string' ? { input: [input] } : isRecord(input) ? input : { input };
    const rules = { request: RULES, required: ['input'], options: { concurrency: wholeNumber } };
    const request = checkedRequest<ModerationRequest>('moderate', given, options, rules);
    const results: (ModerationResult | null)[] = request.input.map(() => null);
    const work = async (call: Call) => {
      const withImage = request.input.findIndex(one => typeof one !== 'string' && one.some(({ type }) => type === 'image'));
      refuseUnsupported(adapter.provider, [
        withImage >= 0 && !adapter.images && isOwnModel(adapter, request) && `input[${withImage}] has an image, and it judges texts only`,
      ]);
      await fillPlaces(results, batchesOf(request.input, adapter.maxBatchSize), options.concurrency, (places, noMore) => {
        const some = { ...request, input: places.map(place => request.input[place] as ModerationItem) };
        return call.send(
          context => adapter.moderate(some, context),
          answer => readResults(answer, places.length, call),
          noMore,
        );
      });
    };
    const about = { method: 'moderate', adapter, request } as const;
    return runCall(about, options, runtime, work, ({ status }) =>
      status === 'completed' ? { results, flagged: results.some(verdict => verdict?.flagged) } : { results },
    ) as Promise<ModerateOutcome>;
  };
}

/** Places of the items that go together: providers take many texts at once, but one item of parts. */
function batchesOf(items: readonly ModerationItem[], size: number): number[][] {
  const places = items.map((_, i) => i);
  const isText = (place: number) => typeof items[place] === 'string';
  return [...chunked(places.filter(isText), size), ...places.filter(place => !isText(place)).map(place => [place])];
}

/** The verdicts of one answer, in the order of its items. Nothing is guessed: a broken verdict must not read as a clean one. */
function readResults(answer: Record<string, unknown>, expected: number, { provider }: Call): ModerationResult[] {
  if (!Array.isArray(answer.results)) throw malformed(provider, 'the answer has no list of results');
  if (answer.results.length !== expected)
    throw malformed(provider, `${expected} items were sent and ${answer.results.length} verdicts came`);
  const found = new Map<number, ModerationResult>();
  for (const result of answer.results as unknown[]) {
    const { index, flagged, categories, scores } = isRecord(result) ? result : {};
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= expected || found.has(index as number)) {
      throw malformed(provider, `a verdict has the index ${shown(index)}, which is no item's or came before`);
    }
    if (typeof flagged !== 'boolean') throw malformed(provider, `verdict ${index} does not say whether it is flagged`);
    if (!isRecord(categories) || !Object.values(categories).every(value => typeof value === 'boolean')) {
      throw malformed(provider, `the categories of verdict ${index} are not all true or false`);
    }
    if (!isRecord(scores) || !Object.values(scores).every(Number.isFinite)) {
      throw malformed(provider, `the scores of verdict ${index} are not all numbers`);
    }
    found.set(index as number, { flagged, categories, scores } as ModerationResult);
  }
  return Array.from({ length: expected }, (_, i) => found.get(i) as ModerationResult);
}
