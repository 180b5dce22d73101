import { type FilePart, type ImagePart, isRecord, type JsonObject, type SourcePart } from '@antiphon/engine';
import { imageAt } from '../media/data-url.js';

/** The place that an annotation of the text names; undefined when it names none. */
export function annotationSource(annotation: unknown, provider: string): SourcePart | undefined {
  if (!isRecord(annotation)) return undefined;
  // Some servers wrap the citation as the chat dialect does.
  const about = isRecord(annotation.url_citation) ? annotation.url_citation : annotation;
  if (text(about.url)) return source({ url: about.url, title: about.title });
  if (!text(about.file_id)) return undefined;
  // A file in a container can only be fetched with the container's id.
  return {
    ...source({ id: about.file_id, title: about.filename, quote: about.quote }),
    providerState: { [provider]: { annotation: annotation as JsonObject } },
  };
}

/** What a search that the provider ran has found. */
export function searchSources(item: Record<string, unknown>): SourcePart[] {
  if (item.type === 'web_search_call') {
    const { action } = item;
    const found = isRecord(action) && Array.isArray(action.sources) ? action.sources : [];
    return found.filter(isRecord).flatMap(({ url, title }) => (text(url) ? [source({ url, title })] : []));
  }
  // Perplexity
  if (item.type === 'search_results' && Array.isArray(item.results)) {
    return item.results.filter(isRecord).flatMap(({ url, title, snippet }) => (text(url) ? [source({ url, title, quote: snippet })] : []));
  }
  const results = item.type === 'file_search_call' && Array.isArray(item.results) ? item.results : [];
  return results.filter(isRecord).flatMap(({ file_id, filename, text: quote }) => source({ id: file_id, title: filename, quote }));
}

/** What a provider's tool has made: a picture, or the pictures that code has drawn. */
export function madeFiles(item: Record<string, unknown>): (FilePart | ImagePart)[] {
  if (item.type === 'image_generation_call') {
    if (!text(item.result)) return [];
    return [{ type: 'image', mediaType: `image/${text(item.output_format) ? item.output_format : 'png'}`, data: item.result }];
  }
  const outputs = item.type === 'code_interpreter_call' && Array.isArray(item.outputs) ? item.outputs : [];
  return outputs.filter(isRecord).flatMap(({ type, url }) => (type === 'image' && text(url) ? imageAt(url, 'image/png') : []));
}

/** Sources are told once: the same page may be cited in every sentence. */
export function sourceKey({ url, id, title }: SourcePart): string {
  return url ?? id ?? title ?? '';
}

function source(fields: { [K in 'id' | 'url' | 'title' | 'quote']?: unknown }): SourcePart {
  const told = Object.entries(fields).filter(([, value]) => text(value));
  return { type: 'source', ...Object.fromEntries(told) };
}

function text(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
