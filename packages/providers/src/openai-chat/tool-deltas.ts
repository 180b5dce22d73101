import { type BlockWriter, isRecord, type JsonObject } from '@antiphon/engine';
import type { WireToolDelta } from './wire.js';

/** A call as far as it has come. `key` is ours: the server's ids and indices are neither unique nor certain. */
interface Call {
  readonly key: number;
  id: string;
  name: string;
  args: string;
  scan: JsonScan;
}

interface Piece {
  readonly id: string;
  readonly index: number | undefined;
  readonly name: string;
  readonly args: string;
}

/**
 * Puts the pieces of streamed tool calls together. Servers number them, or give ids, or both, or neither; number them all 0, give two calls
 * one id, or repeat a call. The rule: a piece belongs to the call with its id, else its index, else to the last one; a piece with a name
 * that meets a call whose arguments are already whole begins another call.
 */
export class ToolDeltas {
  readonly #blocks: BlockWriter;
  readonly #provider: string;
  readonly #byId = new Map<string, Call>();
  /** A map, not an array: an index may be four billion. */
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;
  /** The calls of the last delta that had several, in its order. */
  #row: readonly (Call | undefined)[] = [];
  #count = 0;
  /** Calls with an empty object that may only stand before the arguments: gateways hand on Anthropic's beginning of a call so. */
  readonly #held = new Set<Call>();

  constructor(blocks: BlockWriter, provider: string) {
    this.#blocks = blocks;
    this.#provider = provider;
  }

  /** The `tool_calls` of one delta or message. `finished`: the server has already said that the answer is complete. */
  addAll(deltas: readonly unknown[], finished: boolean): void {
    const row: (Call | undefined)[] = [];
    for (let place = 0; place < deltas.length; place++) {
      const delta = deltas[place];
      // Without id, index and name, several pieces are told apart by their order.
      if (isRecord(delta)) row[place] = this.#add(delta, place, finished, deltas.length > 1 ? this.#row[place] : undefined);
    }
    if (row.length > 1) this.#row = row;
  }

  /** Nothing more comes: an empty object that nothing followed is the arguments. */
  end(): void {
    for (const call of this.#held) this.#write(call, { id: call.id, name: '', args: call.args }, undefined);
    this.#held.clear();
  }

  /** The single call of the old dialect. */
  addFunctionCall(delta: Record<string, unknown>): void {
    this.#add({ index: 0, function: delta }, 0, false);
  }

  #add(delta: WireToolDelta, place: number, finished: boolean, alike?: Call): Call | undefined {
    const fn = isRecord(delta.function) ? delta.function : (delta as Record<string, unknown>);
    const id = typeof delta.id === 'string' ? delta.id : typeof delta.id === 'number' ? String(delta.id) : '';
    const index = indexOf(delta.index);
    const name = typeof fn.name === 'string' ? fn.name : '';
    const args = argumentText(fn.arguments);
    let call = (id === '' && name === '' && index === undefined ? alike : undefined) ?? this.#find({ id, index, name, args }, place);
    // A repetition may stand at another index.
    const known = call ?? this.#byId.get(id);
    if (known?.scan.complete && args.trim() !== '') {
      if (isRepetition(known, { id, name, args }, finished)) {
        this.#blocks.warn({
          code: 'malformed_event',
          message: `The server sent the call of "${known.name}" twice; the repetition was left out.`,
        });
        if (index !== undefined && !this.#byIndex.has(index)) this.#byIndex.set(index, known);
        return known;
      }
      if (name !== '') call = undefined;
    }
    call ??= this.#open(index);
    if (call.id === '' && id !== '') call.id = id;
    if (call.name === '') call.name = name;
    if (id !== '' && this.#byId.get(id) === undefined) this.#byId.set(id, call);
    this.#last = call;
    if (call.args === '' && args.trim() === '{}') this.#held.add(call);
    else if (args.trim() !== '' && this.#held.delete(call)) {
      call.args = '';
      call.scan = new JsonScan();
    }
    call.args += args;
    call.scan.add(args);
    // The call's first id: some servers make up a new one for each piece.
    this.#write(call, { id: call.id, name, args: this.#held.has(call) ? '' : args }, delta.extra_content);
    return call;
  }

  #find({ id, index, name, args }: Piece, place: number): Call | undefined {
    const byIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (id === '') {
      if (index !== undefined) return byIndex;
      // Two nameless ends of one delta cannot be told apart, but a second name in it is a second call.
      if (name !== '' && (place > 0 || (this.#last !== undefined && this.#last.name !== '' && this.#last.name !== name))) return undefined;
      return this.#last;
    }
    if (byIndex !== undefined && (byIndex.id === id || byIndex.id === '')) return byIndex;
    const byId = this.#byId.get(id);
    // Same id, other index: a second call with a stolen id has a name, a further piece has none.
    if (byId !== undefined && (index === undefined || byIndex !== undefined || name === '')) return byId;
    // Same index, other id, in the middle of the arguments: a server that makes up a new id for each piece.
    return byIndex !== undefined && continues(byIndex, name, args) ? byIndex : undefined;
  }

  #open(index: number | undefined): Call {
    const call: Call = { key: this.#count++, id: '', name: '', args: '', scan: new JsonScan() };
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #write(call: Call, piece: { id: string; name: string; args: string }, extra: unknown): void {
    const providerState = isRecord(extra) ? { [this.#provider]: { extra_content: extra as JsonObject } } : undefined;
    this.#blocks.toolCall(call.key, providerState === undefined ? piece : { ...piece, providerState });
  }
}

function continues(call: Call, name: string, args: string): boolean {
  if (call.scan.complete) return false;
  return name === '' || (name === call.name && call.scan.begun && args !== '' && !args.trimStart().startsWith('{'));
}

function isRepetition(call: Call, piece: Pick<Piece, 'id' | 'name' | 'args'>, finished: boolean): boolean {
  if (call.args !== piece.args) return false;
  if (piece.name === '') return true;
  if (call.name !== piece.name) return false;
  return piece.id === '' ? finished : call.id === piece.id;
}

function indexOf(value: unknown): number | undefined {
  const index = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : undefined;
}

/** Arguments come as JSON text, and from some servers as the value itself. */
function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  // An empty object may be followed by the real text, and means the same as nothing.
  if (isRecord(value) && Object.keys(value).length === 0) return '';
  return JSON.stringify(value);
}

/** Knows when a JSON object or array that comes in pieces is whole. It looks at each character once and checks nothing else. */
class JsonScan {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #opened = false;

  get begun(): boolean {
    return this.#opened;
  }

  get complete(): boolean {
    return this.#opened && this.#depth === 0;
  }

  add(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === 92) this.#escaped = true;
        else if (code === 34) this.#inString = false;
      } else if (code === 34) this.#inString = true;
      else if (code === 123 || code === 91) {
        this.#depth++;
        this.#opened = true;
      } else if (code === 125 || code === 93) this.#depth--;
    }
  }
}
