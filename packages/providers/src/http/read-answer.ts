// A chat answer that is read while it comes: the part that is the same for every wire protocol.
import type { AdapterContext, AdapterEvent, Burst } from '@antiphon/engine';
import type { AnswerReader } from './answer-reader.js';
import type { Outgoing } from './exchange.js';
import { type StreamedAnswer, streamAnswer } from './streamed.js';

export interface ReadOptions {
  /** Called when bytes came that hold no event, such as a keep-alive. */
  readonly onSilence?: () => void;
}

/**
 * Sends the request and gives what `open` makes of the answer, in bursts: what one read of the socket held. Throws `AdapterError` for a status
 * that is no success and for what `failure` says at the end, or the signal's reason. However it ends, the connection is closed.
 */
export function readAnswer(
  outgoing: Outgoing,
  context: AdapterContext,
  open: (headers: Headers) => AnswerReader,
  options: ReadOptions = {},
): AsyncGenerator<Burst<AdapterEvent>, void> {
  return streamAnswer(outgoing, context, answer => bursts(answer, open(answer.headers), context.signal, options));
}

async function* bursts(
  { read }: StreamedAnswer,
  answer: AnswerReader,
  signal: AbortSignal,
  { onSilence }: ReadOptions,
): AsyncGenerator<Burst<AdapterEvent>, void> {
  const shown = () => answer.shown;
  while (!answer.over) {
    const bytes = await read(shown);
    if (bytes) answer.feed(bytes);
    else answer.end();
    const events = answer.take();
    if (events.length > 0) yield events;
    else onSilence?.();
    signal.throwIfAborted();
  }
  if (answer.failure) throw answer.failure;
}
