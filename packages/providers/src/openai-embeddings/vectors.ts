import { type AdapterContext, type EmbeddingResponse, isRecord, type JsonObject } from '@antiphon/engine';
import { bytesOf } from '../http/bytes.js';
import { fetchJson, malformedAnswer } from '../http/call.js';
import type { ErrorContext } from '../http/errors.js';
import type { Service } from '../http/service.js';
import { namesOf, usageOf } from '../http/usage.js';

/** Asks an `/embeddings` endpoint. `counts`: the names of its account's fields. */
export async function askForVectors(
  service: Service,
  body: JsonObject,
  context: AdapterContext,
  counts: Parameters<typeof usageOf>[1],
): Promise<EmbeddingResponse> {
  const outgoing = await service.outgoing('/embeddings', body, context);
  const { value } = await fetchJson(outgoing, context);
  const answer = isRecord(value) ? value : {};
  return { embeddings: readVectors(answer.data, outgoing.about), ...namesOf(answer), ...usageOf(answer.usage, counts) };
}

/**
 * The vectors of an answer `{ data: [{ index, embedding }] }`, each a list of numbers or base64 of little-endian 32-bit floats. Whether
 * there are as many as texts, and all of one width, the engine checks.
 */
function readVectors(data: unknown, about: ErrorContext): EmbeddingResponse['embeddings'] {
  if (!Array.isArray(data)) throw malformedAnswer(about, 'answered without a list of embeddings');
  return (data as unknown[]).map((item, place) => {
    const { index = place, embedding } = isRecord(item) ? item : {};
    if (typeof index !== 'number') throw malformedAnswer(about, `gave embedding ${place} an index that is no number`);
    const vector = typeof embedding === 'string' ? decodeFloats(embedding) : embedding;
    if (!isVector(vector)) throw malformedAnswer(about, `sent embedding ${index} as neither a list of numbers nor base64 of them`);
    return { index, vector };
  });
}

/** Numbers from base64 of little-endian 32-bit floats; undefined when it is none. */
function decodeFloats(base64: string): number[] | undefined {
  const bytes = bytesOf(base64);
  if (!bytes || bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}
