import { type AdapterEvent, type BlockWriter, isRecord } from '@antiphon/engine';
import type { AnswerParser } from '../http/answer-reader.js';
import { findServerError, type ServerError } from '../http/server-error.js';
import { namesOf } from '../http/usage.js';
import { UsageReport } from '../openai-chat/usage.js';
import { finishOf } from './finish.js';
import { ItemWriter, isCall, type OpenItem } from './item-writer.js';

type Wire = Record<string, unknown>;

/**
 * Reads the events of one response. Items are told apart by their place in the output: some proxies give them a new id with each event. An
 * answer that came as one JSON value is read as its last event would be.
 */
export class ResponseReader implements AnswerParser {
  readonly #items: ItemWriter;
  readonly #byIndex = new Map<number, OpenItem>();
  /** For events that do not say their place. */
  readonly #places = new Map<unknown, number>();
  readonly #ended = new Set<OpenItem>();
  readonly #usage = new UsageReport();
  /** The text or reasoning that is being written. Events of other items wait, because blocks do not interleave. */
  #current: { readonly index: number; readonly open: OpenItem } | undefined;
  #held: (readonly [type: string, index: number, event: Wire])[] = [];
  #lastIndex = 0;
  #warnedOfSound = false;
  complete = false;
  error: ServerError | undefined;

  constructor(provider: string, toolNames: ReadonlySet<string>, callable?: ReadonlySet<string>) {
    this.#items = new ItemWriter(provider, toolNames, callable);
  }

  get blocks(): BlockWriter {
    return this.#items.blocks;
  }

  take(): AdapterEvent[] {
    return this.#items.take();
  }

  /** Takes one event; `name` is its name in the stream, for servers that put its type only there. */
  accept(event: unknown, name = ''): void {
    if (!isRecord(event)) return;
    const type = typeof event.type === 'string' ? event.type : name !== '' ? name : isResponse(event) ? 'response' : '';
    switch (type) {
      case 'response.output_text.delta':
        return this.#inOrder(type, event);
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return this.#readAbout(event.response);
      case 'response':
        return this.#end(event);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return this.#end({ status: type.slice('response.'.length), ...(isRecord(event.response) ? event.response : {}) });
      // OpenRouter's words for the end, whatever it is, and for an error.
      case 'response.done':
        return this.#end(isRecord(event.response) ? event.response : {});
      case 'response.error':
      case 'error':
        this.error = findServerError(event) ?? { message: JSON.stringify(event), codes: [] };
        return;
      case '':
        this.error = findServerError(event);
        return;
      case 'response.audio.delta':
        if (!this.#warnedOfSound)
          this.blocks.warn({ code: 'other', message: 'The answer has sound in it, which this adapter does not read.' });
        this.#warnedOfSound = true;
        return;
      default:
        if (type.startsWith('response.')) this.#inOrder(type, event);
        else if (event.error) this.error = findServerError(event);
    }
  }

  /** An end that cannot be read is an end all the same. */
  unreadable(data: string, name: string): void {
    const type = name === '' ? /^\s*\{\s*"type"\s*:\s*"([a-z_.]+)"/.exec(data.slice(0, 200))?.[1] : name;
    if (type === 'response.completed') this.#end({});
  }

  /** Also by `[DONE]`, with which gateways end their streams: a socket that stays open says no more. */
  end(): string {
    this.#flush();
    return 'the stream ended before the response was complete';
  }

  /** Nothing more will come: what waited for its turn is told. */
  #flush(): void {
    while (this.#current || this.#held.length > 0) {
      if (this.#current) this.#close(this.#current.open);
      else this.#release();
    }
  }

  #inOrder(type: string, event: Wire): void {
    const index = typeof event.output_index === 'number' ? event.output_index : this.#placeOf(event);
    this.#lastIndex = index;
    if (this.#current && this.#current.index !== index) this.#held.push([type, index, event]);
    else this.#item(type, index, event);
  }

  /** Where an event belongs that does not say it: by its item's id, else to the last item; behind that one, when it is over. */
  #placeOf({ item, item_id }: Wire): number {
    const known = this.#places.get(isRecord(item) ? item.id : item_id);
    const last = this.#byIndex.get(this.#lastIndex);
    if (known !== undefined || !isRecord(item) || !last || !this.#ended.has(last)) return known ?? this.#lastIndex;
    return this.#byIndex.size;
  }

  #item(type: string, index: number, event: Wire): void {
    switch (type) {
      case 'response.output_item.added':
        if (isRecord(event.item)) this.#begin(index, String(event.item.type), event.item);
        return;
      case 'response.output_item.done':
        if (!isRecord(event.item)) return;
        if (this.#isAnother(index, event.item)) this.#byIndex.delete(index);
        return this.#finish(index, event.item);
      case 'response.output_text.delta':
      case 'response.content_part.delta':
      case 'response.refusal.delta':
        return this.#text(index, event, event.delta);
      case 'response.output_text.done':
        return this.#text(index, event, event.text, true);
      case 'response.refusal.done':
        return this.#text(index, event, event.refusal, true);
      case 'response.output_text.annotation.added':
        this.#openAt(index, 'message')?.annotations.push(event.annotation);
        return;
      case 'response.reasoning_summary_text.delta':
        return this.#reasoning(index, 'summary', event.summary_index, event.delta);
      case 'response.reasoning_summary_text.done':
        return this.#reasoning(index, 'summary', event.summary_index, event.text, true);
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        return this.#reasoning(index, 'content', event.content_index, event.delta);
      case 'response.reasoning_text.done':
      case 'response.reasoning.done':
        return this.#reasoning(index, 'content', event.content_index, event.text, true);
      case 'response.function_call_arguments.delta':
        return this.#args(index, 'function_call', event.delta);
      case 'response.function_call_arguments.done':
        return this.#args(index, 'function_call', event.arguments, true);
      case 'response.custom_tool_call_input.delta':
        return this.#args(index, 'custom_tool_call', event.delta);
      case 'response.custom_tool_call_input.done':
        return this.#args(index, 'custom_tool_call', event.input, true);
      // The others tell how far a tool or a part has come; the item itself says it all when it is done.
    }
  }

  #text(index: number, event: Wire, text: unknown, whole = false): void {
    const open = this.#openAt(index, 'message');
    if (!open || typeof text !== 'string') return;
    const part = indexOf(event.content_index);
    if (String(event.type).startsWith('response.refusal')) this.#items.refused = true;
    if (whole) this.#items.fill(open, part, text, rest => this.#items.text(open, part, rest));
    else this.#items.text(open, part, text);
  }

  #reasoning(index: number, sort: 'summary' | 'content', place: unknown, text: unknown, whole = false): void {
    const open = this.#openAt(index, 'reasoning');
    if (!open || typeof text !== 'string') return;
    const part = indexOf(place);
    if (!whole) this.#items.reasoning(open, sort, part, text);
    else if ((open.reasoning ?? sort) === sort) this.#items.fill(open, part, text, rest => this.#items.reasoning(open, sort, part, rest));
  }

