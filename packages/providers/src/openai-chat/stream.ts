import { type BlockWriter, type ImagePart, isRecord, type SourcePart } from '@antiphon/engine';
import type { AnswerParser } from '../http/answer-reader.js';
import { findServerError, type ServerError } from '../http/server-error.js';
import { type AnswerNames, namesOf } from '../http/usage.js';
import { filled, sourceFrom } from '../http/wire-values.js';
import { readContent, readImages } from './content.js';
import { finishReason } from './finish.js';
import type { Profile } from './profiles.js';
import { ReasoningDetails } from './reasoning-details.js';
import { ToolDeltas } from './tool-deltas.js';
import { UsageReport } from './usage.js';
import type { WireChoice, WireChunk, WireDelta } from './wire.js';

/** What servers write in the place of a finish reason while there is none. */
const NOT_YET: ReadonlySet<string> = new Set(['', 'null']);

/** Turns the chunks of one answer into block events. */
export class ChunkReader implements AnswerParser {
  readonly #blocks: BlockWriter;
  readonly #profile: Profile;
  readonly #tools: ToolDeltas;
  readonly #usage = new UsageReport();
  readonly #details = new ReasoningDetails();
  readonly #sources = new Map<string, SourcePart>();
  #names: AnswerNames = {};
  #rawFinish: string | undefined;
  #choice: unknown;
  #begun = false;
  #sawChoice = false;
  #sawRefusal = false;
  #warnedOf = new Set<string>();
  complete = false;
  error: ServerError | undefined;

  constructor(blocks: BlockWriter, profile: Profile) {
    this.#blocks = blocks;
    this.#profile = profile;
    this.#tools = new ToolDeltas(blocks, profile.name);
  }

  accept(value: unknown): void {
    if (this.error) return;
    const chunk: WireChunk | undefined = isRecord(value) ? value : undefined;
    if (chunk === undefined || (chunk.error !== undefined && chunk.error !== null) || chunk.choices === undefined) {
      this.error = findServerError(value);
      if (this.error || chunk === undefined) return;
    }
    const { model, responseId } = this.#names;
    if (model === undefined || responseId === undefined) this.#names = { ...namesOf(chunk), ...this.#names };
    if (chunk.usage) this.#usage.add(chunk.usage);
    else if (isRecord(chunk.x_groq)) {
      this.#usage.add(chunk.x_groq.usage);
      // Why the answer stops here.
      this.error = findServerError({ error: chunk.x_groq.error });
      if (this.error) return;
    }
    if (Array.isArray(chunk.search_results)) this.#addSources(chunk.search_results);
    if (Array.isArray(chunk.citations)) this.#addSources(chunk.citations);
    const { choices } = chunk;
    if (Array.isArray(choices)) for (const choice of choices) if (isRecord(choice)) this.#acceptChoice(choice);
  }

