import { isRecord, type SourcePart } from '@antiphon/engine';
import { filled, recordsIn, sourceFrom } from '../http/wire-values.js';
import type { WireCandidate } from './wire.js';

/** Collects what an answer rests on. The metadata comes again with each chunk and grows; every place counts once. */
export class Sources {
  readonly #found = new Map<string, SourcePart>();

  get all(): Iterable<SourcePart> {
    return this.#found.values();
  }

  addCandidate({ groundingMetadata, citationMetadata, urlContextMetadata }: WireCandidate): void {
    for (const chunk of listIn(groundingMetadata, 'groundingChunks')) {
      for (const kind of ['web', 'retrievedContext', 'maps', 'image']) if (isRecord(chunk[kind])) this.add(chunk[kind]);
    }
    for (const citation of [...listIn(citationMetadata, 'citationSources'), ...listIn(citationMetadata, 'citations')]) this.add(citation);
    for (const { retrievedUrl, urlRetrievalStatus } of listIn(urlContextMetadata, 'urlMetadata')) {
      const failed = typeof urlRetrievalStatus === 'string' && /ERROR|PAYWALL|UNSAFE/.test(urlRetrievalStatus);
      if (!failed) this.add({ uri: retrievedUrl });
    }
  }

  /** A place with `uri`, `title` and `text`. */
  add(place: Record<string, unknown>): void {
    const found = sourceFrom({ url: filled(place.uri) ? place.uri : place.sourceUri, title: place.title, quote: place.text });
    const { url, title, quote } = found;
    if (url === undefined && title === undefined) return;
    const key = JSON.stringify([url ?? title, quote]);
    if (!this.#found.has(key)) this.#found.set(key, found);
  }
}

function listIn(holder: unknown, field: string): Record<string, unknown>[] {
  return recordsIn(isRecord(holder) ? holder[field] : undefined);
}
