import {
  type AssistantMessage,
  isRecord,
  type Json,
  type JsonObject,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type Warning,
} from '@antiphon/engine';
import { userBegins } from '../hand-over/beginning.js';
import { holdsState, leaveCitations, leaveReasoning } from '../hand-over/left-behind.js';
import { warnOnce } from '../http/warnings.js';
import type { WireObject } from '../http/wire-values.js';
import { PROVIDER } from './endpoint.js';
import { isGemini3, refusesSystem } from './models.js';
import { mediaToWire, partToWire } from './parts.js';
import { stateIn } from './state.js';

/** The conversation in the API's terms. */
export interface Contents {
  readonly systemInstruction?: WireObject;
  readonly contents: readonly WireObject[];
}

interface Turn {
  readonly role: 'user' | 'model';
  /** The turn holds answers to calls; nothing else may stand among them. */
  readonly answers: boolean;
  readonly parts: WireObject[];
}

/** What Google's guide to thought signatures gives for calls that have none. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/**
 * Messages as `contents`: the system messages at the beginning become the system instruction, later ones stay where they are, as words of
 * the user; a model that takes no instruction gets all of them so. Turns of one role that follow each other become one, so that a call always
 * stands right behind a user's turn or an answer.
 */
export function contentsToWire(messages: readonly Message[], model: string, warnings: Warning[]): Contents {
  const writer = new ContentsWriter(messages, model, warnings);
  const { count, texts } = refusesSystem(model) ? { count: 0, texts: [] } : leadingSystem(messages);
  for (const message of messages.slice(count)) writer.add(message);
  const system = texts.map(text => ({ text }));
  return { ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }), contents: writer.end() };
}

/** How many system messages stand at the beginning, and what they say. */
export function leadingSystem(messages: readonly Message[]): { readonly count: number; readonly texts: readonly string[] } {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const count = first < 0 ? messages.length : first;
  return { count, texts: messages.slice(0, count).flatMap(({ content }) => (content === '' ? [] : String(content))) };
}

class ContentsWriter {
  readonly #model: string;
  readonly #warnings: Warning[];
  readonly #calls = new Map<string, ToolCallPart>();
  readonly #turns: Turn[] = [];
  readonly #needsSignatures: boolean;
  /** Signatures are checked from the user's last message on. */
  readonly #lastUser: Message | undefined;
  #inLastTurn: boolean;
  /** Pictures of tools for models whose answers to calls hold none. */
  #pictures: WireObject[] = [];

  constructor(messages: readonly Message[], model: string, warnings: Warning[]) {
    this.#model = model;
    this.#warnings = warnings;
    this.#needsSignatures = isGemini3(model);
    this.#lastUser = messages.findLast(({ role }) => role === 'user');
    this.#inLastTurn = this.#lastUser === undefined;
  }

  add(message: Message): void {
    if (message === this.#lastUser) this.#inLastTurn = true;
    if (message.role !== 'tool') this.#flushPictures();
    switch (message.role) {
      case 'system':
        if (message.content === '') break;
        this.#warn('other', `${this.#systemPlace()} was sent as words of the user, at its place.`);
        this.#push('user', [{ text: message.content }]);
        break;
      case 'user': {
        const { content } = message;
        const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
        this.#push(
          'user',
          parts.map(partToWire).filter(part => part !== undefined),
          'A user message without content was left out of the request.',
        );
        break;
      }
      case 'assistant':
        this.#push('model', this.#modelParts(message), 'An assistant message without content was left out of the request.');
        break;
      case 'tool':
        this.#push('user', [this.#answer(message)], undefined, true);
        break;
    }
  }

  end(): WireObject[] {
    this.#flushPictures();
    // A call is refused that neither the user nor an answer stands before.
    const [first] = this.#turns;
    if (first?.role === 'model' && first.parts.some(({ functionCall }) => functionCall !== undefined))
      this.#turns.unshift({ role: 'user', answers: false, parts: [{ text: userBegins(PROVIDER, this.#warnings) }] });
    return this.#turns.map(({ role, parts }) => ({ role, parts }));
  }

