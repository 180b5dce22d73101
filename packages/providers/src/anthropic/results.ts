import { type FilePart, isRecord, type SourcePart } from '@antiphon/engine';
import { filled, recordsIn, sourceFrom } from '../http/wire-values.js';

/** A citation as a source: the place and the words in it. */
export function citationSource(citation: unknown): SourcePart | undefined {
  if (!isRecord(citation)) return undefined;
  const { url, source, file_id, document_index, title, document_title, cited_text } = citation;
  const found = sourceFrom({
    id: typeof document_index === 'number' && !filled(file_id) ? `document_${document_index}` : file_id,
    url: filled(url) ? url : source,
    title: filled(title) ? title : document_title,
    quote: cited_text,
  });
  return (found.url ?? found.title ?? found.quote) === undefined ? undefined : found;
}

/**
 * What the result of a server's tool holds for people: the pages that a search found or a fetch read, and the files that code wrote. A
 * file's address is the one of the Files API beside `messagesURL`; it needs the key.
 */
export function resultParts(block: Record<string, unknown>, messagesURL: URL): (SourcePart | FilePart)[] {
  const { content } = block;
  if (block.type === 'web_search_tool_result') return recordsIn(content).flatMap(pageSource);
  if (block.type === 'web_fetch_tool_result') return fetchedPage(content);
  if (typeof block.type !== 'string' || !block.type.endsWith('_tool_result') || !isRecord(content)) return [];
  return recordsIn(content.content).flatMap(({ file_id: id }): FilePart[] =>
    filled(id) ? [{ type: 'file', mediaType: 'application/octet-stream', name: id, url: fileURL(id, messagesURL) }] : [],
  );
}

/** The address from which a file that the model made can be fetched. */
function fileURL(id: string, messagesURL: URL): string {
  const url = new URL(messagesURL);
  url.pathname = url.pathname.replace(/messages$/, `files/${encodeURIComponent(id)}/content`);
  url.search = '';
  return url.href;
}

function fetchedPage(content: unknown): SourcePart[] {
  if (!isRecord(content)) return [];
  return pageSource({ url: content.url, title: isRecord(content.content) ? content.content.title : undefined });
}

function pageSource({ url, title }: Record<string, unknown>): SourcePart[] {
  return filled(url) ? [sourceFrom({ url, title })] : [];
}
