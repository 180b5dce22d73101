import { addUsage, type BlockWriter, type FilePart, type ImagePart, isRecord, type JsonObject, type Usage } from '@antiphon/engine';
import { findServerError, type ServerError } from '../http/server-error.js';
import { filled } from '../http/wire-values.js';
import { continuationOf } from './continuation.js';
import { blockReason, finishReason } from './finish.js';
import { FunctionCalls } from './function-calls.js';
import { Sources } from './sources.js';
import { stateOf } from './state.js';
import { UsageReport } from './usage.js';
import type { WireCandidate, WireChunk, WirePart } from './wire.js';

const OWN_THOUGHT = stateOf({ thought: true });

/**
 * Turns the chunks of one answer into block events. `accept` takes chunks that are already parsed; when the bytes have ended, `finish`
 * closes the message. An error that the server reports inside the answer is kept in `error`, and nothing after it is read.
 */
export class ChunkReader {
  readonly #blocks: BlockWriter;
  readonly #calls: FunctionCalls;
  #usage = new UsageReport();
  readonly #sources = new Sources();
  readonly #warnedOf = new Set<string>();
  readonly #about: { model?: string; responseId?: string } = {};
  #rawFinish: string | undefined;
  /** The prompt itself was refused. */
  #blocked = false;
  /** With it the same request is answered from where a long answer was paused. */
  #token: unknown;
  #askedWith: string | undefined;
  /** What earlier pieces of the answer took. */
  #before: Usage = {};
  error: ServerError | undefined;

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
    this.#calls = new FunctionCalls(blocks);
  }

  /** The server has said how the answer ended. */
  get finished(): boolean {
    return this.#rawFinish !== undefined;
  }

  accept(value: unknown): void {
    if (this.error || !isRecord(value)) return;
    const chunk: WireChunk = value;
    const { candidates, promptFeedback, usageMetadata } = chunk;
    if ((chunk.error !== undefined && chunk.error !== null) || (candidates ?? promptFeedback ?? usageMetadata) === undefined) {
      this.error = findServerError(value);
      if (this.error) return;
    }
    if (filled(chunk.responseId)) this.#about.responseId ??= chunk.responseId;
    if (filled(chunk.modelVersion)) this.#about.model ??= chunk.modelVersion;
    this.#usage.add(usageMetadata);
    if (isRecord(promptFeedback)) this.#acceptFeedback(promptFeedback);
    // What stands behind a refusal is no answer to the prompt.
    if (Array.isArray(candidates) && !this.#blocked)
      for (const candidate of candidates) if (isRecord(candidate)) this.#acceptCandidate(candidate);
  }

  /** What to ask for the next piece with, when the server paused a long answer; undefined for one that is over. */
  get continuation(): string | undefined {
    return this.#blocked ? undefined : continuationOf(this.#rawFinish, this.#token, this.#askedWith);
  }

  /** The next piece of the same answer comes. */
  goOn(): void {
    this.#before = addUsage(this.#before, this.#usage.read());
    this.#usage = new UsageReport();
    this.#askedWith = this.continuation;
    this.#rawFinish = this.#token = undefined;
  }

  /** Closes the message. Call it only when `finished`. */
  finish(): void {
    const raw = this.#rawFinish ?? '';
    if (raw === 'CONTINUATION') this.#warnOnce('Gemini paused this long answer; the rest of it was not asked for.');
    const reason = this.#blocked ? 'content_filter' : finishReason(raw, this.#blocks.hasCalls);
    // Calls that were cut off stay open, so that they are marked as such.
    if (reason !== 'length' && reason !== 'content_filter') this.#calls.end();
    this.#blocks.start(this.#about);
    for (const source of this.#sources.all) this.#blocks.source(source);
    this.#blocks.end({
      finishReason: reason,
      rawFinishReason: raw,
      usage: addUsage(this.#before, this.#usage.read()),
      ...this.#about,
    });
  }

  #acceptFeedback(feedback: Record<string, unknown>): void {
    const reason = blockReason(feedback);
    if (reason === undefined) return;
    const { blockReasonMessage } = feedback;
    this.#blocked = true;
    this.#rawFinish ??= reason;
    const why = filled(blockReasonMessage) ? `: ${blockReasonMessage}` : '.';
    this.#warnOnce(`The prompt was blocked (${reason})${why}`);
  }

  #acceptCandidate(candidate: WireCandidate): void {
    if (typeof candidate.index === 'number' && candidate.index > 0) {
      this.#warnOnce('The server sent more than one candidate; only the first is read.');
      return;
    }
    const parts = isRecord(candidate.content) ? candidate.content.parts : undefined;
    if (Array.isArray(parts)) for (const part of parts) if (isRecord(part)) this.#acceptPart(part);
    this.#sources.addCandidate(candidate);
    const { finishReason: finish, finishMessage, continuationToken } = candidate;
    // It may come before the chunk that says that the answer is paused.
    this.#token = continuationToken ?? this.#token;
    // Older models repeat STOP with each chunk; what is said last counts.
    if (filled(finish) && finish !== 'FINISH_REASON_UNSPECIFIED') this.#rawFinish = finish;
    if (filled(finishMessage) && finish !== 'STOP') this.#warnOnce(`${finish}: ${finishMessage}`);
  }

  #acceptPart(part: WirePart): void {
    // The message begins with its first content: until then a failed request can be repeated unseen.
    this.#blocks.start(this.#about);
    if (isRecord(part.functionCall)) this.#calls.add(part.functionCall, part.thoughtSignature);
    else if (isRecord(part.inlineData)) this.#file(part, part.inlineData);
    else if (isRecord(part.fileData)) this.#file(part, part.fileData);
    else if (isRecord(part.executableCode)) this.#code(part, part.executableCode.code);
    else if (isRecord(part.codeExecutionResult)) this.#code(part, part.codeExecutionResult.output);
    // A tool of Google's beside the caller's own: the API wants call and answer back.
    else if (isRecord(part.toolCall) || isRecord(part.toolResponse)) this.#code(part, '');
    else if (typeof part.text === 'string') this.#text(part);
    else this.#unknown(part);
  }

  /** A signature makes a part one that has to go back, whatever it is. */
  #unknown(part: WirePart): void {
    const { thoughtSignature, thought, ...rest } = part;
    const isSigned = filled(thoughtSignature);
    const kind = Object.keys(rest).join(', ');
    if (kind === '') {
      if (isSigned) this.#text(part);
      return;
    }
    const fate = isSigned ? 'is kept for the next request and not shown' : 'was left out';
    this.#warnOnce(`The answer has a part of the unknown kind "${kind}", which ${fate}.`);
    if (isSigned) this.#code(part, '');
  }

  /** A part with a signature stands alone: joined with its neighbours it could not go back as it came. */
  #text(part: WirePart): void {
    const text = typeof part.text === 'string' ? part.text : '';
    const { thoughtSignature } = part;
    const state = stateOf({ thoughtSignature });
    if (state) this.#blocks.endBlock();
    if (part.thought === true) this.#blocks.reasoning(text, state ?? (text === '' ? undefined : OWN_THOUGHT));
    else if (text !== '') this.#blocks.text(text);
    // There are no empty blocks of text, so a signature without text goes where state may stand alone.
    else if (state) this.#blocks.reasoning('', stateOf({ part: { text, thoughtSignature } }));
    if (state) this.#blocks.endBlock(text === '' ? undefined : state);
  }

  #file(part: WirePart, { mimeType, data, fileUri, displayName }: Record<string, unknown>): void {
    if (part.thought === true) {
      this.#warnOnce('A picture from the thoughts of the model was left out.');
      return;
    }
    const mediaType = filled(mimeType) ? mimeType : 'application/octet-stream';
    if (typeof data !== 'string' && typeof fileUri !== 'string') {
      this.#warnOnce('The answer has a file without bytes or address, which was left out.');
      return;
    }
    const where = typeof data === 'string' ? { data } : { url: String(fileUri) };
    const providerState = stateOf({ thoughtSignature: part.thoughtSignature });
    const about = { mediaType, ...where, ...(providerState === undefined ? {} : { providerState }) };
    const name = typeof displayName === 'string' ? { name: displayName } : {};
    const file: FilePart | ImagePart = mediaType.startsWith('image/') ? { type: 'image', ...about } : { type: 'file', ...about, ...name };
    this.#blocks.file(file);
  }

  /** Code that Google ran on the way to the answer, and what it printed: shown as reasoning, sent back as it was. So is what has no words. */
  #code(part: WirePart, text: unknown): void {
    this.#blocks.endBlock();
    this.#blocks.reasoning(typeof text === 'string' ? text : '', stateOf({ part: part as JsonObject }));
    this.#blocks.endBlock();
  }

  #warnOnce(message: string): void {
    if (this.#warnedOf.has(message)) return;
    this.#warnedOf.add(message);
    this.#blocks.warn({ code: 'other', message });
  }
}
