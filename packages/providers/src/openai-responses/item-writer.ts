import { type AdapterEvent, BlockWriter, isRecord, type JsonObject, parseToolCall, type SourcePart, type ToolCall } from '@antiphon/engine';
import { parseJson } from '../http/errors.js';
import type { AnswerNames } from '../http/usage.js';
import { HOSTED, waitingFor } from './hosted-items.js';
import { type ItemState, stateOf, textField, withoutTexts } from './item-state.js';
import { isWrapper, unwrapCalls } from './parallel-wrapper.js';
import { annotationSource, madeFiles, searchSources, sourceKey } from './sources.js';

type Wire = Record<string, unknown>;

/** An output item as far as it has come. */
export interface OpenItem {
  /** Ours: the server's ids change from event to event at some proxies. */
  readonly key: number;
  readonly kind: string;
  readonly callId: unknown;
  /** What was streamed of each part of its content; a call has one. */
  readonly pieces: string[];
  readonly annotations: unknown[];
  /** Of a summary and the full reasoning, the one that came first is shown. */
  reasoning?: 'summary' | 'content';
  /** What a call ended with, when that is not what was streamed of it. */
  instead?: string;
  /** A call that may hold others, or may be the server's own, is told when it is whole. */
  wrapper: boolean;
}

/**
 * Writes output items as blocks. Text, reasoning and calls stream; each item ends with what has to be sent back, as state of its block. An
 * item that is nothing of these (a tool that the provider ran) is kept as a reasoning block without text.
 */
export class ItemWriter {
  readonly blocks = new BlockWriter();
  readonly #provider: string;
  readonly #toolNames: ReadonlySet<string>;
  readonly #callable: ReadonlySet<string> | undefined;
  #ready: AdapterEvent[] = [];
  #count = 0;
  #begun = false;
  #lastReasoning: string | undefined;
  readonly #told = new Set<string>();
  readonly #waiting = new Map<string, string>();
  names: AnswerNames = {};
  stored: boolean | undefined;
  refused = false;

  /** `callable`: the tools that the caller runs, at a server that also shows calls of its own tools. */
  constructor(provider: string, toolNames: ReadonlySet<string>, callable?: ReadonlySet<string>) {
    this.#provider = provider;
    this.#toolNames = toolNames;
    this.#callable = callable;
  }

