import {
  type AssistantMessage,
  type FilePart,
  type ImagePart,
  isRecord,
  type Message,
  type ToolMessage,
  type Warning,
} from '@antiphon/engine';
import { userBegins } from '../../hand-over/beginning.js';
import { withCallIds } from '../../hand-over/call-ids.js';
import { leaveCitations, leaveReasoning } from '../../hand-over/left-behind.js';
import { warnOnce } from '../../http/warnings.js';
import type { WireJson, WireObject } from '../../http/wire-values.js';
import { isForeign, leadingSystem, pointsSomewhere } from '../contents.js';
import { PROVIDER } from '../endpoint.js';
import { isGemini3 } from '../models.js';
import { stateIn } from '../state.js';

import { contentToWire, mediaToWire } from './content.js';

/** The conversation in the API's terms. */
export interface History {
  readonly system?: string;
  readonly steps: readonly WireObject[];
}

/**
 * Messages as steps, in their order. System messages at the beginning become the system instruction, which belongs to each request anew; later
 * ones stay where they are, as words of the user. `previous` is the id of an interaction that Google remembers: what it already has, up to and
 * with that answer, is not sent again.
 */
export function historyToSteps(thread: readonly Message[], model: string, previous: unknown, warnings: Warning[]): History {
  const messages = withCallIds(thread, 'any');
  const { count, texts } = leadingSystem(messages);
  const writer = new StepWriter(messages, model, warnings);
  for (const message of messages.slice(Math.max(count, rememberedUpTo(messages, previous)))) writer.add(message);
  return { ...(texts.length === 0 ? {} : { system: texts.join('\n\n') }), steps: writer.end() };
}

/** How many messages Google has, when it remembers the interaction `previous`. None when that answer is not among them. */
function rememberedUpTo(messages: readonly Message[], previous: unknown): number {
  if (typeof previous !== 'string' || previous === '') return 0;
  const isIts = ({ role, content }: Message) =>
    role === 'assistant' && typeof content !== 'string' && content.some(part => stateIn(part).interaction === previous);
  return messages.findLastIndex(isIts) + 1;
}

/** Steps of the user, and the one that may only come behind them. */
const SPOKEN: ReadonlySet<unknown> = new Set(['user_input', 'function_result', 'function_call']);

class StepWriter {
  readonly #model: string;
  readonly #warnings: Warning[];
  readonly #names: ReadonlyMap<string, string>;
  readonly #steps: WireObject[] = [];
  /** What tools gave beside text and cannot stand in their results. */
  #media: WireObject[] = [];

  constructor(messages: readonly Message[], model: string, warnings: Warning[]) {
    this.#model = model;
    this.#warnings = warnings;
    const parts = messages.flatMap(({ role, content }) => (role === 'assistant' && typeof content !== 'string' ? content : []));
    this.#names = new Map(parts.flatMap(part => (part.type === 'tool_call' ? [[part.id, part.name] as const] : [])));
  }

  add(message: Message): void {
    if (message.role !== 'tool') this.#flushMedia();
    switch (message.role) {
      case 'system':
        if (message.content === '') break;
        this.#warn('other', 'Gemini has system messages at the beginning only; a later one was sent as words of the user, at its place.');
        this.#push('user_input', [{ type: 'text', text: message.content }]);
        break;
      case 'user': {
        const parts = typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content;
        const content = parts.map(contentToWire).filter(part => part !== undefined);
        if (content.length > 0) this.#push('user_input', content);
        else this.#warn('repaired_history', 'A user message without content was left out of the request.');
        break;
      }
      case 'assistant':
        this.#answer(message);
        break;
      case 'tool':
        this.#steps.push(this.#result(message));
        break;
    }
  }

  end(): WireObject[] {
    this.#flushMedia();
    if (this.#steps.find(({ type }) => SPOKEN.has(type))?.type === 'function_call')
      this.#steps.unshift({ type: 'user_input', content: [{ type: 'text', text: userBegins(PROVIDER, this.#warnings) }] });
    return this.#steps;
  }

  #push(type: 'user_input' | 'model_output', content: readonly WireObject[]): void {
    this.#steps.push({ type, content });
  }

  #answer(message: AssistantMessage): void {
    const { content } = message;
    const before = this.#steps.length;
    let output: WireObject[] = [];
    const flush = () => {
      if (output.length > 0) this.#push('model_output', output);
      output = [];
    };
    for (const part of typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content) {
      const { thoughtSignature: signature, thought, step } = stateIn(part);
      switch (part.type) {
        case 'text':
          if (part.text !== '') output.push({ type: 'text', text: part.text });
          break;
        case 'image':
        case 'file':
          output.push(mediaToWire(part));
          break;
        case 'reasoning':
          flush();
          if (step !== undefined) this.#steps.push(step as WireObject);
          else if (signature !== undefined)
            this.#steps.push({ type: 'thought', signature, summary: part.text === '' ? undefined : [{ type: 'text', text: part.text }] });
          // Its own thoughts without a signature never go back.
          else if (!thought) leaveReasoning(part, PROVIDER, this.#warnings);
          break;
        case 'tool_call':
          flush();
          this.#steps.push({ type: 'function_call', id: part.id, name: part.name, arguments: part.arguments as WireObject, signature });
          break;
        // Sources are about the answer, not of it.
        case 'source':
          break;
      }
    }
    flush();
    if (isForeign(message)) leaveCitations(message, PROVIDER, this.#warnings);
    if (this.#steps.length === before) this.#warn('repaired_history', 'An assistant message without content was left out of the request.');
  }

  #result(message: ToolMessage): WireObject {
    const { callId, content } = message;
    const name = this.#names.get(callId) ?? message.name;
    const error = message.isError === true ? { is_error: true } : {};
    return { type: 'function_result', call_id: callId, name, result: this.#resultValue(content, name ?? callId), ...error };
  }

  /** A text, an object, or, where there are pictures or several parts, a list of contents. */
  #resultValue(content: ToolMessage['content'], name: string): WireJson {
    if (typeof content === 'string') return content;
    const only = content[0];
    if (content.length === 1 && only?.type === 'text') return only.text;
    if (content.length === 1 && only?.type === 'json')
      return isRecord(only.value) && !pointsSomewhere(only.value) ? (only.value as WireObject) : JSON.stringify(only.value);
    return content.flatMap((part): WireObject[] => {
      if (part.type === 'text') return [{ type: 'text', text: part.text }];
      if (part.type === 'json') return [{ type: 'text', text: JSON.stringify(part.value) }];
      return this.#resultMedia(part, name);
    });
  }

  /** Results hold words and, for Gemini 3, pictures; anything else follows in a message of the user. */
  #resultMedia(part: ImagePart | FilePart, name: string): WireObject[] {
    const media = mediaToWire(part);
    if (media.type === 'text' || (media.type === 'image' && isGemini3(this.#model))) return [media];
    this.#media.push({ type: 'text', text: `What ${name} returned beside text:` }, media);
    const kind = String(media.type);
    this.#warn('other', `${this.#model} takes no ${kind} in tool results; it follows in a user message.`);
    return [];
  }

  #flushMedia(): void {
    if (this.#media.length > 0) this.#push('user_input', this.#media);
    this.#media = [];
  }

  #warn(code: Warning['code'], message: string): void {
    warnOnce(this.#warnings, code, message);
  }
}
