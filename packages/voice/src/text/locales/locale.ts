/**
 * What the splitter knows about one language. Plain data: every list is one string of words separated by spaces, in lower case and
 * without the final dot.
 */
export interface LocaleData {
  /** Never end a sentence: `Dr.`, `e.g.`. */
  readonly titles?: string;
  /** End a sentence only before a word of `starters`: `Inc.`, `approx.`. */
  readonly abbreviations?: string;
  /** Often end a sentence; one before any capitalised word does: `etc.`, `a.m.`. */
  readonly finals?: string;
  /** Abbreviations only when a number follows: `No. 5`, `p. 12`; else plain words. */
  readonly beforeNumber?: string;
  /** Endings of words that are abbreviations when a number follows: `Hauptstr. 5`. */
  readonly suffixes?: string;
  /** Words that usually start a sentence: they make the dot of an abbreviation, letter or ordinal an end. */
  readonly starters?: string;
  /** Month names (all spellings in use): a day number and a dot before one is an ordinal, `3. Juli`. */
  readonly months?: string;
  /** Words after which a clause is never cut weakly (rule 8). */
  readonly neverLast?: string;
  /** Words that begin a phrase of time at a sentence's start: `At 5 a.m. Mr. Smith …` is one sentence. */
  readonly leadIns?: string;
  /** Names with an exclamation mark of their own. */
  readonly exclaimed?: string;
  /** Small and Roman numbers with a dot are ordinals: `der 2. Weltkrieg`, `Ludwig XIV. Park`. */
  readonly ordinals?: boolean;
  /** A sentence may start in lower case after a plain word and a dot. */
  readonly lowerStarts?: boolean;
  /** A lower-case word after `?` or `!` goes on with the sentence. */
  readonly lowerContinues?: boolean;
  /** Further characters that end a sentence before white space: `;` in Greek. */
  readonly stops?: string;
}
