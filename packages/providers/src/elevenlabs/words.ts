import { isRecord, type SpokenWord } from '@antiphon/engine';

/** When each character sounds, in milliseconds. */
interface Characters {
  readonly chars: readonly string[];
  readonly startMs: readonly number[];
  readonly endMs: readonly number[];
}

/** One word that has begun. */
interface OpenWord {
  text: string;
  startMs: number;
  endMs: number;
}

/**
 * Makes words of the times of characters, which come in pieces that may cut a word in two. A word is what stands between white space.
 * `relative`: the times of each piece begin at zero, as on its socket; otherwise at the beginning of the sound.
 */
export class WordTimes {
  readonly #relative: boolean;
  #offsetMs = 0;
  #open: OpenWord | undefined;

  constructor(relative: boolean) {
    this.#relative = relative;
  }

  /** The words that are complete now. A value that is no alignment gives none. */
  add(alignment: unknown): SpokenWord[] {
    const characters = readCharacters(alignment);
    if (!characters) return [];
    const done: SpokenWord[] = [];
    const offset = this.#offsetMs;
    for (const [i, char] of characters.chars.entries()) {
      const startMs = offset + characters.startMs[i]!;
      const endMs = Math.max(startMs, offset + characters.endMs[i]!);
      if (char.trim() === '') done.push(...this.end());
      else if (!this.#open) this.#open = { text: char, startMs, endMs };
      else {
        this.#open.text += char;
        this.#open.endMs = Math.max(this.#open.endMs, endMs);
      }
      if (this.#relative) this.#offsetMs = Math.max(this.#offsetMs, endMs);
    }
    return done;
  }

  /** The last word, which no white space ended. */
  end(): SpokenWord[] {
    const word = this.#open;
    this.#open = undefined;
    return word ? [word] : [];
  }
}

/** Two spellings of the same: milliseconds with durations on the socket, seconds with ends over HTTP. */
function readCharacters(value: unknown): Characters | undefined {
  if (!isRecord(value)) return undefined;
  const onSocket = listOf(value.chars, isText);
  if (onSocket) {
    const starts = listOf(value.charStartTimesMs ?? value.char_start_times_ms, isTime);
    const durations = listOf(value.charDurationsMs ?? value.chars_durations_ms ?? value.char_durations_ms, isTime);
    if (starts?.length !== onSocket.length || durations?.length !== onSocket.length) return undefined;
    return { chars: onSocket, startMs: starts, endMs: starts.map((start, i) => start + durations[i]!) };
  }
  const chars = listOf(value.characters, isText);
  const starts = listOf(value.character_start_times_seconds, isTime);
  const ends = listOf(value.character_end_times_seconds, isTime);
  if (!chars || starts?.length !== chars.length || ends?.length !== chars.length) return undefined;
  return { chars, startMs: starts.map(milliseconds), endMs: ends.map(milliseconds) };
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

function listOf<T>(value: unknown, is: (item: unknown) => item is T): readonly T[] | undefined {
  return Array.isArray(value) && value.every(is) ? value : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
