// A chat answer that is read while it comes: the part that is the same for every wire protocol.
import type { AdapterContext, AdapterEvent, Burst } from '@antiphon/engine';
import type { AnswerReader } from './answer-reader.js';
import { errorFromResponse } from './errors.js';
import { Exchange, type Outgoing } from './exchange.js';

export interface ReadOptions {
  /** Called when bytes came that hold no event, such as a keep-alive. */
  readonly onSilence?: () => void;
}

/**
 * Sends the request and gives what `open` makes of the answer, in bursts: what one read of the socket held. Throws `AdapterError` for a status
 * that is no success and for what `failure` says at the end, or the signal's reason. However it ends, the connection is closed.
 */
export async function* readAnswer(
  outgoing: Outgoing,
  { signal, clock }: AdapterContext,
  open: (headers: Headers) => AnswerReader,
  { onSilence }: ReadOptions = {},
): AsyncGenerator<Burst<AdapterEvent>, void> {
  signal.throwIfAborted();
  const exchange = new Exchange(signal);
  try {
    const response = await exchange.send(outgoing);
    if (!response.ok) throw errorFromResponse(response, await exchange.readText(), clock, outgoing.about);
    const answer = open(response.headers);
    const shown = () => answer.shown;
    while (!answer.over) {
      const bytes = await exchange.read(shown);
      if (bytes) answer.feed(bytes);
      else answer.end();
      const events = answer.take();
      if (events.length === 0) onSilence?.();
      else yield events;
      signal.throwIfAborted();
    }
    if (answer.failure) throw answer.failure;
  } finally {
    exchange.close();
  }
}
