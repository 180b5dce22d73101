import { addCost, type Cost } from '../data/cost.js';
import { defined } from '../data/defined.js';
import { type Message, messageText, messageToolCalls, type ToolMessage, toolResult } from '../data/messages.js';
import type { SourcePart, ToolCall } from '../data/parts.js';
import { addUsage, type Usage } from '../data/usage.js';
import type { AntiphonError } from '../errors.js';
import { repairMessages } from '../history/repair.js';
import type { StreamEvent } from './events.js';
import type { Warning } from './finish.js';
import { OpenStep } from './open-step.js';
import type { InterruptReason, Outcome, OutcomeBase, Pending, Step } from './outcome.js';
import { waitingIds } from './pending.js';

/** How a run ended, beside everything that arrived. */
export type Verdict =
  | { readonly status: 'completed'; readonly output?: unknown }
  | { readonly status: 'interrupted'; readonly reason: InterruptReason; readonly pending: Pending }
  | { readonly status: 'failed'; readonly error: AntiphonError };

/**
 * Builds an outcome from events: `push` each, then `outcome(verdict)`. The loop itself uses it, so a streamed run and a plain one cannot
 * differ. Linear in the number of events.
 */
export class RunFold {
  readonly #requestId: string;
  readonly #messages: Message[];
  readonly #steps: Step[] = [];
  readonly #warnings: Warning[] = [];
  readonly #sources: SourcePart[] = [];
  #usage: Usage = {};
  /** `unknown` as soon as one call has no price: a part of the sum would mislead. */
  #cost: Cost | 'unknown' | undefined;
  #reasoning = '';
  #step: OpenStep | undefined;

  constructor(initial: { readonly messages?: readonly Message[]; readonly requestId?: string } = {}) {
    this.#messages = [...(initial.messages ?? [])];
    this.#requestId = initial.requestId ?? '';
  }

