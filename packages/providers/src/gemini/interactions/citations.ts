import { isRecord } from '@antiphon/engine';
import { filled, recordsIn } from '../../http/wire-values.js';
import type { Sources } from '../sources.js';
import type { Wire } from './events.js';

/** Steps whose results are places on the web or in stored files. */
const SEARCHES: ReadonlySet<unknown> = new Set(['google_search_result', 'url_context_result', 'google_maps_result', 'file_search_result']);

/** Places that the model's words rest on. */
export function addCitations(annotations: unknown, sources: Sources): void {
  for (const annotation of recordsIn(annotations)) addPlace(annotation, sources);
}

/** Places that a tool of Google's has found. */
export function addFindings({ type, result }: Wire, sources: Sources): void {
  if (!SEARCHES.has(type)) return;
  for (const entry of recordsIn(isRecord(result) ? [result] : result)) {
    if (typeof entry.status === 'string' && entry.status !== 'success') continue;
    for (const place of Array.isArray(entry.places) ? recordsIn(entry.places) : [entry]) addPlace(place, sources);
  }
}

/** A file in a store has a name, and a reference that is no address. */
function addPlace(place: Wire, sources: Sources): void {
  const where = [place.url, place.document_uri, place.source].find(filled);
  const isAddress = typeof where === 'string' && /^[a-z]+:\/\//i.test(where);
  const title = place.title ?? place.name ?? place.file_name ?? (isAddress ? undefined : where);
  sources.add({ uri: isAddress ? where : undefined, title });
}
