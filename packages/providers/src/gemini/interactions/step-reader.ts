import { type BlockWriter, isRecord } from '@antiphon/engine';
import type { ServerError } from '../../http/server-error.js';
import { filled, recordsIn } from '../../http/wire-values.js';
import { Sources } from '../sources.js';
import { stateOf } from '../state.js';
import { addCitations, addFindings } from './citations.js';
import { fileOf, isMedia, joinedBase64 } from './content.js';
import { eventKind, isHosted, modernised, stepOf, type Wire } from './events.js';
import { errorOf, finishOf, isFailure } from './finish.js';
import { HostedStep } from './hosted-step.js';
import { interactionUsage } from './usage.js';

/** A step that has begun and not ended. */
type OpenStep =
  | { readonly kind: 'output'; sound?: { readonly about: Wire; readonly pieces: string[] } | undefined }
  | { readonly kind: 'thought'; signature: unknown; hasText: boolean }
  /** `whole`: arguments that came at once; they count unless others are streamed. */
  | { readonly kind: 'call'; readonly key: number; whole: string; streamed: boolean }
  | { readonly kind: 'hosted'; readonly step: HostedStep }
  /** An echo of what was sent. */
  | { readonly kind: 'echo' };

/**
 * Turns the events of one interaction into block events. `accept` takes events that are already parsed, or the interaction as a whole; once
 * `finished`, `finish` closes the message. An error that the server reports is kept in `error`, and nothing after it is read. Events, steps and
 * deltas of unknown kinds do no harm.
 */
export class StepReader {
  readonly #blocks: BlockWriter;
  readonly #sources = new Sources();
  readonly #open = new Map<unknown, OpenStep>();
  readonly #warnedOf = new Set<string>();
  readonly #about: { model?: string; responseId?: string } = {};
  #calls = 0;
  #hasSteps = false;
  #status = '';
  #stepError: unknown;
  #end: { readonly status: string; readonly usage: unknown } | undefined;
  error: ServerError | undefined;

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  /** The server has said how the interaction ended. */
  get finished(): boolean {
    return this.#end !== undefined;
  }