  take(): AdapterEvent[] {
    const events = [...this.#ready, ...this.blocks.take()];
    this.#ready = [];
    return events;
  }

  open(kind: string, item: Wire = {}): OpenItem {
    const wrapper = isCall(kind) && ((kind === 'function_call' && isWrapper(item.name, this.#toolNames)) || this.#isServers(item));
    const open: OpenItem = { key: this.#count++, kind, callId: item.call_id, pieces: [], annotations: [], wrapper };
    if (isCall(kind) && !wrapper) this.#call(open, item, '');
    return open;
  }

  text(open: OpenItem, part: number, delta: string): void {
    if (delta === '') return;
    this.#begin();
    open.pieces[part] = (open.pieces[part] ?? '') + delta;
    this.blocks.text(delta);
  }

  reasoning(open: OpenItem, sort: 'summary' | 'content', part: number, delta: string): void {
    open.reasoning ??= sort;
    if (delta === '' || open.reasoning !== sort) return;
    this.#begin();
    const between = open.pieces[part] === undefined && open.pieces.length > 0 ? '\n\n' : '';
    open.pieces[part] = (open.pieces[part] ?? '') + delta;
    this.blocks.reasoning(between + delta);
  }

  args(open: OpenItem, delta: string): void {
    if (delta === '') return;
    open.pieces[0] = (open.pieces[0] ?? '') + delta;
    if (!open.wrapper) this.#call(open, {}, delta);
  }

  /** The whole of a part that was streamed: what is missing of it is made up for. */
  fill(open: OpenItem, part: number, whole: unknown, write: (rest: string) => void): void {
    if (typeof whole !== 'string') return;
    const sent = open.pieces[part] ?? '';
    if (whole === sent) return;
    if (whole.startsWith(sent)) write(whole.slice(sent.length));
    // Some proxies seal the pieces of a call and tell its arguments at the end.
    else if (open.kind === 'function_call' && !isRecord(parseJson(sent))) open.instead ??= whole;
    else this.#warn('malformed_event', `The ${open.kind} item ended with another content than was streamed; what was streamed is kept.`);
  }

  /** The item is whole. */
  end(open: OpenItem, item: Wire): void {
    this.#begin();
    switch (item.type) {
      case 'message':
        return this.#endMessage(open, item);
      case 'reasoning':
        return this.#endReasoning(open, item);
      case 'function_call':
        return this.#endCall(open, item);
      case 'custom_tool_call':
        return this.#isServers(item) ? this.#keep(item) : this.#endCall(open, item);
      default:
        return this.#keep(item);
    }
  }

  /** The response is over: what waits for an answer is told. */
  finish(): void {
    this.#begin();
    this.blocks.endBlock();
    for (const message of this.#waiting.values()) this.#warn('other', message);
  }

  cite(annotations: readonly unknown[]): void {
    for (const annotation of annotations) {
      const source = annotationSource(annotation, this.#provider);
      if (source) this.#source(source);
    }
  }

  #endMessage(open: OpenItem, item: Wire): void {
    const content = Array.isArray(item.content) ? item.content.filter(isRecord) : [];
    for (const [i, part] of content.entries()) {
      if (part.type === 'refusal') this.refused = true;
      this.fill(open, i, textField(part) && part[textField(part)!], rest => this.text(open, i, rest));
    }
    if (open.pieces.length === 0) this.#carry(item);
    else {
      const chars = content.map((_, i) => open.pieces[i]?.length ?? 0);
      this.blocks.endBlock(this.#state({ ...item, content: withoutTexts(content) }, { chars }));
    }
    // They would divide the text where they stand.
    this.cite([...open.annotations, ...content.flatMap(part => (Array.isArray(part.annotations) ? part.annotations : []))]);
  }

  #endReasoning(open: OpenItem, item: Wire): void {
    for (const sort of ['summary', 'content'] as const) {
      const parts = Array.isArray(item[sort]) ? item[sort].filter(isRecord) : [];
      if (parts.length === 0 || (open.reasoning ?? sort) !== sort) continue;
      for (const [i, part] of parts.entries()) this.fill(open, i, part.text, rest => this.reasoning(open, sort, i, rest));
    }
    this.blocks.reasoning('', this.#state(item, this.stored === true ? { stored: true } : {}));
    this.blocks.endBlock();
    if (typeof item.id === 'string') this.#lastReasoning = item.id;
  }

  #endCall(open: OpenItem, item: Wire): void {
    const isCustom = item.type === 'custom_tool_call';
    this.fill(open, 0, isCustom ? item.input : item.arguments, rest => this.args(open, rest));
    const whole = open.instead ?? open.pieces[0] ?? '';
    const inner = open.wrapper ? unwrapCalls(whole, this.#toolNames) : undefined;
    if (inner) {
      for (const [i, { name, args }] of inner.entries()) {
        const key = `${open.key}.${i}`;
        this.blocks.toolCall(key, { id: `${item.call_id}_${i}`, name, args });
        this.blocks.endToolCall(key);
      }
      return;
    }
    this.#call(open, item, open.wrapper ? whole : '', this.#state({ ...item, [isCustom ? 'input' : 'arguments']: '' }));
    if (open.instead !== undefined)
      this.#warn('malformed_event', `The ${open.kind} item ended with other arguments than were streamed; those at its end count.`);
    if (isCustom) this.#endAs(open, freeText);
    else if (open.instead !== undefined) this.#endAs(open, call => parseToolCall({ ...call, raw: whole }));
    else this.blocks.endToolCall(open.key);
  }

  /** Ends a call as something else than the JSON that was streamed; whether that could be read is of no interest. */
  #endAs(open: OpenItem, change: (call: ToolCall) => ToolCall): void {
    this.#ready.push(...this.blocks.take());
    this.blocks.endToolCall(open.key);
    for (const event of this.blocks.take()) {
      if (event.type === 'warning') continue;
      this.#ready.push(event.type === 'tool_call' ? { ...event, call: change(event.call) } : event);
    }
  }

  /** A call of a tool that the request does not have, at a server that shows those of its own tools. */
  #isServers({ name }: Wire): boolean {
    return this.#callable !== undefined && !this.#callable.has(String(name));
  }

  /** An item of a tool that the provider runs, or of a kind that nobody knows yet. */
  #keep(item: Wire): void {
    const type = String(item.type);
    const files = madeFiles(item);
    // The picture is the next part. Bare results are no input.
    if (type !== 'search_results') this.#carry(type === 'image_generation_call' && files.length > 0 ? { ...item, result: '' } : item);
    for (const file of files) this.blocks.file(file);
    for (const source of searchSources(item)) this.#source(source);
    if (type.endsWith('_output')) this.#waiting.delete(String(item.call_id));
    const message = waitingFor(item);
    if (message !== undefined) this.#waiting.set(String(item.call_id ?? item.id), message);
    else if (!HOSTED.has(type)) {
      this.#warn('other', `The answer has an item of the unknown kind "${type}"; it is kept for the next request, and not shown.`);
    }
  }

  #carry(item: Wire): void {
    this.blocks.endBlock();
    this.blocks.reasoning('', this.#state(item));
    this.blocks.endBlock();
  }

  #call(open: OpenItem, item: Wire, args: string, providerState?: ReturnType<typeof stateOf>): void {
    this.#begin();
    const id = typeof item.call_id === 'string' ? item.call_id : '';
    const name = typeof item.name === 'string' ? item.name : '';
    this.blocks.toolCall(open.key, { id, name, args, ...(providerState === undefined ? {} : { providerState }) });
  }

  #state(item: Wire, more: Partial<ItemState> = {}): ReturnType<typeof stateOf> {
    return stateOf(this.#provider, {
      item: item as JsonObject,
      ...more,
      ...(this.#lastReasoning === undefined || item.type === 'reasoning' ? {} : { after: this.#lastReasoning }),
      ...(this.names.responseId === undefined ? {} : { response: this.names.responseId }),
    });
  }

  #source(source: SourcePart): void {
    const key = sourceKey(source);
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.blocks.source(source);
  }

  #warn(code: 'other' | 'malformed_event', message: string): void {
    this.blocks.warn({ code, message });
  }

  /** The message begins with its first content: until then a failed request can be repeated unseen. */
  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.blocks.start(this.names);
  }
}

export function isCall(kind: string): boolean {
  return kind === 'function_call' || kind === 'custom_tool_call';
}

/** Free text is no JSON and not to be mended: the tool gets it as `{ input }`. */
function freeText({ invalid: _, ...call }: ToolCall): ToolCall {
  return { ...call, arguments: { input: call.rawArguments } };
}