  #systemPlace(): string {
    if (refusesSystem(this.#model)) return `${this.#model} takes no system messages; what they say`;
    return 'Gemini has system messages at the beginning only; a later one';
  }

  #push(role: Turn['role'], parts: readonly WireObject[], ifEmpty?: string, answers = false): void {
    if (parts.length === 0) {
      if (ifEmpty !== undefined) this.#warn('repaired_history', ifEmpty);
      return;
    }
    const last = this.#turns.at(-1);
    if (last?.role === role && last.answers === answers) last.parts.push(...parts);
    else this.#turns.push({ role, answers, parts: [...parts] });
  }

  #modelParts(message: AssistantMessage): WireObject[] {
    const { content } = message;
    if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
    const parts: WireObject[] = [];
    let isFirstCall = true;
    for (const part of content) {
      const { thoughtSignature, thought, id, part: whole } = stateIn(part);
      switch (part.type) {
        case 'text':
          if (part.text !== '' || thoughtSignature !== undefined) parts.push({ text: part.text, thoughtSignature });
          break;
        case 'reasoning':
          if (whole !== undefined) parts.push(whole as WireObject);
          else if (thoughtSignature !== undefined) parts.push({ text: part.text, thought: true, thoughtSignature });
          // Its own thoughts without a signature never go back.
          else if (!thought) leaveReasoning(part, PROVIDER, this.#warnings);
          break;
        case 'tool_call':
          this.#calls.set(part.id, part);
          parts.push({
            functionCall: { id, name: part.name, args: part.arguments as WireObject },
            thoughtSignature: thoughtSignature ?? (isFirstCall ? this.#standIn() : undefined),
          });
          isFirstCall = false;
          break;
        case 'image':
        case 'file':
          parts.push({ ...mediaToWire(part), thoughtSignature });
          break;
        // Sources are about the answer, not of it.
        case 'source':
          break;
      }
    }
    if (isForeign(message)) leaveCitations(message, PROVIDER, this.#warnings);
    return parts;
  }

  #standIn(): string | undefined {
    if (!this.#needsSignatures || !this.#inLastTurn) return undefined;
    this.#warn('repaired_history', 'A tool call in the history has no thought signature; the request asks Gemini not to look for one.');
    return NO_SIGNATURE;
  }

  #answer(message: ToolMessage): WireObject {
    const call = this.#calls.get(message.callId);
    // An id may have characters that no name may have.
    const name = call?.name ?? message.name ?? 'unknown';
    const { content } = message;
    const media: WireObject[] = [];
    const values: unknown[] = [];
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type === 'text') values.push(part.text);
      else if (part.type === 'json') values.push(pointsSomewhere(part.value) ? JSON.stringify(part.value) : part.value);
      else media.push(mediaToWire(part));
    }
    const value = typeof content === 'string' ? content : values.length === 1 ? values[0] : values;
    const parts = media.length > 0 ? this.#mediaOf(media, name) : undefined;
    const response = { [message.isError === true ? 'error' : 'output']: value } as WireObject;
    return { functionResponse: { id: call && stateIn(call).id, name, response, parts } };
  }

  /** Pictures in the answer itself, or, for models that refuse them there, behind all answers. */
  #mediaOf(media: readonly WireObject[], name: string): readonly WireObject[] | undefined {
    if (isGemini3(this.#model)) return media;
    this.#pictures.push({ text: `What ${name} returned beside text:` }, ...media);
    this.#warn('other', `${this.#model} takes no media in tool results; they follow in a user message.`);
    return undefined;
  }

  #flushPictures(): void {
    this.#push('user', this.#pictures);
    this.#pictures = [];
  }

  #warn(code: Warning['code'], message: string): void {
    warnOnce(this.#warnings, code, message);
  }
}

/** An answer of another vendor's. Those that nobody marked pass for Gemini's own, of whose sources it wants none either. */
export function isForeign(message: AssistantMessage): boolean {
  return holdsState(message, provider => provider !== PROVIDER) && !holdsState(message, provider => provider === PROVIDER);
}

/** `$ref` in an answer to a call is read as the name of a file beside it, and refused where there is none: a schema goes as text. */
export function pointsSomewhere(value: Json): boolean {
  if (Array.isArray(value)) return value.some(pointsSomewhere);
  return isRecord(value) && Object.entries(value as JsonObject).some(([name, inner]) => name === '$ref' || pointsSomewhere(inner));
}