  accept(wire: Wire): void {
    if (this.error || this.#end) return;
    const event = modernised(wire);
    const { index } = event;
    switch (eventKind(event)) {
      case 'step.start':
        this.#begin(index, isRecord(event.step) ? event.step : {});
        break;
      case 'step.delta':
        if (isRecord(event.delta)) this.#delta(index, event.delta);
        break;
      case 'step.stop':
        this.#stop(index);
        break;
      case 'interaction.completed':
        this.#complete(isRecord(event.interaction) ? event.interaction : {}, 'completed');
        break;
      case 'error':
        this.error = errorOf(event.error, 'The interaction failed without a word.');
        break;
      case undefined:
        this.#complete(event, 'completed');
        break;
      default:
        this.#readAbout(isRecord(event.interaction) ? event.interaction : { id: event.interaction_id, status: event.status });
    }
  }

  /** The bytes have ended without an end of the interaction: an announced failure is more than that. */
  breakOff(): void {
    if (isFailure(this.#status)) this.#fail(this.#status, undefined);
  }

  /** Closes the message. Call it only when `finished`. */
  finish(): void {
    const { status = '', usage } = this.#end ?? {};
    this.#blocks.start(this.#about);
    for (const source of this.#sources.all) this.#blocks.source(source);
    const finishReason = finishOf(status, this.#blocks.hasCalls);
    this.#blocks.end({ finishReason, rawFinishReason: status, usage: interactionUsage(usage), ...this.#about });
  }

  #begin(index: unknown, step: Wire): void {
    this.#stop(index);
    this.#hasSteps = true;
    if (step.error !== undefined) this.#stepError = step.error;
    switch (step.type) {
      case 'model_output': {
        const open: OpenStep = { kind: 'output' };
        this.#open.set(index, open);
        for (const content of recordsIn(step.content)) this.#output(open, content);
        break;
      }
      case 'thought': {
        const open: OpenStep = { kind: 'thought', signature: step.signature, hasText: false };
        // Two thoughts are two parts: each goes back with its own signature.
        this.#blocks.endBlock();
        this.#open.set(index, open);
        for (const item of recordsIn(step.summary)) this.#thought(open, item);
        break;
      }
      case 'function_call': {
        const open: OpenStep = { kind: 'call', key: this.#calls++, whole: '', streamed: false };
        this.#open.set(index, open);
        this.#call(open, step);
        break;
      }
      case 'user_input':
      case 'function_result':
        this.#open.set(index, { kind: 'echo' });
        break;
      default: {
        if (typeof step.type !== 'string') break;
        if (!isHosted(step.type))
          this.#warnOnce(`The answer has a step of the unknown kind "${step.type}": it is kept for the next request and not shown.`);
        this.#open.set(index, { kind: 'hosted', step: new HostedStep(step) });
      }
    }
  }

  #delta(index: unknown, delta: Wire): void {
    // Its own beginning was lost.
    if (!this.#open.has(index)) this.#begin(index, { type: stepOf(delta.type) });
    const open = this.#open.get(index);
    if (open?.kind === 'output') this.#output(open, delta);
    else if (open?.kind === 'thought') {
      if (delta.type === 'thought_signature') open.signature = delta.signature;
      else if (delta.type === 'thought_summary') this.#thought(open, isRecord(delta.content) ? delta.content : {});
      else this.#unknownDelta(delta);
    } else if (open?.kind === 'call') this.#call(open, delta);
    else if (open?.kind === 'hosted' && !open.step.add(delta)) this.#unknownDelta(delta);
  }

  #output(open: OpenStep & { kind: 'output' }, content: Wire): void {
    const { type } = content;
    if (type === 'text' || type === 'text_annotation' || type === 'text_annotation_delta') {
      this.#flushSound(open);
      this.#start();
      if (typeof content.text === 'string') this.#blocks.text(content.text);
      addCitations(content.annotations, this.#sources);
    } else if (type === 'audio' && typeof content.data === 'string') {
      open.sound ??= { about: content, pieces: [] };
      open.sound.pieces.push(content.data);
    } else if (isMedia(type)) {
      this.#flushSound(open);
      this.#file(content);
    } else this.#unknownDelta(content);
  }

  #thought(open: OpenStep & { kind: 'thought' }, item: Wire): void {
    if (typeof item.text !== 'string') {
      this.#warnOnce('Something else than text in the thoughts of the model was left out.');
      return;
    }
    open.hasText ||= item.text !== '';
    this.#start();
    this.#blocks.reasoning(item.text);
  }

  /** Its arguments come in pieces of their JSON text, or at once in the step itself. */
  #call(open: OpenStep & { kind: 'call' }, { type, id, name, arguments: args, signature }: Wire): void {
    if (type !== 'function_call' && type !== 'arguments_delta') {
      this.#unknownDelta({ type });
      return;
    }
    this.#start();
    const isPiece = type === 'arguments_delta' && typeof args === 'string';
    if (isPiece) open.streamed ||= args !== '';
    else if (typeof args === 'string') open.whole = args;
    else if (isRecord(args) && Object.keys(args).length > 0) open.whole = JSON.stringify(args);
    const providerState = stateOf({ thoughtSignature: signature, interaction: this.#about.responseId });
    this.#blocks.toolCall(open.key, {
      ...(typeof id === 'string' ? { id } : {}),
      ...(typeof name === 'string' ? { name } : {}),
      ...(isPiece ? { args } : {}),
      ...(providerState === undefined ? {} : { providerState }),
    });
  }

  #stop(index: unknown): void {
    const open = this.#open.get(index);
    if (!open) return;
    this.#open.delete(index);
    const interaction = this.#about.responseId;
    switch (open.kind) {
      case 'output':
        this.#flushSound(open);
        this.#blocks.endBlock(stateOf({ interaction }));
        break;
      case 'thought': {
        const signed = filled(open.signature);
        if (!signed && !open.hasText) break;
        this.#start();
        this.#blocks.reasoning('', stateOf({ thoughtSignature: open.signature, thought: !signed, interaction }));
        this.#blocks.endBlock();
        break;
      }
      case 'call':
        if (!open.streamed && open.whole !== '') this.#blocks.toolCall(open.key, { args: open.whole });
        this.#blocks.endToolCall(open.key);
        break;
      case 'hosted': {
        const step = open.step.whole;
        addFindings(step, this.#sources);
        this.#start();
        this.#blocks.endBlock();
        this.#blocks.reasoning(open.step.words, stateOf({ step, interaction }));
        this.#blocks.endBlock();
        break;
      }
    }
  }

  #complete(interaction: Wire, ifSilent: string): void {
    this.#readAbout(interaction);
    // A whole interaction tells its steps at once.
    if (!this.#hasSteps) {
      for (const [index, step] of recordsIn(interaction.steps).entries()) {
        this.#begin(index, step);
        this.#stop(index);
      }
    }
    const status = typeof interaction.status === 'string' ? interaction.status : ifSilent;
    // Calls that were cut off stay open, so that they are marked as such.
    const isCut = finishOf(status, false) === 'length';
    for (const [index, open] of [...this.#open]) if (!isCut || open.kind !== 'call') this.#stop(index);
    if (isFailure(status)) this.#fail(status, interaction.error);
    else this.#end = { status, usage: interaction.usage };
  }

  #fail(status: string, error: unknown): void {
    this.error = errorOf(error ?? this.#stepError, `The interaction ${status === 'failed' ? 'failed' : 'was cancelled'}.`);
  }

  #flushSound(open: OpenStep & { kind: 'output' }): void {
    if (!open.sound) return;
    const { about, pieces } = open.sound;
    open.sound = undefined;
    this.#file({ ...about, data: joinedBase64(pieces) });
  }

  #file(content: Wire): void {
    const file = fileOf(content);
    if (!file) {
      this.#warnOnce('The answer has a file without bytes or address, which was left out.');
      return;
    }
    const providerState = stateOf({ interaction: this.#about.responseId });
    this.#start();
    this.#blocks.endBlock(providerState);
    this.#blocks.file({ ...file, ...(providerState === undefined ? {} : { providerState }) });
  }

  #readAbout({ id, model, status }: Wire): void {
    // The id is empty when nothing is stored.
    if (filled(id)) this.#about.responseId = id;
    if (filled(model)) this.#about.model = model;
    if (typeof status === 'string') this.#status = status;
  }

  /** The message begins with its first content: until then a failed request can be repeated unseen. */
  #start(): void {
    this.#blocks.start(this.#about);
  }

  #unknownDelta({ type }: Wire): void {
    this.#warnOnce(`The answer has a piece of the unknown kind "${type}", which was left out.`);
  }

  #warnOnce(message: string): void {
    if (this.#warnedOf.has(message)) return;
    this.#warnedOf.add(message);
    this.#blocks.warn({ code: 'other', message });
  }
}
