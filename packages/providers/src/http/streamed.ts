// A request whose answer is read while it comes.
import type { AdapterContext } from '@antiphon/engine';
import { errorFromResponse } from './errors.js';
import { Exchange, type Outgoing } from './exchange.js';

/** An answer with a status of 2xx whose body is still to be read. */
export interface StreamedAnswer {
  readonly headers: Headers;
  /** The next bytes, or undefined at the end; see `Exchange.read`. */
  read(shown: () => boolean): Promise<Uint8Array | undefined>;
}

/**
 * Sends the request, and lets `work` read the answer and yield what it makes of it. However that ends, and also when the reader leaves, the
 * connection is closed and no listener is left.
 */
export async function* streamAnswer<T>(
  request: Outgoing,
  { signal, clock }: Pick<AdapterContext, 'signal' | 'clock'>,
  work: (answer: StreamedAnswer) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted();
  const exchange = new Exchange(signal);
  try {
    const response = await exchange.send(request);
    if (!response.ok) throw errorFromResponse(response, await exchange.readText(), clock, request.about);
    for await (const item of work({ headers: response.headers, read: shown => exchange.read(shown) })) {
      yield item;
      signal.throwIfAborted();
    }
  } finally {
    exchange.close();
  }
}
