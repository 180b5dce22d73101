import { defined } from '../data/defined.js';
import { type AssistantMessage, type Message, messageToolCalls, type ToolMessage } from '../data/messages.js';
import type { AssistantPart, ToolCall } from '../data/parts.js';
import type { Usage } from '../data/usage.js';
import type { MessageEnd, MessageStart } from './events.js';
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
    return message ? [message, ...this.#resultsOf(messageToolCalls(message))] : [];
  }

  message(): AssistantMessage | undefined {
    const parts = [...this.#parts.entries()].sort(([a], [b]) => a - b).map(([, part]) => ({ ...part }) as AssistantPart);
    if (parts.length === 0) return undefined;
    return { role: 'assistant', content: parts, ...(this.end ? {} : { interrupted: true }) };
  }

  calls(): ToolCall[] {
    const message = this.message();
    return message ? messageToolCalls(message) : [];
  }

  toStep(): Step {
    const message = this.message();
    const toolCalls = message ? messageToolCalls(message) : [];
    const { finishReason = 'other', rawFinishReason, paused, cost }: Partial<MessageEnd> = this.end ?? {};
    return {
      toolCalls,
      toolResults: this.#resultsOf(toolCalls),
      finishReason,
      usage: this.usage,
      ...defined({
        message,
        rawFinishReason,
        paused,
        cost,
        model: this.end?.model ?? this.#start?.model,
        responseId: this.end?.responseId ?? this.#start?.responseId,
      }),
    };
  }

  /** In the order of the calls, whichever finished first. */
  #resultsOf(calls: readonly ToolCall[]): ToolMessage[] {
    return calls.flatMap(call => this.results.get(call.id) ?? []);
  }
}
