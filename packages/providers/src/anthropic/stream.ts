import { type BlockWriter, isRecord, type Json, type JsonObject } from '@antiphon/engine';
import type { AnswerParser } from '../http/answer-reader.js';
import { findServerError, type ServerError } from '../http/server-error.js';
import { filled } from '../http/wire-values.js';
import { type ContentBlock, openBlock, servedBy, ToolUseBlock } from './block.js';
import { PROVIDER } from './endpoint.js';
import { finishReason, isPause } from './finish.js';
import { UsageReport } from './usage.js';

/** Turns the events of one answer into block events. */
export class MessageReader implements AnswerParser {
  readonly #blocks: BlockWriter;
  readonly #messagesURL: URL;
  readonly #usage = new UsageReport();
  readonly #open = new Map<unknown, ContentBlock>();
  readonly #toolUses: ToolUseBlock[] = [];
  /** What the answer as a whole says beside its content. */
  readonly #state: Record<string, unknown> = {};
  readonly #about: { model?: string; responseId?: string } = {};
  #rawFinish: string | undefined;
  #lastIndex: unknown;
  #begun = false;
  #count = 0;
  readonly #warnedOf = new Set<string>();
  complete = false;
  error: ServerError | undefined;
  fault: string | undefined;

  constructor(blocks: BlockWriter, messagesURL: URL) {
    this.#blocks = blocks;
    this.#messagesURL = messagesURL;
  }

  /** `name` is the event's name outside its data, for data without a type. */
  accept(event: unknown, name = ''): void {
    if (this.error || this.fault || this.complete) return;
    if (!isRecord(event)) return;
    const type = typeof event.type === 'string' ? event.type : name;
    switch (type) {
      case 'message_start':
        this.#start(event.message);
        return;
      case 'content_block_start':
        if (isRecord(event.content_block)) this.#blockStart(event.index, event.content_block);
        return;
      case 'content_block_delta':
        if (isRecord(event.delta)) this.#blockDelta(event.index, event.delta);
        return;
      case 'content_block_stop':
        this.#blockStop(event.index ?? this.#lastIndex);
        return;
      case 'message_delta':
        this.#messageDelta(event);
        return;
      case 'message_stop':
        return this.#finish();
      // An answer in one piece.
      case 'message':
        this.#start(event);
        if (this.fault === undefined) this.#finish();
        return;
      case 'ping':
        return;
      default:
        // Kinds of events are added without notice and are to be passed over.
        this.error = findServerError(event);
    }
  }

  end(by: 'done' | 'events' | 'json'): string | undefined {
    const isStopped = this.#rawFinish !== undefined;
    if (by !== 'done') return `the stream ended without ${isStopped ? 'message_stop' : 'a stop reason'}`;
    // Not of this protocol, but gateways end their streams with it.
    if (isStopped) this.#finish();
    return undefined;
  }

  #finish(): void {
    this.complete = true;
    for (const index of this.#open.keys()) this.#blockStop(index);
    const reason = finishReason(this.#rawFinish, this.#blocks.hasCalls);
    for (const call of this.#toolUses) call.settle(reason === 'length');
    this.#keep('server_tool_use', this.#usage.serverTools);
    this.#keep('iterations', this.#usage.iterations);
    this.#begin();
    if (Object.keys(this.#state).length > 0) {
      this.#blocks.endBlock();
      this.#blocks.reasoning('', { [PROVIDER]: { message: this.#state as JsonObject } });
    }
    this.#blocks.end({
      finishReason: reason,
      ...(isPause(this.#rawFinish) ? { paused: true } : {}),
      ...(this.#rawFinish === undefined ? {} : { rawFinishReason: this.#rawFinish }),
      usage: this.#usage.read(),
      ...this.#about,
    });
  }

  #start(message: unknown): void {
    if (!isRecord(message)) return;
    const id = filled(message.id) ? message.id : undefined;
    const { responseId } = this.#about;
    if (responseId !== undefined && id !== undefined && id !== responseId) {
      this.fault = `the message ${id} began before ${responseId} had ended; two answers were mixed up`;
      return;
    }
    // The same beginning may come twice.
    const again = this.#begun || responseId !== undefined;
    if (id !== undefined) this.#about.responseId = id;
    if (filled(message.model)) this.#about.model ??= message.model;
    this.#usage.add(message.usage);
    if (again) return;
    // A turn that goes on after a server's tool, and an answer in one piece, begin with content that is already there.
    const content: readonly unknown[] = Array.isArray(message.content) ? message.content : [];
    for (const [i, block] of content.entries()) {
      if (!isRecord(block)) continue;
      this.#blockStart(i, block);
      this.#blockStop(i);
    }
    this.#ending(message);
  }

  #blockStart(index: unknown, start: Record<string, unknown>): void {
    // Another model goes on in the place of one that declined.
    const model = servedBy(start);
    if (model !== undefined) this.#about.model = model;
    this.#begin();
    // Blocks follow each other; a proxy may forget to end one.
    for (const [at, block] of this.#open) if (at === index || !(block instanceof ToolUseBlock)) this.#blockStop(at);
    const block = openBlock(start, { blocks: this.#blocks, key: this.#count++, messagesURL: this.#messagesURL });
    if (block instanceof ToolUseBlock) this.#toolUses.push(block);
    this.#open.set(index, block);
    this.#lastIndex = index;
  }

  #blockDelta(at: unknown, delta: Record<string, unknown>): void {
    const index = at ?? this.#lastIndex;
    if (!this.#open.has(index)) {
      const type = BEGINS.get(delta.type);
      if (type === undefined) {
        // A number was seen to be wrong: of the blocks that are open, it can only be of the last one.
        if (this.#open.get(this.#lastIndex)?.delta(delta)) return;
        return this.#warnOnce(`A piece of kind "${String(delta.type)}" belongs to no block and was left out.`);
      }
      this.#blockStart(index, { type });
    }
    if (!this.#open.get(index)?.delta(delta)) {
      this.#warnOnce(`A piece of the unknown kind "${String(delta.type)}" was left out.`);
    }
  }

  #blockStop(index: unknown): void {
    this.#open.get(index)?.close();
    this.#open.delete(index);
  }

  #messageDelta(event: Record<string, unknown>): void {
    this.#usage.add(event.usage);
    if (isRecord(event.delta)) this.#ending(event.delta);
    for (const name of ['context_management', 'input_transformations']) this.#keep(name, event[name]);
  }

  /** The fields that say how the answer ended. */
  #ending(about: Record<string, unknown>): void {
    if (filled(about.stop_reason)) this.#rawFinish = about.stop_reason;
    for (const name of ABOUT) this.#keep(name, about[name]);
  }

  #keep(name: string, value: unknown): void {
    if (value === undefined || value === null || isEmptyReport(value)) return;
    this.#state[name] = value as Json;
  }

  /** The message begins with its first content: until then a failed request can be repeated unseen. */
  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const usage = this.#usage.read();
    this.#blocks.start({ ...this.#about, ...(Object.keys(usage).length === 0 ? {} : { usage }) });
  }

  #warnOnce(message: string): void {
    if (this.#warnedOf.has(message)) return;
    this.#warnedOf.add(message);
    this.#blocks.warn({ code: 'malformed_event', message });
  }
}

/** What a message says about itself as a whole. */
const ABOUT = ['stop_sequence', 'stop_details', 'container', 'context_management', 'input_transformations', 'diagnostics'];

/** The kinds of block that a delta can begin by itself. */
const BEGINS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
]);

/** `{ applied_edits: [] }` or `[]`: nothing was done. */
function isEmptyReport(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(item => Array.isArray(item) && item.length === 0);
}
