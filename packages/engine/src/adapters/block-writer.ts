import { isRecord, type Json, type JsonObject, jsonFault, MAX_JSON_DEPTH } from '../data/json.js';
import { parseLenient } from '../data/lenient-json.js';
import type { FilePart, ImagePart, InvalidCall, ProviderState, SourcePart, ToolCall } from '../data/parts.js';
import type { AdapterEvent, MessageEnd, MessageStart } from '../events/events.js';
import type { FinishReason, Warning } from '../events/finish.js';

interface OpenCall {
  index: number;
  id: string;
  /** The provider's own id, which may not be distinct. */
  givenId: string;
  name: string;
  raw: string;
  /** Its start event was written. That waits for the name, and so do arguments that came before it. */
  announced: boolean;
  done: boolean;
  providerState?: ProviderState;
}

/**
 * Turns what an adapter reads from the wire into well-formed block events, so that adapters only say what arrived. A push parser: call the
 * verbs, then `take()` the events. It numbers blocks, closes one when another kind begins, gives calls distinct ids, waits for late names,
 * parses arguments, and marks calls that were cut off.
 *
 * ```ts
 * const blocks = new BlockWriter();
 * blocks.start({ model: 'm' });
 * blocks.text('Hel');
 * blocks.text('lo');
 * blocks.end({ finishReason: 'stop', usage: {} });
 * yield* blocks.take();
 * ```
 */
export class BlockWriter {
  #events: AdapterEvent[] = [];
  #started = false;
  #ended = false;
  #next = 0;
  #open: { type: 'text' | 'reasoning'; index: number; text: string; providerState?: ProviderState } | undefined;
  readonly #calls = new Map<string | number, OpenCall>();
  readonly #ids = new Set<string>();

  /** The events since the last call. */
  take(): AdapterEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** True once a block has begun: from here on something was shown. */
  get hasContent(): boolean {
    return this.#next > 0;
  }

  /** True once a tool call has begun. */
  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  /** Opens the message; later calls do nothing, and any block opens it by itself. */
  start(about: Omit<MessageStart, 'type'> = {}): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({ type: 'message_start', ...about });
  }

  text(delta: string): void {
    if (delta === '') return;
    const block = this.#block('text');
    block.text += delta;
    this.#events.push({ type: 'text_delta', index: block.index, delta });
  }

  /** Adds reasoning text, and state to be sent back with its block. An empty delta with state makes a block of its own (redacted thinking). */
  reasoning(delta: string, providerState?: ProviderState): void {
    if (delta === '' && providerState === undefined) return;
    const block = this.#block('reasoning');
    block.text += delta;
    if (providerState) block.providerState = mergeState(block.providerState, providerState);
    if (delta !== '') this.#events.push({ type: 'reasoning_delta', index: block.index, delta });
  }

  /** Ends the open text or reasoning block, so that the next delta begins another. */
  endBlock(providerState?: ProviderState): void {
    const block = this.#open;
    if (!block) return;
    this.#open = undefined;
    const state = providerState ? mergeState(block.providerState, providerState) : block.providerState;
    this.#events.push({
      type: block.type === 'text' ? 'text_end' : 'reasoning_end',
      index: block.index,
      text: block.text,
      ...(state === undefined ? {} : { providerState: state }),
    });
  }

  source(source: SourcePart): void {
    this.#begin();
    this.#events.push({ type: 'source', index: this.#next++, source });
  }

  file(file: FilePart | ImagePart): void {
    this.#begin();
    this.#events.push({ type: 'file', index: this.#next++, file });
  }

  /** A provider's event as it came, for callers that asked for them. */
  raw(value: Json): void {
    this.start();
    this.#events.push({ type: 'raw', value });
  }

  warn(warning: Warning): void {
    this.#events.push({ type: 'warning', warning });
  }

  /**
   * Something about the call with this key (the provider's index or id): a first mention opens it; id and name may come late or again;
   * `args` is a further piece of the arguments' JSON text. An argument object that comes whole is passed as its JSON text. A name with another
   * id, once a call has both, begins a second call: some servers count every call as 0.
   */
  toolCall(key: string | number, piece: { id?: string; name?: string; args?: string; providerState?: ProviderState }): void {
    const known = this.#calls.get(key);
    const isAnother = known?.announced && piece.name && piece.id && known.givenId !== '' && piece.id !== known.givenId;
    if (isAnother) this.#finish(known, undefined);
    const call = known === undefined || isAnother ? this.#openCall(key) : known;
    if (call.done) return;
    if (!call.announced) {
      if (piece.id) call.id = call.givenId = piece.id;
      if (piece.name) call.name = piece.name;
    }
    if (piece.providerState) call.providerState = mergeState(call.providerState, piece.providerState);
    const args = piece.args ?? '';
    call.raw += args;
    if (!call.announced) {
      if (call.name !== '') this.#announce(call);
    } else if (args !== '') {
      this.#events.push({ type: 'tool_call_delta', index: call.index, id: call.id, delta: args });
    }
  }

  /** The call has all its arguments. Without this, `end` closes it. */
  endToolCall(key: string | number): void {
    const call = this.#calls.get(key);
    if (call) this.#finish(call, undefined);
  }

  /** Closes every block and the message. A call whose JSON is incomplete when the answer was cut is marked `truncated`. */
  end(about: Omit<MessageEnd, 'type'>): void {
    if (this.#ended) return;
    this.#ended = true;
    this.start();
    this.endBlock();
    for (const call of this.#calls.values()) this.#finish(call, about.finishReason);
    this.#events.push({ type: 'message_end', ...about });
  }

  #block(type: 'text' | 'reasoning') {
    if (this.#open?.type === type) return this.#open;
    this.#begin();
    this.#open = { type, index: this.#next++, text: '' };
    return this.#open;
  }

  #begin(): void {
    this.start();
    this.endBlock();
  }

  #openCall(key: string | number): OpenCall {
    this.#begin();
    const call: OpenCall = { index: this.#next++, id: '', givenId: '', name: '', raw: '', announced: false, done: false };
    this.#calls.set(key, call);
    return call;
  }

  #announce(call: OpenCall): void {
    call.announced = true;
    // Some servers give two calls one id, or none: a result must find its call.
    let id = call.id || newCallId();
    while (this.#ids.has(id)) id = newCallId();
    this.#ids.add(id);
    call.id = id;
    this.#events.push({ type: 'tool_call_start', index: call.index, id, name: call.name });
    if (call.raw !== '') this.#events.push({ type: 'tool_call_delta', index: call.index, id, delta: call.raw });
  }

  #finish(call: OpenCall, finishReason: FinishReason | undefined): void {
    if (call.done) return;
    call.done = true;
    if (!call.announced) this.#announce(call);
    const { call: read, repairs } = readToolCall(call, finishReason);
    if (repairs.length > 0) {
      const message = `The arguments of the call ${call.id} to ${call.name} were no plain JSON and were mended: ${repairs.join('; ')}.`;
      this.warn({ code: 'repaired_arguments', message });
    }
    this.#events.push({ type: 'tool_call', index: call.index, call: read });
  }
}

