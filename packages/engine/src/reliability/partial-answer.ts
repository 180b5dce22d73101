import type { ChatRequest } from '../adapters/chat.js';
import { assistant } from '../data/messages.js';
import { addUsage, type Usage } from '../data/usage.js';
import type { AdapterEvent } from '../events/events.js';

interface Block {
  readonly type: 'text' | 'reasoning';
  text: string;
  /** The part that came in earlier tries; a later try only knows its own. */
  before: string;
  ended: boolean;
}

/**
 * What the reader has seen of one answer, over several tries. It numbers the blocks of a later try so that all of them make one message, and
 * sums what each try used. It does not decide whether another try is made.
 */
export class PartialAnswer {
  readonly #blocks = new Map<number, Block>();
  #next = 0;
  #started = false;
  /** Something else than text and reasoning was shown: a call, a source, a file. */
  #hasMore = false;
  #ended = false;
  /** Where the blocks of the present try go; undefined while they keep their numbers. */
  #places: Map<number, number> | undefined;
  #openText: number | undefined;
  /** Reported by tries that broke off. */
  #lost: Usage = {};
  #reported: Usage | undefined;

  /** The text so far, in all blocks. */
  get text(): string {
    let text = '';
    for (const [, block] of [...this.#blocks].sort(([a], [b]) => a - b)) if (block.type === 'text') text += block.text;
    return text;
  }

  get hasOnlyReasoning(): boolean {
    return !this.#hasMore && !this.#ended && this.text === '';
  }

  /** There is text, and nothing else that another try would have to know. */
  get isOnlyText(): boolean {
    return !this.#hasMore && !this.#ended && this.text !== '';
  }

  /** The present try continues an earlier one. */
  get goesOn(): boolean {
    return this.#places !== undefined;
  }

  /** An event of the present try as the reader must see it: none, one or two. */
  show(event: AdapterEvent): AdapterEvent[] {
    switch (event.type) {
      case 'message_start': {
        this.#reported = event.usage;
        if (this.#started) return [];
        this.#started = true;
        return [event];
      }
      case 'text_delta':
      case 'reasoning_delta': {
        const [index, block] = this.#place(event.index, event.type === 'text_delta' ? 'text' : 'reasoning');
        block.text += event.delta;
        return [{ ...event, index }];
      }
      case 'text_end':
      case 'reasoning_end': {
        const [index, block] = this.#place(event.index, event.type === 'text_end' ? 'text' : 'reasoning');
        block.text = block.before + event.text;
        block.ended = true;
        return [{ ...event, index, text: block.text }];
      }
      case 'message_end': {
        this.#ended = true;
        return [...(this.#places ? this.#close() : []), { ...event, usage: addUsage(this.#lost, event.usage) }];
      }
      case 'warning':
      case 'raw':
        return [event];
      default:
        this.#hasMore = true;
        return [{ ...event, index: this.#indexOf(event.index) }];
    }
  }

  /** The present try has failed; `shown`: after the reader saw some of it. What it used was spent all the same. */
  breakOff(shown: boolean): void {
    if (this.#reported) this.#lost = addUsage(this.#lost, this.#reported);
    this.#reported = undefined;
    if (!shown && !this.#places) this.restart();
  }

  /** Nothing that was shown counts: the next try makes the message anew. */
  restart(): void {
    this.#blocks.clear();
    this.#places = undefined;
    this.#next = 0;
    this.#started = false;
  }

  /** The next try goes on behind the text. Returns the ends of the blocks that it will not go on with. */
  goOn(): AdapterEvent[] {
    this.#places = new Map();
    const last = [...this.#blocks.keys()].sort((a, b) => a - b).at(-1);
    const block = last === undefined ? undefined : this.#blocks.get(last);
    this.#openText = block?.type === 'text' && !block.ended ? last : undefined;
    if (block) block.before = block.text;
    return this.#close(this.#openText);
  }

  /** The request for the next try. */
  request(first: ChatRequest): ChatRequest {
    return this.#places ? { ...first, messages: [...first.messages, assistant(this.text)] } : first;
  }

  #place(given: number, type: Block['type']): readonly [number, Block] {
    if (this.#places && type === 'text' && this.#openText !== undefined && !this.#places.has(given)) {
      this.#places.set(given, this.#openText);
      this.#openText = undefined;
    }
    const index = this.#indexOf(given);
    const block = this.#blocks.get(index) ?? { type, text: '', before: '', ended: false };
    this.#blocks.set(index, block);
    return [index, block];
  }

  #indexOf(given: number): number {
    const index = this.#places ? (this.#places.get(given) ?? this.#next) : given;
    this.#places?.set(given, index);
    this.#next = Math.max(this.#next, index + 1);
    return index;
  }

  /** Ends the blocks that are open, but for one. */
  #close(but?: number): AdapterEvent[] {
    const events: AdapterEvent[] = [];
    for (const [index, block] of this.#blocks) {
      if (block.ended || index === but) continue;
      block.ended = true;
      events.push({ type: block.type === 'text' ? 'text_end' : 'reasoning_end', index, text: block.text });
    }
    return events;
  }
}
