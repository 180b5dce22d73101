// What the caller holds of a stream of speech or transcription. How one runs is told in `run-stream.ts`.
import { OutcomeStream } from '../events/outcome-stream.js';
import type { CapabilityOptions } from './call.js';

/** Options of a streamed call. */
export interface StreamOptions extends CapabilityOptions {
  /** Milliseconds of silence of the provider before the call is given up; waiting for the caller's own input does not count. Default 60 000. */
  readonly idleTimeoutMs?: number;
}

/** The last event of every stream. */
export interface CapabilityEnd<Outcome> {
  readonly type: 'end';
  readonly outcome: Outcome;
}

/**
 * A streamed call that can be watched once. Nothing is sent before somebody reads: iterating drives it, one event per pull, and awaiting
 * `outcome` without iterating drives it too. Leaving the loop early stops the request; the outcome is `interrupted` then. `outcome` does
 * not reject for failures of the world. The last event is `end`.
 *
 * ```ts
 * for await (const event of engine.streamSpeech('Hello!')) if (event.type === 'audio_delta') play(event.bytes);
 * ```
 */
export class CapabilityStream<Event extends { readonly type: string }, Outcome> extends OutcomeStream<
  Event | CapabilityEnd<Outcome>,
  Outcome
> {
  /** `run` returns the outcome; `stop` makes it return soon. */
  constructor(run: AsyncGenerator<Event, Outcome>, stop: () => void) {
    super(withEnd(run), stop);
  }
}

async function* withEnd<Event, Outcome>(run: AsyncGenerator<Event, Outcome>): AsyncGenerator<Event | CapabilityEnd<Outcome>, void> {
  yield { type: 'end', outcome: yield* run };
}

/** A stream whose run is loaded when somebody reads it. `open` is called once then; `stop` aborts when the reader leaves. */
export function lazyStream<Event extends { readonly type: string }, Outcome>(
  open: (stop: AbortController) => Promise<AsyncGenerator<Event, Outcome>>,
): CapabilityStream<Event, Outcome> {
  const stop = new AbortController();
  async function* run() {
    return yield* await open(stop);
  }
  return new CapabilityStream(run(), () => stop.abort());
}
