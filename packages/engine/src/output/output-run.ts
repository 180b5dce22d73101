// The structured answer of one run: what is asked for, how it shows while it grows, and whether it holds.
import type { ChatAdapter, ChatRequest } from '../adapters/chat.js';
import { isRecord, type Json } from '../data/json.js';
import { type LenientResult, parseLenient } from '../data/lenient-json.js';
import { type Message, messageText, user } from '../data/messages.js';
import type { ToolCall } from '../data/parts.js';
import { describe, type Issue, ValidationError } from '../errors.js';
import type { AdapterEvent, MessageEnd, OutputDelta, RetryEvent, ToolCallEvent, WarningEvent } from '../events/events.js';
import type { Warning } from '../events/finish.js';
import type { Step } from '../events/outcome.js';
import { validate } from '../tools/validation.js';
import { askFor, modeFor, type OutputMode, type OutputShape, unwrapValue, type WireShape, wireShape } from './mode.js';
import { OutputPreview } from './preview.js';

/** What became of an answer. `repair`: the model is told `messages` and asked once more. */
export type Judgement = { readonly warnings: readonly Warning[] } & (
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'repair'; readonly messages: readonly Message[] }
  | { readonly type: 'invalid'; readonly error: ValidationError }
);

/** The answer's call: what its text has come to, and the call once it is complete. */
interface Answer {
  readonly index: number;
  text: string;
  call?: ToolCall;
}

type Told = AdapterEvent | RetryEvent | OutputDelta;

/** Faults that a message to the model lists; so many that more would not help it. */
const MOST_FAULTS = 50;

/**
 * Lives for one run: `request` adds the wish to every model call, `push` goes between the model's events and everyone else, `judge` is asked
 * when a call is done. The answer's tool is never seen outside: its arguments become the message's text, so that the transcript is the same
 * in every mode and needs no result for a call that has none.
 */
export class OutputRun {
  readonly #shape: WireShape;
  #mode: OutputMode = 'tool';
  #tool: string | undefined;
  #preview: OutputPreview;
  /** The answer's call in the message that is being read, and those that came beside it. */
  #answer: Answer | undefined;
  readonly #ignored = new Set<number>();
  #otherCalls = 0;
  #asksAgain = false;

  constructor(shape: OutputShape) {
    this.#shape = wireShape(shape);
    this.#preview = this.#newPreview();
  }

