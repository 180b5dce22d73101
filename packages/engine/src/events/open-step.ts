import type { AssistantMessage, Message, ToolMessage } from '../data/messages.js';
import type { AssistantPart, ToolCall } from '../data/parts.js';
import type { Usage } from '../data/usage.js';
import type { MessageEnd, MessageStart } from './events.js';
import type { FinishReason } from './finish.js';
import type { Step } from './outcome.js';

type OpenPart = { -readonly [K in keyof AssistantPart]: AssistantPart[K] } & { text?: string };

/** A model call that is still being read. Blocks are kept by index, since their deltas may interleave. */
export class OpenStep {
  readonly #parts = new Map<number, AssistantPart | OpenPart>();
  readonly results = new Map<string, ToolMessage>();
  /** Where this step's part of all reasoning text begins. */
  reasoningFrom = 0;
  end: MessageEnd | undefined;

  readonly #start: MessageStart | undefined;

  constructor(start?: MessageStart) {
    this.#start = start;
  }

  get usage(): Usage {
    return this.end?.usage ?? this.#start?.usage ?? {};
  }

  get began(): boolean {
    return this.#parts.size > 0 || this.end !== undefined;
  }

  append(index: number, type: 'text' | 'reasoning', delta: string): void {
    const part = this.#parts.get(index);
    if (part && 'text' in part) (part as { text: string }).text += delta;
    else this.#parts.set(index, { type, text: delta });
  }

  set(index: number, part: AssistantPart): void {
    this.#parts.set(index, part);
  }

  messages(): Message[] {
    const message = this.message();
    if (!message) return [];
    // Results stand in the order of the calls, whichever finished first.
    const results = this.calls().flatMap(call => this.results.get(call.id) ?? []);
    return [message, ...results];
  }

  message(): AssistantMessage | undefined {
    const parts = [...this.#parts.entries()].sort(([a], [b]) => a - b).map(([, part]) => ({ ...part }) as AssistantPart);
    if (parts.length === 0) return undefined;
    return { role: 'assistant', content: parts, ...(this.end ? {} : { interrupted: true }) };
  }

  calls(): ToolCall[] {
    const calls: ToolCall[] = [];
    for (const [, part] of [...this.#parts.entries()].sort(([a], [b]) => a - b)) {
      if (part.type === 'tool_call') {
        const { type: _, ...call } = part;
        calls.push(call as ToolCall);
      }
    }
    return calls;
  }

  toStep(): Step {
    const message = this.message();
    const model = this.end?.model ?? this.#start?.model;
    const responseId = this.end?.responseId ?? this.#start?.responseId;
    return {
      ...(message === undefined ? {} : { message }),
      toolCalls: this.calls(),
      toolResults: this.calls().flatMap(call => this.results.get(call.id) ?? []),
      finishReason: this.end?.finishReason ?? ('other' satisfies FinishReason),
      ...(this.end?.rawFinishReason === undefined ? {} : { rawFinishReason: this.end.rawFinishReason }),
      ...(this.end?.paused === undefined ? {} : { paused: this.end.paused }),
      usage: this.usage,
      ...(this.end?.cost === undefined ? {} : { cost: this.end.cost }),
      ...(model === undefined ? {} : { model }),
      ...(responseId === undefined ? {} : { responseId }),
    };
  }
}
