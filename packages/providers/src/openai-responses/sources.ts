import { type FilePart, type ImagePart, isRecord, type JsonObject, type SourcePart } from '@antiphon/engine';
import { filled, recordsIn, sourceFrom } from '../http/wire-values.js';
import { imageAt } from '../media/data-url.js';

/** The place that an annotation of the text names; undefined when it names none. */
export function annotationSource(annotation: unknown, provider: string): SourcePart | undefined {
  if (!isRecord(annotation)) return undefined;
  // Some servers wrap the citation as the chat dialect does.
  const about = isRecord(annotation.url_citation) ? annotation.url_citation : annotation;
  if (filled(about.url)) return sourceFrom({ url: about.url, title: about.title });
  if (!filled(about.file_id)) return undefined;
  // A file in a container can only be fetched with the container's id.
  return {
    ...sourceFrom({ id: about.file_id, title: about.filename, quote: about.quote }),
    providerState: { [provider]: { annotation: annotation as JsonObject } },
  };
}

/** What a search that the provider ran has found. */
export function searchSources(item: Record<string, unknown>): SourcePart[] {
  if (item.type === 'web_search_call') {
    const { action } = item;
    return recordsIn(isRecord(action) ? action.sources : undefined).flatMap(({ url, title }) =>
      filled(url) ? [sourceFrom({ url, title })] : [],
    );
  }
  // Perplexity
  if (item.type === 'search_results') {
    return recordsIn(item.results).flatMap(({ url, title, snippet }) => (filled(url) ? [sourceFrom({ url, title, quote: snippet })] : []));
  }
  const results = item.type === 'file_search_call' ? item.results : undefined;
  return recordsIn(results).flatMap(({ file_id, filename, text: quote }) => sourceFrom({ id: file_id, title: filename, quote }));
}

/** What a provider's tool has made: a picture, or the pictures that code has drawn. */
export function madeFiles(item: Record<string, unknown>): (FilePart | ImagePart)[] {
  if (item.type === 'image_generation_call') {
    if (!filled(item.result)) return [];
    return [{ type: 'image', mediaType: `image/${filled(item.output_format) ? item.output_format : 'png'}`, data: item.result }];
  }
  const outputs = item.type === 'code_interpreter_call' ? item.outputs : undefined;
  return recordsIn(outputs).flatMap(({ type, url }) => (type === 'image' && filled(url) ? imageAt(url, 'image/png') : []));
}

/** Sources are told once: the same page may be cited in every sentence. */
export function sourceKey({ url, id, title }: SourcePart): string {
  return url ?? id ?? title ?? '';
}