/** A call as an adapter has gathered it. */
interface RawCall {
  readonly id: string;
  readonly name: string;
  readonly raw: string;
  readonly providerState?: ProviderState;
}

/**
 * Reads a call's arguments. Nothing, `null` and `"null"` mean no arguments; nearly-JSON is mended as `parseLenient` does, but never what was
 * cut off; text that is no JSON object makes the call invalid. Never throws.
 *
 * ```ts
 * parseToolCall({ id: 'c1', name: 'add', raw: '{"a":1' }, 'length').invalid?.reason; // 'truncated'
 * ```
 */
export function parseToolCall(call: RawCall, finishReason?: FinishReason): ToolCall {
  return readToolCall(call, finishReason).call;
}

/** The call, and what had to be mended in its arguments. */
function readToolCall(
  { id, name, raw, providerState }: RawCall,
  finishReason?: FinishReason,
): { call: ToolCall; repairs: readonly string[] } {
  const base = { id, name, rawArguments: raw, ...(providerState === undefined ? {} : { providerState }) };
  const valid = (value: JsonObject, repairs: readonly string[] = []) => ({ call: { ...base, arguments: value }, repairs });
  const invalid = (reason: InvalidCall['reason'], message: string) => ({
    call: { ...base, arguments: {}, invalid: { reason, message } },
    repairs: [],
  });
  if (name === '') return invalid('unknown_tool', 'The call names no tool.');
  const text = raw.trim();
  if (text === '' || text === 'null' || text === '"null"' || text === '""') {
    return finishReason === 'length' && text !== 'null' ? invalid('truncated', CUT) : valid({});
  }
  try {
    const value = unwrapped(JSON.parse(text));
    // Only long text can nest that deeply, so the others need no look.
    const fault = text.length > MAX_JSON_DEPTH ? jsonFault(value) : undefined;
    if (fault) return invalid('invalid_json', `The arguments cannot be used: ${fault}.`);
    if (isRecord(value)) return valid(value as JsonObject);
    return invalid(
      'invalid_json',
      `The arguments must be a JSON object, but they are ${Array.isArray(value) ? 'an array' : typeof value}.`,
    );
  } catch (error) {
    if (finishReason === 'length' || finishReason === 'content_filter') return invalid('truncated', CUT);
    const mended = parseLenient(text);
    if ('value' in mended && isRecord(mended.value)) return valid(mended.value as JsonObject, mended.repairs);
    return invalid('invalid_json', `The arguments are not valid JSON: ${(error as Error).message}`);
  }
}

/** Some servers put the JSON text of the arguments into a JSON string. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return value;
  const inner: unknown = JSON.parse(value);
  return isRecord(inner) ? inner : value;
}

const CUT = 'The answer was cut off before the arguments were complete, so the tool was not run. Call it again with shorter arguments.';

function mergeState(a: ProviderState | undefined, b: ProviderState): ProviderState {
  const merged: Record<string, JsonObject> = { ...a };
  for (const [provider, state] of Object.entries(b)) merged[provider] = { ...merged[provider], ...state };
  return merged;
}

function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
}
