import { type Clause, ClauseSplitter, type ClauseSplitterOptions } from '../../src/text/index.js';

/** All pieces of a text that arrives `size` UTF-16 code units at a time. */
export function split(text: string, options: ClauseSplitterOptions = {}, size = Number.POSITIVE_INFINITY): Clause[] {
  const splitter = new ClauseSplitter(options);
  const clauses: Clause[] = [];
  for (let at = 0; at < text.length; at += size) clauses.push(...splitter.push(text.slice(at, at + size)));
  return [...clauses, ...splitter.flush()];
}

/** The pieces as cases compare them: trimmed, and only those with a letter or digit. */
export function spokenPieces(clauses: readonly Clause[]): string[] {
  return clauses.map(clause => clause.text.trim()).filter(text => /[\p{L}\p{N}]/u.test(text));
}

/** How much of a text must arrive, one code unit at a time, before its first piece leaves; undefined when only `flush()` frees it. */
export function neededForFirst(text: string, options: ClauseSplitterOptions = {}): string | undefined {
  const splitter = new ClauseSplitter(options);
  for (let end = 1; end <= text.length; end++) if (splitter.push(text[end - 1]!).length > 0) return text.slice(0, end);
  return undefined;
}
