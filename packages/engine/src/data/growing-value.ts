import type { Json } from './json.js';
import { type Members, setMember } from './json-grammar.js';

/** A list or an object that is still open. */
interface Frame {
  readonly list: Json[] | undefined;
  readonly members: Members | undefined;
  /** Of the member that is being read. */
  key: string;
  /** Of copying it. */
  cost: number;
}

/** What the copy of an empty list or object costs, in entries of a list. */
const FRAME = 8;
/** An object that costs more has so many members that copying one takes far longer than copying an entry of a list. */
const WIDE = 128;

/** A JSON value that is built from its beginning: values are put into the innermost list or object that is open. */
export class GrowingValue {
  readonly #frames: Frame[] = [];
  #copy: { readonly value: Json | undefined; readonly changes: number } = { value: undefined, changes: 0 };
  /** The value itself; what is open in it grows in place. */
  root: Json | undefined;
  /** How often anything became different. */
  changes = 0;
  /** Of a snapshot, in copied list entries. */
  cost = 0;

  get depth(): number {
    return this.#frames.length;
  }

  /** True when the innermost that is open is a list. */
  get isList(): boolean {
    return this.#frames.at(-1)?.list !== undefined;
  }

  open(isList: boolean): void {
    const container: Json[] | Members = isList ? [] : {};
    this.put(container);
    const list = isList ? (container as Json[]) : undefined;
    const members = isList ? undefined : (container as Members);
    this.#frames.push({ list, members, key: '', cost: FRAME });
    this.cost += FRAME;
  }

  close(): void {
    this.cost -= this.#frames.pop()?.cost ?? 0;
  }

  /** The key of the next value. */
  key(key: string): void {
    (this.#frames.at(-1) as Frame).key = key;
  }

  put(value: Json): void {
    const frame = this.#frames.at(-1);
    if (frame) {
      const cost = frame.list ? 1 : frame.cost < WIDE ? 2 : 32;
      frame.cost += cost;
      this.cost += cost;
      frame.list?.push(value);
    }
    this.#set(frame, value);
  }

  /** Takes the place of the last value, such as a longer string. */
  replace(value: Json): void {
    this.#set(this.#frames.at(-1), value);
  }

  /** Copies what is open and shares what is closed. */
  snapshot(): Json | undefined {
    if (this.#frames.length === 0) return this.root;
    if (this.#copy.changes === this.changes) return this.#copy.value;
    let value: Json | undefined;
    for (let i = this.#frames.length - 1; i >= 0; i--) {
      const { list, members, key } = this.#frames[i] as Frame;
      if (list) {
        const copy = list.slice();
        if (value !== undefined) copy[copy.length - 1] = value;
        value = copy;
      } else {
        const copy: Members = { ...members };
        if (value !== undefined) setMember(copy, key, value);
        value = copy;
      }
    }
    this.#copy = { value, changes: this.changes };
    return value;
  }

  #set(frame: Frame | undefined, value: Json): void {
    this.changes++;
    if (!frame) this.root = value;
    else if (frame.list) frame.list[frame.list.length - 1] = value;
    else setMember(frame.members as Members, frame.key, value);
  }
}