  end(by: 'done' | 'events' | 'json'): string | undefined {
    // Without a finish reason a choice, however empty, is an answer all the same when the mark of the end has come, or the JSON is whole.
    if (this.#rawFinish === undefined && (by === 'events' || !this.#sawChoice))
      return by === 'done' ? 'the stream ended without an answer' : 'the stream ended without a finish reason';
    this.#finish();
    return undefined;
  }

  #finish(): void {
    this.complete = true;
    this.#open();
    this.#flushDetails();
    this.#tools.end();
    for (const source of this.#sources.values()) this.#blocks.source(source);
    this.#blocks.end({
      finishReason: finishReason(this.#rawFinish, { calls: this.#blocks.hasCalls, refusal: this.#sawRefusal }),
      ...(this.#rawFinish === undefined ? {} : { rawFinishReason: this.#rawFinish }),
      usage: this.#usage.read(this.#profile.reasoningApart),
      ...this.#names,
    });
  }

  #acceptChoice(choice: WireChoice): void {
    // One answer was asked for; a server that sends several has several indices.
    if (!this.#sawChoice) {
      this.#sawChoice = true;
      this.#choice = choice.index;
    } else if (choice.index !== this.#choice && typeof choice.index === 'number' && typeof this.#choice === 'number') {
      this.#warnOnce('The server sent more than one choice; only the first is read.');
      return;
    }
    if (isRecord(choice.error)) {
      this.error = findServerError({ error: choice.error });
      if (this.error) return;
    }
    if (isRecord(choice.delta)) this.#acceptDelta(choice.delta);
    // Some streams end with the whole message once more.
    else if (isRecord(choice.message) && !this.#blocks.hasContent) this.#acceptDelta(choice.message);
    if (typeof choice.text === 'string') this.#text(choice.text);
    if (choice.usage) this.#usage.add(choice.usage);
    const finish = choice.finish_reason;
    if (typeof finish === 'string' && !NOT_YET.has(finish) && this.#rawFinish === undefined) this.#rawFinish = finish;
  }

  #acceptDelta(delta: WireDelta): void {
    this.#acceptReasoning(delta);
    const { content } = delta;
    if (typeof content === 'string') this.#text(content);
    else if (Array.isArray(content)) {
      for (const piece of readContent(content)) {
        if (piece.type === 'text') this.#text(piece.text);
        else if (piece.type === 'reasoning') this.#reasoning(piece.text);
        else if (piece.type === 'image') this.#image(piece.image);
        else this.#warnOnce(`The answer has a part of the unknown kind "${piece.kind}", which was left out.`);
      }
    }
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      this.#sawRefusal = true;
      this.#text(delta.refusal);
    }
    if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) {
      this.#open();
      this.#flushDetails();
      this.#tools.addAll(delta.tool_calls, this.#rawFinish !== undefined);
    }
    if (isRecord(delta.function_call)) {
      this.#open();
      this.#tools.addFunctionCall(delta.function_call);
    }
    if (Array.isArray(delta.annotations)) this.#addSources(delta.annotations);
    if (Array.isArray(delta.images)) for (const image of readImages(delta.images)) this.#image(image);
    if (isRecord(delta.audio)) {
      if (typeof delta.audio.transcript === 'string') this.#text(delta.audio.transcript);
      if (delta.audio.data !== undefined)
        this.#warnOnce('The answer has sound in it, which this adapter does not read; its transcript is kept.');
    }
  }

  #acceptReasoning(delta: WireDelta): void {
    // Servers in transition send the same text under two names.
    const named = [delta.reasoning_content, delta.reasoning_text].find(own => typeof own === 'string' && own !== '');
    let text = named ?? delta.reasoning;
    if (isRecord(text)) text = text.content ?? text.text;
    if (typeof delta.reasoning_opaque === 'string') this.#details.seal(delta.reasoning_opaque);
    if (Array.isArray(delta.reasoning_details)) {
      const inDetails = this.#details.add(delta.reasoning_details);
      if (typeof text !== 'string' || text === '') text = inDetails;
    }
    if (typeof text === 'string' && text !== '') this.#reasoning(text);
  }

  #text(text: string): void {
    if (text === '') return;
    this.#open();
    this.#flushDetails();
    this.#blocks.text(text);
  }

  #reasoning(text: string): void {
    if (text === '') return;
    this.#open();
    this.#blocks.reasoning(text);
  }

  #image(image: ImagePart): void {
    this.#open();
    this.#blocks.file(image);
  }

  /** The message begins with its first content: until then a failed request can be repeated unseen. */
  #open(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#blocks.start(this.#names);
  }

  #flushDetails(): void {
    if (!this.#details.isEmpty) this.#blocks.reasoning('', { [this.#profile.name]: this.#details.take() });
  }

  #addSources(list: readonly unknown[]): void {
    for (const item of list) {
      const source = sourceOf(item);
      if (source?.url !== undefined && !this.#sources.has(source.url)) this.#sources.set(source.url, source);
    }
  }

  #warnOnce(message: string): void {
    if (this.#warnedOf.has(message)) return;
    this.#warnedOf.add(message);
    this.#blocks.warn({ code: 'other', message });
  }
}

function sourceOf(item: unknown): SourcePart | undefined {
  if (typeof item === 'string') return item === '' ? undefined : { type: 'source', url: item };
  if (!isRecord(item)) return undefined;
  const about = isRecord(item.url_citation) ? item.url_citation : item;
  return filled(about.url) ? sourceFrom({ url: about.url, title: about.title }) : undefined;
}
