import { type FilePart, isRecord, type SourcePart } from '@antiphon/engine';

/** A citation as a source: the place and the words in it. */
export function citationSource(citation: unknown): SourcePart | undefined {
  if (!isRecord(citation)) return undefined;
  const { url, source, file_id, document_index } = citation;
  const place = text(url) ?? text(source);
  const title = text(citation.title) ?? text(citation.document_title);
  const quote = text(citation.cited_text);
  if (place === undefined && title === undefined && quote === undefined) return undefined;
  const id = text(file_id) ?? (typeof document_index === 'number' ? `document_${document_index}` : undefined);
  return {
    type: 'source',
    ...(id === undefined ? {} : { id }),
    ...(place === undefined ? {} : { url: place }),
    ...(title === undefined ? {} : { title }),
    ...(quote === undefined ? {} : { quote }),
  };
}

/**
 * What the result of a server's tool holds for people: the pages that a search found or a fetch read, and the files that code wrote. A
 * file's address is the one of the Files API beside `messagesURL`; it needs the key.
 */
export function resultParts(block: Record<string, unknown>, messagesURL: URL): (SourcePart | FilePart)[] {
  const { content } = block;
  if (block.type === 'web_search_tool_result') return list(content).flatMap(page => pageSource(page) ?? []);
  if (block.type === 'web_fetch_tool_result') return fetchedPage(content);
  if (typeof block.type !== 'string' || !block.type.endsWith('_tool_result') || !isRecord(content)) return [];
  return list(content.content).flatMap(output => {
    const id = text(output.file_id);
    return id === undefined ? [] : [{ type: 'file', mediaType: 'application/octet-stream', name: id, url: fileURL(id, messagesURL) }];
  });
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
  const document = isRecord(content.content) ? content.content : {};
  const source = pageSource({ url: content.url, title: document.title });
  return source ? [source] : [];
}

function pageSource(page: Record<string, unknown>): SourcePart | undefined {
  const url = text(page.url);
  const title = text(page.title);
  return url === undefined ? undefined : { type: 'source', url, ...(title === undefined ? {} : { title }) };
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
