import type { Json } from '../data/json.js';
import { PartialJson } from '../data/partial-json.js';
import type { OutputDelta } from '../events/events.js';

/** Copied entries that one delta may cost; what a delta does not use is left for later ones. */
const COPIES_PER_DELTA = 512;

/**
 * Turns the growing text of an answer into `output_delta` events. Each value is a snapshot that never changes. So that the whole stays linear,
 * a list or object that is open and has very many entries is copied every so many deltas only (thousands of entries: some ten deltas);
 * between them the last snapshot is repeated. The last one is always exact. Text before the first `{` and behind the value is left out; what
 * is no strict JSON ends the preview, not the answer.
 */
export class OutputPreview {
  readonly #parser = new PartialJson();
  readonly #unwrap: (written: Json) => Json | undefined;
  #begun = false;
  #seen = 0;
  /** Text that was not told, because there was no value yet. */
  #held = '';
  #copies = 0;
  #value: Json | undefined;

  constructor(unwrap: (written: Json) => Json | undefined) {
    this.#unwrap = unwrap;
  }

  push(delta: string): OutputDelta[] {
    const parser = this.#parser;
    if (parser.state !== 'open') return [];
    const from = this.#begun ? 0 : delta.indexOf('{');
    if (from < 0) return [];
    this.#begun = true;
    let piece = from === 0 ? delta : delta.slice(from);
    const changed = parser.push(piece);
    if (parser.fault) piece = piece.slice(0, parser.fault.position - this.#seen);
    this.#seen += piece.length;
    this.#held += piece;
    this.#copies += COPIES_PER_DELTA;
    if (changed || parser.state !== 'open') this.#refresh();
    if (this.#value === undefined || this.#held === '') return [];
    const told: OutputDelta = { type: 'output_delta', delta: this.#held, value: this.#value };
    this.#held = '';
    return [told];
  }

  #refresh(): void {
    const cost = this.#parser.snapshotCost;
    if (cost > this.#copies && this.#parser.state === 'open') return;
    this.#copies -= cost;
    const written = this.#parser.snapshot();
    this.#value = written === undefined ? undefined : this.#unwrap(written);
  }
}