  #args(index: number, kind: string, args: unknown, whole = false): void {
    const open = this.#openAt(index, kind);
    if (!open || typeof args !== 'string') return;
    if (whole) this.#items.fill(open, 0, args, rest => this.#items.args(open, rest));
    else this.#items.args(open, args);
  }

  /** The item at this place; begun here when its own beginning was lost. Undefined when it is over, or of another kind. */
  #openAt(index: number, kind: string): OpenItem | undefined {
    const open = this.#byIndex.get(index) ?? this.#begin(index, kind, {});
    return open.kind === kind && !this.#ended.has(open) ? open : undefined;
  }

  #begin(index: number, kind: string, item: Wire): OpenItem {
    const before = this.#byIndex.get(index);
    if (before) this.#close(before);
    const open = this.#items.open(kind, item);
    this.#byIndex.set(index, open);
    if (typeof item.id === 'string') this.#places.set(item.id, index);
    if (kind === 'message' || kind === 'reasoning') this.#current = { index, open };
    return open;
  }

  #finish(index: number, item: Wire): void {
    const before = this.#byIndex.get(index);
    if (before && this.#ended.has(before)) return;
    const kind = String(item.type);
    const open = before?.kind === kind ? before : this.#begin(index, kind, isCall(kind) ? item : {});
    this.#ended.add(open);
    if (typeof item.id === 'string') this.#places.set(item.id, index);
    this.#items.end(open, item);
    this.#next(open);
  }

  /** The end of another item than the one that has ended there: servers that tell ends only may give all items one place. */
  #isAnother(index: number, item: Wire): boolean {
    const before = this.#byIndex.get(index);
    if (!before || !this.#ended.has(before)) return false;
    return before.kind !== item.type || (before.callId !== undefined && before.callId !== item.call_id);
  }

  /** An item that never came to its end. What is there of it stays. */
  #close(open: OpenItem): void {
    if (this.#ended.has(open)) return;
    this.#ended.add(open);
    if (isCall(open.kind)) this.blocks.endToolCall(open.key);
    else this.blocks.endBlock();
    this.#items.cite(open.annotations);
    this.#next(open);
  }

  #next(ended: OpenItem): void {
    if (this.#current?.open !== ended) return;
    this.#current = undefined;
    this.#release();
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const [type, index, event] of held) {
      if (this.#current && this.#current.index !== index) this.#held.push([type, index, event]);
      else this.#item(type, index, event);
    }
  }

  #end(response: Wire): void {
    this.#readAbout(response);
    const { status } = response;
    if (status === 'failed' || status === 'cancelled') {
      this.#flush();
      this.error = findServerError({ error: response.error }) ?? {
        message: `The response ${status === 'failed' ? 'failed' : 'was cancelled'}.`,
        codes: [],
      };
      return;
    }
    this.#catchUp(Array.isArray(response.output) ? response.output : []);
    this.#flush();
    this.#items.finish();
    this.#usage.add(response.usage);
    const { refused: refusal, names } = this.#items;
    this.blocks.end({ ...finishOf(response, { calls: this.blocks.hasCalls, refusal }), usage: this.#usage.read(false), ...names });
    this.complete = true;
  }

  /** Items that were not told one by one, from the response as a whole. Ids cannot tell which; the order does. */
  #catchUp(output: readonly unknown[]): void {
    const current = this.#current && output[this.#current.index];
    if (this.#current && isRecord(current) && current.type === this.#current.open.kind) this.#finish(this.#current.index, current);
    // A server that gives all items one place has told them all by now.
    if (this.#ended.size >= output.length) return;
    for (const [index, item] of output.entries()) if (isRecord(item)) this.#finish(index, item);
  }

  #readAbout(response: unknown): void {
    if (!isRecord(response)) return;
    this.#items.names = { ...this.#items.names, ...namesOf(response) };
    if (typeof response.store === 'boolean') this.#items.stored = response.store;
  }
}

/** A whole answer, from servers that do not name it so too. */
function isResponse({ object, output, error }: Wire): boolean {
  return object === 'response' || (Array.isArray(output) && !error);
}

function indexOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 10_000 ? value : 0;
}
