import { type BlockWriter, isRecord, type JsonObject } from '@antiphon/engine';
import { parseJson } from '../http/errors.js';
import { filled } from '../http/wire-values.js';
import { PROVIDER } from './endpoint.js';
import { citationSource, resultParts } from './results.js';

/**
 * One content block of an answer while it comes in: `delta` each piece, then `close`. What a block holds beside the neutral part (a
 * signature, citations, the caller of a tool) is kept in the part's provider state under the same names. A block that no neutral part can
 * be (redacted thinking, a server's tool and its result, a compaction, whatever comes next year) is kept whole, as `block`, in a reasoning
 * part without text.
 */
export interface ContentBlock {
  /** False for a kind of delta that this block does not know. */
  delta(delta: Record<string, unknown>): boolean;
  close(): void;
}

export interface BlockContext {
  readonly blocks: BlockWriter;
  /** Distinct for each block of the answer. */
  readonly key: number;
  readonly messagesURL: URL;
}

export function openBlock(start: Record<string, unknown>, context: BlockContext): ContentBlock {
  switch (start.type) {
    case 'text':
      return new TextBlock(start, context.blocks);
    case 'thinking':
      return new ThinkingBlock(start, context.blocks);
    case 'tool_use':
      return new ToolUseBlock(start, context);
    default:
      return new OpaqueBlock(start, context);
  }
}

/** The model that writes from this block on; undefined for any but the mark of a change. */
export function servedBy({ type, to }: Record<string, unknown>): string | undefined {
  return type === 'fallback' && isRecord(to) && filled(to.model) ? to.model : undefined;
}

/** The state of a part: the block's own fields but for those that the neutral part holds; undefined when nothing is left. */
function stateOf(block: Record<string, unknown>, ...known: string[]): { [PROVIDER]: JsonObject } | undefined {
  const rest = Object.entries(block).filter(([name, value]) => !known.includes(name) && value !== null && value !== undefined);
  return rest.length === 0 ? undefined : { [PROVIDER]: Object.fromEntries(rest) as JsonObject };
}

class TextBlock implements ContentBlock {
  readonly #citations: unknown[] = [];
  readonly #fields: Record<string, unknown>;
  readonly #blocks: BlockWriter;

  constructor({ text, citations, ...fields }: Record<string, unknown>, blocks: BlockWriter) {
    this.#fields = fields;
    this.#blocks = blocks;
    blocks.endBlock();
    if (Array.isArray(citations)) this.#citations.push(...citations.filter(isRecord));
    if (typeof text === 'string') blocks.text(text);
  }

  delta(delta: Record<string, unknown>): boolean {
    if (delta.type === 'text_delta') {
      if (typeof delta.text === 'string') this.#blocks.text(delta.text);
    } else if (delta.type === 'citations_delta') {
      if (isRecord(delta.citation)) this.#citations.push(delta.citation);
    } else return false;
    return true;
  }

  close(): void {
    const citations = this.#citations.length === 0 ? undefined : this.#citations;
    this.#blocks.endBlock(stateOf({ ...this.#fields, citations }, 'type'));
    // A source is a part of its own, and so follows the text that rests on it.
    for (const citation of this.#citations) {
      const source = citationSource(citation);
      if (source) this.#blocks.source(source);
    }
  }
}

class ThinkingBlock implements ContentBlock {
  readonly #fields: Record<string, unknown>;
  readonly #blocks: BlockWriter;

  constructor({ thinking, ...fields }: Record<string, unknown>, blocks: BlockWriter) {
    this.#fields = fields;
    this.#blocks = blocks;
    blocks.endBlock();
    if (typeof thinking === 'string') blocks.reasoning(thinking);
  }

  delta(delta: Record<string, unknown>): boolean {
    if (delta.type === 'thinking_delta') {
      if (typeof delta.thinking === 'string') this.#blocks.reasoning(delta.thinking);
    } else if (delta.type === 'signature_delta') this.#fields.signature = delta.signature;
    else return false;
    return true;
  }

  close(): void {
    const state = stateOf(this.#fields, 'type');
    // A block may have a signature and no text to show; it must go back all the same.
    if (state && state[PROVIDER].signature !== '') this.#blocks.reasoning('', state);
    this.#blocks.endBlock();
  }
}

export class ToolUseBlock implements ContentBlock {
  readonly #blocks: BlockWriter;
  readonly #key: number;
  readonly #input: unknown;
  #args = '';

  constructor(start: Record<string, unknown>, { blocks, key }: BlockContext) {
    this.#blocks = blocks;
    this.#key = key;
    this.#input = start.input;
    const providerState = stateOf(start, 'type', 'id', 'name', 'input');
    blocks.toolCall(key, {
      ...(typeof start.id === 'string' ? { id: start.id } : {}),
      ...(typeof start.name === 'string' ? { name: start.name } : {}),
      ...(providerState === undefined ? {} : { providerState }),
    });
  }

  delta(delta: Record<string, unknown>): boolean {
    if (delta.type !== 'input_json_delta') return false;
    if (typeof delta.partial_json === 'string') {
      this.#args += delta.partial_json;
      this.#blocks.toolCall(this.#key, { args: delta.partial_json });
    }
    return true;
  }

  /**
   * A block also ends when the answer is cut off, and the reason comes later: only arguments that are whole by themselves end the call here;
   * `settle` does the rest.
   */
  close(): void {
    if (this.#args === '' && isRecord(this.#input) && Object.keys(this.#input).length > 0) {
      this.#args = JSON.stringify(this.#input);
      this.#blocks.toolCall(this.#key, { args: this.#args });
    }
    if (parseJson(this.#args) !== undefined) this.#blocks.endToolCall(this.#key);
  }

  /** The answer is over. A call without a word of arguments has none, unless they were cut off. */
  settle(cut: boolean): void {
    if (this.#args.trim() === '' && !cut) this.#blocks.toolCall(this.#key, { args: '{}' });
  }
}

class OpaqueBlock implements ContentBlock {
  readonly #block: Record<string, unknown>;
  readonly #context: BlockContext;
  #input = '';

  constructor(start: Record<string, unknown>, context: BlockContext) {
    this.#block = { ...start };
    this.#context = context;
  }

  delta({ type, ...fields }: Record<string, unknown>): boolean {
    if (type === 'input_json_delta') {
      if (typeof fields.partial_json === 'string') this.#input += fields.partial_json;
      return true;
    }
    for (const [name, piece] of Object.entries(fields)) {
      // Null adds nothing to what has come.
      if (piece === null && Object.hasOwn(this.#block, name)) continue;
      const before = Object.hasOwn(this.#block, name) ? this.#block[name] : undefined;
      const joined = typeof before === 'string' && typeof piece === 'string' ? before + piece : piece;
      Object.defineProperty(this.#block, name, { value: joined, enumerable: true, configurable: true, writable: true });
    }
    return true;
  }

  close(): void {
    const { blocks, messagesURL } = this.#context;
    // The first piece, with the brace, has been seen missing.
    const input = this.#input === '' ? undefined : (parseJson(this.#input) ?? parseJson(`{${this.#input}`));
    if (isRecord(input)) this.#block.input = input;
    blocks.endBlock();
    blocks.reasoning('', { [PROVIDER]: { block: this.#block as JsonObject } });
    blocks.endBlock();
    for (const part of resultParts(this.#block, messagesURL)) {
      if (part.type === 'file') blocks.file(part);
      else blocks.source(part);
    }
  }
}
