import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { oneLine, UsageError } from '../failure.js';

interface Passage {
  readonly id: number;
  readonly file: string;
  readonly heading: string;
  readonly text: string;
}

export interface DocumentIndex {
  readonly passages: number;
  /** The passage that answers best, or undefined when none is about the question. */
  find(question: string): Passage | undefined;
}

/** Words that say nothing about what a question is about. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an the and or but if of to in on at by for from with about as is are was were be been do does did how what when where which who whom why can could will would should may might must shall i you he she it we they me my your his her its our their this that these those there here not no yes so then than too very just please tell say'.split(
    ' ',
  ),
);

/** Share of the question's own words that a passage must hold to count as an answer. */
const MIN_SHARE = 0.5;

/** Reads a folder of Markdown and text files and indexes their paragraphs. Throws `UsageError` when there is nothing to read. */
export async function indexDocuments(folder: string): Promise<DocumentIndex> {
  const passages: Passage[] = [];
  let names: string[];
  try {
    names = (await readdir(folder, { recursive: true })).filter(name => /\.(md|txt)$/i.test(name)).sort();
  } catch (error) {
    throw new UsageError(`The documents folder cannot be read: ${oneLine(error)}`);
  }
  for (const file of names) {
    for (const { heading, text } of paragraphs(await readFile(join(folder, file), 'utf8'))) {
      passages.push({ id: passages.length, file, heading, text });
    }
  }
  if (passages.length === 0) throw new UsageError(`${folder} holds no .md or .txt file with text in it.`);
  const index = new MiniSearch<Passage>({
    fields: ['heading', 'text'],
    processTerm: term => {
      const word = term.toLowerCase();
      return STOP_WORDS.has(word) || word.length < 2 ? null : stem(word);
    },
    searchOptions: { boost: { heading: 2 }, prefix: term => term.length > 4, fuzzy: term => (term.length > 5 ? 0.2 : false) },
  });
  index.addAll(passages);
  return {
    passages: passages.length,
    find(question) {
      const best = index.search(question)[0];
      if (!best) return undefined;
      const asked = new Set(best.queryTerms).size;
      const words = new Set(tokens(question)).size;
      return asked / Math.max(1, words) >= MIN_SHARE ? passages[best.id] : undefined;
    },
  };
}

function tokens(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(word => word.length > 1 && !STOP_WORDS.has(word));
}

/** Enough for English endings: "finished" and "finish" are one word here. */
function stem(word: string): string {
  return word.length > 5 ? word.replace(/(?:ing|ed|es|s)$/, '') : word.replace(/s$/, '');
}

function paragraphs(markdown: string): { heading: string; text: string }[] {
  const found: { heading: string; text: string }[] = [];
  let heading = '';
  for (const block of markdown.split(/\n\s*\n/)) {
    const title = block.match(/^#+\s+(.*)/);
    if (title) heading = title[1] ?? '';
    const text = block
      .replace(/^#+\s.*$/gm, '')
      .replace(/\s+/g, ' ')
      .trim();
    if (text !== '' && !text.startsWith('```')) found.push({ heading, text });
  }
  return found;
}
