// A request whose answer is read as a whole: for everything that does not stream.

import { type AdapterContext, AdapterError, isRecord } from '@antiphon/engine';
import { joinedBytes } from './bytes.js';
import { type ErrorContext, errorFromResponse, errorInAnswer, parseJson, saysInstead } from './errors.js';
import { Exchange, type Outgoing } from './exchange.js';
import { findServerError } from './server-error.js';

/** An answer with a status of 2xx, read to its end. */
interface WholeAnswer {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** Bytes of one answer: well above ten large pictures in base64, so that a body without end cannot fill the memory. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Sends the request and reads the whole answer. Throws the signal's reason when it is aborted, and an `AdapterError` for every failure of
 * the world: no server, a lost connection, a status that is not 2xx, an answer without end. No socket and no listener is left behind.
 */
async function fetchWhole(request: Outgoing, context: Pick<AdapterContext, 'signal' | 'clock'>): Promise<WholeAnswer> {
  const { signal, clock } = context;
  const { about } = request;
  signal.throwIfAborted();
  const exchange = new Exchange(signal);
  try {
    const response = await exchange.send(request);
    if (!response.ok) throw errorFromResponse(response, await exchange.readText(), clock, about);
    const pieces: Uint8Array[] = [];
    for (let piece = await exchange.read(notShown); piece; piece = await exchange.read(notShown)) {
      pieces.push(piece);
      if (exchange.received > MAX_BYTES) throw malformedAnswer(about, `sent more than ${MAX_BYTES} bytes`);
    }
    return { headers: response.headers, bytes: joinedBytes(pieces) };
  } finally {
    exchange.close();
  }
}

/** `fetchWhole` for an answer of JSON. An object that reports an error is a failure, whatever its status is. */
export async function fetchJson(
  request: Outgoing,
  context: Pick<AdapterContext, 'signal' | 'clock'>,
): Promise<{ readonly headers: Headers; readonly value: unknown }> {
  const { headers, bytes } = await fetchWhole(request, context);
  const value = readJson(new TextDecoder().decode(bytes), request.about);
  if (isRecord(value) && value.error) {
    const error = findServerError(value);
    if (error) throw errorInAnswer(error, headers, request.about, false);
  }
  return { headers, value };
}

/** The error for an answer that cannot be read; `what` continues "the provider …". */
export function malformedAnswer(about: ErrorContext, what: string): AdapterError {
  return new AdapterError('malformed_response', `${about.provider} ${about.redact(what)}.`, { provider: about.provider });
}

/** `unsupported` with everything that the endpoint cannot express; nothing was sent. */
export function refuse(provider: string, faults: readonly (string | false | undefined)[]): void {
  const real = faults.filter(fault => typeof fault === 'string');
  if (real.length > 0) throw new AdapterError('unsupported', `${provider}: ${real.join('; ')}. Nothing was sent.`, { provider });
}

function readJson(text: string, about: ErrorContext): unknown {
  if (text.trim() === '') throw malformedAnswer(about, 'answered with an empty body');
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw malformedAnswer(about, saysInstead(text, 'JSON', about));
}

function notShown(): boolean {
  return false;
}
