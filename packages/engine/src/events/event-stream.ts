import type { StreamEvent } from './events.js';
import type { Outcome } from './outcome.js';
import { OutcomeStream } from './outcome-stream.js';

/**
 * A run that can be watched once. Nothing is sent before somebody reads. Iterating drives it, one event per pull; awaiting `outcome`
 * without iterating drives it too; awaiting it inside of the loop waits for ever, since only the loop pulls. Leaving the loop early stops the
 * request and gives an `interrupted` outcome. `outcome` never rejects.
 *
 * ```ts
 * const stream = engine.stream('Tell me a story.');
 * for await (const text of stream.textStream) process.stdout.write(text);
 * const { usage } = await stream.outcome;
 * ```
 */
export class EventStream<Output = unknown> extends OutcomeStream<StreamEvent, Outcome<Output>> {
  /** Only the text, as it arrives. */
  get textStream(): AsyncIterable<string> {
    return textOf(this);
  }
}

async function* textOf(stream: EventStream): AsyncGenerator<string> {
  for await (const event of stream) if (event.type === 'text_delta') yield event.delta;
}
