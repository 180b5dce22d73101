import type { WordMark } from '../interfaces/tts.js';

interface Entry {
  readonly generation: number;
  /** The clause as it stands in the reply. */
  readonly text: string;
  queued: number;
  played: number;
  /** Samples that will never be played. */
  flushed: number;
  closed: boolean;
  failed: boolean;
  words: readonly WordMark[] | undefined;
}

/** How much of a generation was queued, played and dropped, in samples; played + flushed + waiting = queued. */
export interface PlayoutCount {
  readonly queued: number;
  readonly played: number;
  readonly flushed: number;
}

/**
 * The one truth about what was heard. Clauses are opened in the order in which they are spoken; the sink's position says how far they were
 * played. History, captions and metrics read it, nobody guesses.
 */
export class PlayoutLedger {
  readonly #entries = new Map<number, Entry>();
  #next = 0;

  /** A clause will be spoken; its audio follows. Returns its number for `queue` and `close`. */
  open(generation: number, text: string): number {
    const clause = this.#next++;
    this.#entries.set(clause, { generation, text, queued: 0, played: 0, flushed: 0, closed: false, failed: false, words: undefined });
    return clause;
  }

  /** Audio of this clause went into the queue. */
  queue(clause: number, samples: number, words?: readonly WordMark[]): void {
    const entry = this.#entry(clause);
    entry.queued += samples;
    if (words) entry.words = [...(entry.words ?? []), ...words];
  }

  /** The clause has all its audio. */
  close(clause: number): void {
    this.#entry(clause).closed = true;
  }

  /** Its synthesis failed; nothing more comes. */
  fail(clause: number): void {
    this.#entry(clause).failed = true;
    this.close(clause);
  }

  /** Whether the synthesis of a clause of it has failed. */
  hasFailed(generation: number): boolean {
    return [...this.#entries.values()].some(entry => entry.generation === generation && entry.failed);
  }

  /** The sink played this many samples more; they belong to the oldest audio that waits. */
  advance(samples: number): void {
    let left = samples;
    for (const entry of this.#entries.values()) {
      if (left === 0) return;
      const now = Math.min(left, entry.queued - entry.played - entry.flushed);
      entry.played += now;
      left -= now;
    }
    if (left > 0) throw new RangeError(`The sink reports ${left} samples played that were never queued.`);
  }

  /** Everything of this generation that waits is dropped. */
  flush(generation: number): void {
    for (const entry of this.#entries.values()) if (entry.generation === generation) entry.flushed = entry.queued - entry.played;
  }

  /** Samples of all clauses of a generation. */
  count(generation: number): PlayoutCount {
    const sum = { queued: 0, played: 0, flushed: 0 };
    for (const entry of this.#entries.values()) {
      if (entry.generation !== generation) continue;
      sum.queued += entry.queued;
      sum.played += entry.played;
      sum.flushed += entry.flushed;
    }
    return sum;
  }

  /**
   * The beginning of the reply that was heard, whole words only. A clause counts in full when all its audio was played; inside a clause, word
   * marks tell where the sound stood, and where there are none the share of the samples that were played. A clause whose synthesis failed was
   * heard only if something after it was.
   */
  heard(generation: number): string {
    let text = '';
    let heard = '';
    for (const entry of this.#entries.values()) {
      if (entry.generation !== generation) continue;
      if (entry.closed && entry.played === entry.queued) {
        text += entry.text;
        if (entry.played > 0 || !entry.failed) heard = text;
        continue;
      }
      const part = heardPart(entry);
      return part === '' ? heard : text + part;
    }
    return heard;
  }

  /** Forgets a generation that is over. */
  forget(generation: number): void {
    for (const [clause, entry] of this.#entries) if (entry.generation === generation) this.#entries.delete(clause);
  }

  #entry(clause: number): Entry {
    const entry = this.#entries.get(clause);
    if (!entry) throw new RangeError(`There is no clause ${clause} in the ledger.`);
    return entry;
  }
}

function heardPart({ text, played, queued, closed, words }: Entry): string {
  if (played === 0) return '';
  if (words && words.length > 0) {
    // A word was heard when the next one had begun; the last one, when the clause is over.
    const next = words.findIndex(word => word.sample > played);
    const last = next === -1 ? words.at(-2) : words[next - 2];
    return last ? text.slice(0, last.end) : '';
  }
  // Audio that still comes makes the clause longer than what is known, so a clause that is not closed is never whole.
  const share = text.length * (played / queued);
  return wholeWords(text, Math.floor(closed ? share : Math.min(share, text.length - 1)));
}

/** The longest beginning of at most `length` characters that does not end inside a word. */
function wholeWords(text: string, length: number): string {
  if (length >= text.length) return text;
  let end = 0;
  for (const { index, segment, isWordLike } of wordSegmenter.segment(text)) {
    const after = index + segment.length;
    if (after > length) break;
    if (isWordLike || end > 0) end = after;
  }
  return text.slice(0, end).trimEnd();
}

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