  push(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#closeStep();
        this.#step = new OpenStep(event);
        this.#step.reasoningFrom = this.#reasoning.length;
        return;
      case 'text_delta':
        this.#openStep().append(event.index, 'text', event.delta);
        return;
      case 'reasoning_delta':
        this.#reasoning += event.delta;
        this.#openStep().append(event.index, 'reasoning', event.delta);
        return;
      case 'text_end':
      case 'reasoning_end': {
        const type = event.type === 'text_end' ? 'text' : 'reasoning';
        const { text, providerState } = event;
        this.#openStep().set(event.index, { type, text, ...defined({ providerState }) });
        return;
      }
      case 'tool_call':
        this.#openStep().set(event.index, { type: 'tool_call', ...event.call });
        return;
      case 'source':
        this.#sources.push(event.source);
        this.#openStep().set(event.index, event.source);
        return;
      case 'file':
        this.#openStep().set(event.index, event.file);
        return;
      case 'message_end':
        this.#openStep().end = event;
        this.#usage = addUsage(this.#usage, event.usage);
        this.#cost = event.cost === undefined || this.#cost === 'unknown' ? 'unknown' : addCost(this.#cost, event.cost);
        return;
      case 'tool_result': {
        const { callId, content, name, isError } = event;
        const result = toolResult(callId, content, { name, isError });
        if (this.#step) this.#step.results.set(callId, result);
        else answerEarlierCall(this.#messages, callId, result);
        return;
      }
      case 'step_end':
        this.#closeStep();
        if (event.followUp) this.#messages.push(...event.followUp);
        return;
      case 'warning':
        this.#warnings.push(event.warning);
        return;
      case 'retry':
        if (event.continued) return;
        // What was shown of the failed try is void, so it leaves no step.
        if (this.#step) this.#reasoning = this.#reasoning.slice(0, this.#step.reasoningFrom);
        this.#step = undefined;
        return;
    }
  }

  /** The thread so far, with the open step as it stands; a copy that later events leave alone. */
  get messages(): readonly Message[] {
    return this.#step ? [...this.#messages, ...this.#step.messages()] : [...this.#messages];
  }

  /** With what an open or broken answer had counted. */
  get usage(): Usage {
    return this.#step && !this.#step.end ? addUsage(this.#usage, this.#step.usage) : this.#usage;
  }

  /** US dollars of the steps so far; infinite when that is not known. */
  get costTotal(): number {
    return typeof this.#cost === 'object' ? this.#cost.total : Number.POSITIVE_INFINITY;
  }

  /** The steps so far, the open one last; a copy. */
  get steps(): readonly Step[] {
    return this.#step?.began ? [...this.#steps, this.#step.toStep()] : [...this.#steps];
  }

  /** The last of `steps`, without copying the others. */
  get lastStep(): Step | undefined {
    return this.#step?.began ? this.#step.toStep() : this.#steps.at(-1);
  }

  /** Calls of the step that is still open and that have no answer yet. */
  get openCalls(): readonly ToolCall[] {
    const step = this.#step;
    return step ? step.calls().filter(call => !step.results.has(call.id)) : [];
  }

  outcome(verdict: Verdict): Outcome {
    if (verdict.status === 'interrupted') for (const id of waitingIds(verdict.pending)) answerEarlierCall(this.#messages, id, undefined);
    const steps = this.steps;
    const last = steps.at(-1);
    const { message, rawFinishReason, model, responseId }: Partial<Step> = last ?? {};
    const base: OutcomeBase = {
      text: message ? messageText(message) : '',
      toolCalls: last?.toolCalls ?? [],
      finishReason: verdict.status === 'failed' ? 'error' : (last?.finishReason ?? 'other'),
      reasoning: this.#reasoning,
      sources: [...this.#sources],
      usage: this.usage,
      warnings: [...this.#warnings],
      messages: this.messages,
      steps,
      requestId: this.#requestId,
      ...defined({ message, rawFinishReason, model, responseId, cost: typeof this.#cost === 'object' ? this.#cost : undefined }),
    };
    return { ...base, ...verdict };
  }

  #openStep(): OpenStep {
    this.#step ??= new OpenStep();
    return this.#step;
  }

  #closeStep(): void {
    if (!this.#step) return;
    this.#usage = this.usage;
    if (this.#step.began) this.#steps.push(this.#step.toStep());
    this.#messages.push(...this.#step.messages());
    this.#step = undefined;
  }
}

/**
 * The outcome that a list of events tells. `initial` is what the run began with. The events must hold the last one, `end`, which says how
 * the run ended; everything else is built from the others. Throws `TypeError` for events without an `end`.
 *
 * ```ts
 * const events = [];
 * for await (const event of engine.stream('Hi')) events.push(event);
 * foldEvents(events, { messages: [user('Hi')] }); // = await engine.chat('Hi')
 * ```
 */
export function foldEvents(
  events: Iterable<StreamEvent>,
  initial: { readonly messages?: readonly Message[]; readonly requestId?: string } = {},
): Outcome {
  // A run mends what it is given before it begins.
  const fold = new RunFold({ messages: repairMessages(initial.messages ?? []).messages });
  for (const event of events) {
    if (event.type === 'end') {
      const { requestId = event.outcome.requestId } = initial;
      return { ...fold.outcome(verdictOf(event.outcome)), requestId };
    }
    fold.push(event);
  }
  throw new TypeError('These events have no `end`: fold a finished stream, or use RunFold for a partial one.');
}

/** The part of an outcome that no other event tells. */
export function verdictOf(outcome: Outcome): Verdict {
  switch (outcome.status) {
    case 'completed':
      return 'output' in outcome ? { status: 'completed', output: outcome.output } : { status: 'completed' };
    case 'interrupted':
      return { status: 'interrupted', reason: outcome.reason, pending: outcome.pending };
    case 'failed':
      return { status: 'failed', error: outcome.error };
  }
}

/** Puts the result of a call that an earlier run left open in its place, or takes the stopgap for it away when it stays open. */
function answerEarlierCall(messages: Message[], callId: string, result: ToolMessage | undefined): void {
  const at = messages.findLastIndex(message => message.role === 'assistant');
  const message = messages[at];
  if (message?.role !== 'assistant') return;
  const ids = messageToolCalls(message).map(call => call.id);
  if (!ids.includes(callId)) return;
  const answers = new Map<string, ToolMessage>();
  let end = at + 1;
  for (let next = messages[end]; next?.role === 'tool'; next = messages[++end]) answers.set(next.callId, next);
  if (result) answers.set(callId, result);
  else answers.delete(callId);
  messages.splice(at + 1, end - at - 1, ...ids.flatMap(id => answers.get(id) ?? []));
}