  request(request: ChatRequest, adapter: ChatAdapter): ChatRequest {
    this.#mode = modeFor(this.#shape, adapter, request);
    const asked = askFor(this.#shape, this.#mode, request, this.#asksAgain);
    this.#tool = asked.tool;
    this.#reset();
    return asked.request;
  }

  push(event: AdapterEvent | RetryEvent): readonly Told[] {
    switch (event.type) {
      case 'retry':
        if (!event.continued) this.#reset();
        return [event];
      case 'text_delta':
        return this.#mode === 'tool' ? [event] : [event, ...this.#preview.push(event.delta)];
      case 'tool_call_start':
        return this.#isAnswer(event.index, event.name) ? this.#begin(event.index) : [event];
      case 'tool_call_delta':
        if (this.#ignored.has(event.index)) return [];
        return this.#answer?.index === event.index ? this.#grow(this.#answer, event.delta) : [event];
      case 'tool_call':
        return this.#call(event);
      case 'message_end':
        return [this.#end(event)];
      default:
        return [event];
    }
  }

  /** Undefined when the step holds no answer, because the model asked for tools instead. */
  async judge(step: Step): Promise<Judgement | undefined> {
    if (this.#answer === undefined && step.toolCalls.length > 0) return undefined;
    const text = this.#answer?.text ?? (step.message ? messageText(step.message) : '');
    const { value, issues, warnings } = await this.#check(text, step);
    if (issues.length === 0) return { type: 'value', value, warnings };
    if (this.#asksAgain || step.finishReason === 'content_filter') {
      const faults = listed(issues.map(({ path, reason }) => `${path}: ${reason}`)).join('; ');
      const often = this.#asksAgain ? ', although the model was told and asked again' : '';
      const message = `The answer does not have the shape of the output schema${often}. ${faults}`;
      return { type: 'invalid', error: new ValidationError('invalid_output', message, issues), warnings };
    }
    this.#asksAgain = true;
    const message = `The answer did not have the asked shape, so the model was told its ${issues.length} faults and asked once more.`;
    return { type: 'repair', messages: [user(this.#faults(issues))], warnings: [...warnings, { code: 'repaired_output', message }] };
  }

  /** The error of a run that ends without an answer, because its last step asked for tools that must not run. */
  missing({ rawFinishReason, finishReason }: Step): ValidationError {
    const issues = [{ path: '$', reason: 'There is no answer.' }];
    return new ValidationError(
      'invalid_output',
      `The model ended with "${rawFinishReason ?? finishReason}" before it gave its answer.`,
      issues,
    );
  }

  #isAnswer(index: number, name: string): boolean {
    return this.#tool !== undefined && name === this.#tool && !this.#ignored.has(index);
  }

  #begin(index: number): readonly WarningEvent[] {
    if (!this.#answer) {
      this.#answer = { index, text: '' };
      return [];
    }
    this.#ignored.add(index);
    return [
      {
        type: 'warning',
        warning: { code: 'other', message: 'The model answered more than once in one message; the first answer counts.' },
      },
    ];
  }

  #grow(answer: Answer, delta: string): readonly Told[] {
    if (delta === '') return [];
    answer.text += delta;
    return [{ type: 'text_delta', index: answer.index, delta }, ...this.#preview.push(delta)];
  }

  #call(event: ToolCallEvent): readonly Told[] {
    const { index, call } = event;
    const known = this.#answer?.index === index || this.#ignored.has(index);
    const begun = known || !this.#isAnswer(index, call.name) ? [] : this.#begin(index);
    if (this.#ignored.has(index)) return begun;
    const answer = this.#answer;
    if (answer?.index !== index) {
      this.#otherCalls++;
      return [event];
    }
    // Some adapters give a call at once, and some models write nothing for an empty object.
    const whole = call.rawArguments || JSON.stringify(call.arguments);
    const rest = whole.startsWith(answer.text) ? whole.slice(answer.text.length) : '';
    const grown = this.#grow(answer, rest);
    answer.call = call;
    return [...begun, ...grown, { type: 'text_end', index, text: answer.text }];
  }

  #end(event: MessageEnd): MessageEnd {
    const done = this.#answer !== undefined && this.#otherCalls === 0 && event.finishReason === 'tool_calls';
    return done ? { ...event, finishReason: 'stop' } : event;
  }

  async #check(text: string, { finishReason }: Step): Promise<{ value?: unknown; issues: readonly Issue[]; warnings: readonly Warning[] }> {
    const call = this.#answer?.call;
    // The adapter has read the arguments already, and has said so where it had to mend them.
    const parsed: LenientResult = !call
      ? parseLenient(text)
      : call.invalid
        ? { error: call.invalid.message }
        : { value: call.arguments, repairs: [] };
    if ('error' in parsed) return { issues: [{ path: '$', reason: unreadable(text, parsed.error, finishReason) }], warnings: [] };
    const warnings: Warning[] =
      parsed.repairs.length === 0
        ? []
        : [{ code: 'repaired_arguments', message: `The answer was no plain JSON and was mended: ${parsed.repairs.join('; ')}.` }];
    try {
      const checked = await validate(this.#shape.schema, unwrapValue(this.#shape, parsed.value));
      return checked.ok ? { value: checked.value, issues: [], warnings } : { issues: checked.issues, warnings };
    } catch (cause) {
      throw new ValidationError('invalid_output', `The output schema itself failed: ${describe(cause)}`, [], { cause });
    }
  }

  #faults(issues: readonly Issue[]): string {
    const inWrapper = (path: string) => (path === '$' ? 'value' : `value.${path}`);
    const faults = listed(issues.map(({ path, reason }) => `- ${this.#shape.wrapped ? inWrapper(path) : path}: ${reason}`));
    const how = this.#tool === undefined ? 'as one JSON object and nothing else' : `by calling the tool "${this.#tool}"`;
    return `Your answer does not have the shape that is asked for:\n${faults.join('\n')}\nGive the whole answer again, corrected, ${how}.`;
  }

  #reset(): void {
    this.#preview = this.#newPreview();
    this.#answer = undefined;
    this.#ignored.clear();
    this.#otherCalls = 0;
  }

  #newPreview(): OutputPreview {
    const { wrapped } = this.#shape;
    // Unlike a whole answer, a growing one is not yet known to lack its wrapper.
    return new OutputPreview(written => (wrapped && isRecord(written) ? (written.value as Json | undefined) : written));
  }
}

function unreadable(text: string, error: string, finishReason: Step['finishReason']): string {
  if (finishReason === 'length') return 'The answer was cut off at the length limit before it was complete; make it shorter.';
  if (finishReason === 'content_filter') return "The answer was stopped by the provider's content filter.";
  if (text.trim() === '') return 'There is no answer.';
  return `The answer is no JSON: ${error}.`;
}

function listed(faults: readonly string[]): readonly string[] {
  return faults.length <= MOST_FAULTS ? faults : [...faults.slice(0, MOST_FAULTS), `and ${faults.length - MOST_FAULTS} more`];
}
