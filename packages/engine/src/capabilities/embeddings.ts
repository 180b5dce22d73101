import type { AdapterContext } from '../adapters/chat.js';
import { isRecord, type JsonObject } from '../data/json.js';
import { flag, oneOf, providerOptions, type Rules, shown, text, wholeNumber } from '../data/rules.js';
import { AdapterError } from '../errors.js';
import { chunked, fillPlaces } from './batches.js';
import type { CapabilityOptions, CapabilityOutcome, CapabilityResponse } from './call.js';
import { checkedRequest } from './checks.js';
import { listOf } from './nested-rules.js';
import { malformed } from './refusals.js';
import { type Call, type Runtime, runCall } from './run-call.js';

/** A point in the model's space. Plain numbers, so that it is JSON. */
export type Vector = readonly number[];

/** Texts to be embedded, as plain data. */
export interface EmbeddingRequest {
  readonly input: readonly string[];
  /** Overrides the adapter's model. */
  readonly model?: string;
  /** Length of each vector, for models that can shorten theirs. */
  readonly dimensions?: number;
  /** What the vectors are for; a provider that makes no difference warns. */
  readonly task?: 'query' | 'document' | 'classification' | 'clustering' | 'similarity';
  /** `false` fails on a text that is too long for the model instead of cutting it. */
  readonly truncate?: boolean;
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
}

/** The vectors of one request, in any order: `index` is the place of the text in `input`. */
export interface EmbeddingResponse extends CapabilityResponse {
  readonly embeddings: readonly { readonly index: number; readonly vector: Vector }[];
}

/**
 * The contract of an embedding model. `embed` sends one request of at most `maxBatchSize` texts; it throws an `AdapterError` for a failure
 * of the world and the signal's reason for an abort, and neither retries nor keeps timers: the engine does both.
 */
export interface EmbeddingAdapter {
  readonly provider: string;
  readonly model: string;
  /** The most texts in one request; more are sent as several, and a batch whose tokens are too many together as two halves. */
  readonly maxBatchSize: number;
  embed(request: EmbeddingRequest, context: AdapterContext): Promise<EmbeddingResponse>;
}

/** Options of one call; they win over the request. */
export interface EmbedOptions extends Omit<EmbeddingRequest, 'input'>, CapabilityOptions {
  /** Requests under way at once; default 4. */
  readonly concurrency?: number;
  /** Vectors of an earlier call with the same texts, with null where none is: only those are asked for. */
  readonly done?: readonly (Vector | null)[];
}

/** How embedding ended. `vectors` stand in the order of the texts. */
export type EmbedOutcome = CapabilityOutcome<
  { readonly vectors: readonly Vector[]; readonly dimensions: number },
  {
    /** null where the vector is missing. */
    readonly vectors: readonly (Vector | null)[];
    /** What to go on with: `engine.embed(outcome.resume.request, { done: outcome.vectors })`. */
    readonly resume: { readonly request: EmbeddingRequest; readonly missing: readonly number[] };
  }
>;

/**
 * Makes vectors of texts; the method of the engine.
 *
 * Vectors for one text, several, or a request. Long lists are sent in batches, several at once; a failure keeps what is done.
 *
 * ```ts
 * const outcome = await engine.embed(['one', 'two'], { dimensions: 256 });
 * if (outcome.status === 'completed') console.log(outcome.vectors[1]);
 * ```
 */
export type Embed = (input: string | readonly string[] | EmbeddingRequest, options?: EmbedOptions) => Promise<EmbedOutcome>;

const RULES: Rules = {
  input: listOf(text, 'text'),
  model: text,
  dimensions: wholeNumber,
  task: oneOf('query', 'document', 'classification', 'clustering', 'similarity'),
  truncate: flag,
  providerOptions,
};
const OPTIONS: Rules = {
  concurrency: wholeNumber,
  done: [
    'a list of vectors and nulls',
    value => Array.isArray(value) && value.every(item => item === null || vectorFault(item) === undefined),
  ],
};

export function embedWith(adapter: EmbeddingAdapter, runtime: Runtime): Embed {
  return async (input, options = {}) => {
    const given = typeof input === 'string' ? { input: [input] } : isRecord(input) ? input : { input };
    const request = checkedRequest<EmbeddingRequest>('embed', given, options, {
      request: RULES,
      required: ['input'],
      options: OPTIONS,
      together: ({ input: texts }) =>
        options.done === undefined || options.done.length === texts.length
          ? []
          : [{ path: 'done', reason: `must have one place for each of the ${texts.length} texts, not ${options.done.length}` }],
    });
    const vectors: (Vector | null)[] = request.input.map((_, i) => options.done?.[i] ?? null);
    const missing = () => vectors.flatMap((vector, i) => (vector === null ? [i] : []));
    const work = async (call: Call) => {
      await fillPlaces(vectors, chunked(missing(), adapter.maxBatchSize), options.concurrency, (places, noMore) => {
        const part = { ...request, input: places.map(place => request.input[place] as string) };
        return call.send(
          context => adapter.embed(part, context),
          answer => readVectors(answer, places.length, call),
          noMore,
        );
      });
      checkWidth(vectors as Vector[], request.dimensions, adapter.provider);
    };
    const about = { method: 'embed', adapter, request } as const;
    return runCall(about, options, runtime, work, ({ status }) =>
      status === 'completed' ? { vectors, dimensions: vectors[0]?.length ?? 0 } : { vectors, resume: { request, missing: missing() } },
    ) as Promise<EmbedOutcome>;
  };
}

/** The vectors of one answer, in the order of its texts. */
function readVectors(answer: Record<string, unknown>, expected: number, call: Call): Vector[] {
  const { embeddings } = answer;
  if (!Array.isArray(embeddings)) throw malformed(call.provider, 'the answer has no list of embeddings');
  if (embeddings.length !== expected) throw malformed(call.provider, `${expected} texts were sent and ${embeddings.length} vectors came`);
  const vectors = new Array<Vector | undefined>(expected);
  for (const item of embeddings as unknown[]) {
    if (!isRecord(item)) throw malformed(call.provider, 'an embedding is no object');
    const { index, vector } = item;
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= expected) {
      throw malformed(call.provider, `an embedding has the index ${shown(index)}, and ${expected} texts were sent`);
    }
    if (vectors[index as number]) throw malformed(call.provider, `two embeddings have the index ${index}`);
    const fault = vectorFault(vector);
    if (fault) throw malformed(call.provider, `embedding ${index} ${fault}`);
    vectors[index as number] = vector as Vector;
  }
  return vectors as Vector[];
}

function vectorFault(vector: unknown): string | undefined {
  if (!Array.isArray(vector)) return 'is no list of numbers';
  if (vector.length === 0) return 'is empty';
  return vector.every(Number.isFinite) && !vector.includes(undefined) ? undefined : 'holds something else than numbers';
}

/** Rows of different widths cannot be compared, and an index built from them cannot be mended. */
function checkWidth(vectors: readonly Vector[], dimensions: number | undefined, provider: string): void {
  const width = dimensions ?? vectors[0]?.length ?? 0;
  const odd = vectors.findIndex(vector => vector.length !== width);
  if (odd < 0) return;
  const found = `vector ${odd} has ${vectors[odd]?.length} numbers`;
  if (dimensions === undefined) throw malformed(provider, `${found}, the first has ${width}`);
  throw new AdapterError('unsupported', `${provider}: ${width} dimensions were asked for, but ${found}.`, { provider });
}
