import { isRecord, type Json, MAX_JSON_DEPTH } from '@antiphon/engine';
import { parseJsonPath, type Segment } from './json-path.js';

/** A list or an object whose end has not been written. */
interface Frame {
  readonly node: Node;
  /** Where it hangs in the frame above. */
  readonly key: Segment;
  /** Something in it has been written. */
  filled: boolean;
}
type Node = Json[] | { [key: string]: Json };

/** A hole in a list is filled up to here; a path that leaves a larger one is no real one. */
const MAX_GAP = 100;

/**
 * Arguments of a call that come leaf by leaf, each with a JSONPath, as the growing text of one JSON object. `add` and `end` return the next
 * piece of that text. The API sends leaves in the order of the document, so the text can be written while they come; one that comes out of
 * order is kept, and its whole top-level member is written once more at the end, where it replaces the first (a reader of JSON takes the
 * last of two members with one name). Linear in all that comes.
 *
 * ```ts
 * args.add({ jsonPath: '$.to[0]', stringValue: 'A', willContinue: true }); // '{"to":["A'
 * ```
 */
export class PartialArgs {
  readonly #root: { [key: string]: Json } = Object.create(null);
  #frames: Frame[] = [{ node: this.#root, key: '', filled: false }];
  /** The string that goes on with the next leaf of the same path. */
  #open: { readonly path: string; readonly holder: Node; readonly key: Segment; readonly inText: boolean } | undefined;
  /** Top-level members whose text is not what was meant. */
  readonly #rewritten = new Set<string>();

  /** Undefined for a leaf that makes no sense, which changes nothing. */
  add(leaf: unknown): string | undefined {
    if (!isRecord(leaf) || typeof leaf.jsonPath !== 'string') return undefined;
    const value = leafValue(leaf);
    if (value === undefined) return leaf.willContinue === true || this.#open?.path === leaf.jsonPath ? '' : undefined;
    const more = leaf.willContinue === true;
    if (typeof value === 'string' && this.#open?.path === leaf.jsonPath) return this.#goOn(value, more);
    const path = parseJsonPath(leaf.jsonPath);
    if (!path || path.length > MAX_JSON_DEPTH) return undefined;
    if (path.length === 0) return isRecord(value) ? this.merge(value) : undefined;
    if (typeof path[0] !== 'string' || !this.#fits(path)) return undefined;
    return this.#closeString() + this.#write(path, value, more, leaf.jsonPath);
  }

  /** Members that come whole. */
  merge(members: Record<string, unknown>): string {
    let text = this.#closeString();
    for (const [key, value] of Object.entries(members)) text += this.#write([key], value as Json, false, '');
    return text;
  }

  /** What is missing at the end of the text; `''` when there were no arguments. */
  end(): string {
    let text = this.#closeString() + this.#closeTo(0);
    const written = this.#frames[0]!.filled;
    if (!written && this.#rewritten.size === 0) return '';
    const members = [...this.#rewritten].map(key => `${JSON.stringify(key)}:${JSON.stringify(this.#root[key])}`);
    if (members.length > 0) text += `${written ? ',' : '{'}${members.join(',')}`;
    return `${text}}`;
  }

  #goOn(value: string, more: boolean): string {
    const open = this.#open!;
    set(open.holder, open.key, (get(open.holder, open.key) as string) + value);
    const text = open.inText ? inner(value) : '';
    return more ? text : text + this.#closeString();
  }

  #closeString(): string {
    const wasInText = this.#open?.inText === true;
    this.#open = undefined;
    return wasInText ? '"' : '';
  }

  #write(path: readonly Segment[], value: Json, more: boolean, jsonPath: string): string {
    const last = path.length - 1;
    let shared = 0;
    while (shared < last && this.#frames[shared + 1]?.key === path[shared]) shared++;
    const inOrder = this.#isNext(path, shared);
    const text = inOrder ? this.#writeText(path, shared, value) : this.#closeTo(0);
    const holder = this.#place(path, inOrder ? shared : undefined);
    set(holder, path[last]!, value);
    if (!inOrder) this.#rewritten.add(path[0] as string);
    if (!more || typeof value !== 'string') return text;
    this.#open = { path: jsonPath, holder, key: path[last]!, inText: inOrder };
    // The quote that ends it comes with its last piece.
    return inOrder ? text.slice(0, -1) : text;
  }

  /** True when the path goes on behind everything that was written, so that its text can follow. */
  #isNext(path: readonly Segment[], shared: number): boolean {
    if (this.#rewritten.has(path[0] as string)) return false;
    const { node } = this.#frames[shared]!;
    const key = path[shared]!;
    const isNew = Array.isArray(node) ? key === node.length : typeof key === 'string' && !Object.hasOwn(node, key);
    return isNew && path.slice(shared + 1).every(step => typeof step === 'string' || step === 0);
  }

  #writeText(path: readonly Segment[], shared: number, value: Json): string {
    let text = this.#closeTo(shared);
    const frame = this.#frames[shared]!;
    if (frame.filled) text += ',';
    else if (shared === 0) text += '{';
    frame.filled = true;
    for (let i = shared; i < path.length; i++) {
      const step = path[i]!;
      if (i > shared) text += typeof step === 'number' ? '[' : '{';
      if (typeof step === 'string') text += `${JSON.stringify(step)}:`;
    }
    return text + JSON.stringify(value);
  }

  /** Writes the ends of what is open below this frame. */
  #closeTo(depth: number): string {
    let text = '';
    while (this.#frames.length - 1 > depth) text += Array.isArray(this.#frames.pop()!.node) ? ']' : '}';
    return text;
  }

  /** The list or object that holds the path's leaf, made where it is missing. `openFrom`: what is made stays open from this frame on. */
  #place(path: readonly Segment[], openFrom: number | undefined): Node {
    let node: Node = this.#root;
    for (let i = 0; i < path.length - 1; i++) {
      const wantsList = typeof path[i + 1] === 'number';
      let child = get(node, path[i]!);
      if (!isNode(child) || Array.isArray(child) !== wantsList) {
        child = (wantsList ? [] : Object.create(null)) as Node;
        set(node, path[i]!, child);
      }
      node = child as Node;
      if (openFrom !== undefined && i >= openFrom) this.#frames.push({ node, key: path[i]!, filled: true });
    }
    return node;
  }

  /** False for a path that would leave a large hole in a list. */
  #fits(path: readonly Segment[]): boolean {
    let node: Json | undefined = this.#root;
    for (const step of path) {
      if (typeof step === 'number' && step > (Array.isArray(node) ? node.length : 0) + MAX_GAP) return false;
      node = isNode(node) ? get(node, step) : undefined;
    }
    return true;
  }
}

function leafValue(leaf: Record<string, unknown>): Json | undefined {
  for (const kind of ['stringValue', 'numberValue', 'boolValue', 'structValue', 'listValue'] as const) {
    if (leaf[kind] !== undefined && leaf[kind] !== null) return leaf[kind] as Json;
  }
  return 'nullValue' in leaf ? null : undefined;
}

function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null;
}

function get(node: Node, key: Segment): Json | undefined {
  if (Array.isArray(node)) return typeof key === 'number' ? node[key] : undefined;
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

function set(node: Node, key: Segment, value: Json): void {
  if (!Array.isArray(node)) node[key] = value;
  else if (typeof key === 'number') {
    while (node.length < key) node.push(null);
    node[key] = value;
  }
}

/** A string's JSON text without its quotes. */
function inner(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
