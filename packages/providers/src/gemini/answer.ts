import type { BlockWriter } from '@antiphon/engine';
import type { AnswerParser } from '../http/answer-reader.js';
import type { ServerError } from '../http/server-error.js';
import { isInteraction } from './interactions/events.js';
import { StepReader } from './interactions/step-reader.js';
import { ChunkReader } from './stream.js';

/** Reads an answer of either of Google's two APIs; which of them answers is seen in each event. */
export class GeminiAnswer implements AnswerParser {
  readonly #chunks: ChunkReader;
  readonly #steps: StepReader;
  complete = false;

  constructor(blocks: BlockWriter) {
    this.#chunks = new ChunkReader(blocks);
    this.#steps = new StepReader(blocks);
  }

  get error(): ServerError | undefined {
    return this.#steps.error ?? this.#chunks.error;
  }

  accept(value: unknown): void {
    for (const event of Array.isArray(value) ? value : [value]) {
      if (isInteraction(event)) this.#steps.accept(event);
      else this.#chunks.accept(event);
    }
    // Its last event is marked as such, while a chunk of generateContent may always be followed by another.
    if (!this.error && this.#steps.finished) this.#close(this.#steps);
  }

  end(by: 'done' | 'events' | 'json'): string | undefined {
    // A mark of another dialect, with which gateways end their streams.
    if (by === 'done') return undefined;
    this.#steps.breakOff();
    if (!this.#chunks.finished) return 'the stream ended without a finish reason';
    if (this.#chunks.continuation === undefined) this.#close(this.#chunks);
    else this.complete = true;
    return undefined;
  }

  /** What to ask for the next piece of a paused answer with, which is read behind what came; undefined when the answer is closed. */
  goOn(): string | undefined {
    const token = this.#chunks.continuation;
    if (token === undefined) return undefined;
    this.#chunks.goOn();
    this.complete = false;
    return token;
  }

  #close(reader: ChunkReader | StepReader): void {
    this.complete = true;
    reader.finish();
  }
}
