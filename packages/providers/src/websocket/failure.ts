// Why a socket did not open, or closed before it was done, as errors of the family.
import { AdapterError, type AdapterReason, type Clock } from '@antiphon/engine';
import { classify } from '../http/classify.js';
import { connectionError, type ErrorContext, errorFromResponse } from '../http/errors.js';
import type { ServerError } from '../http/server-error.js';

/** How the other side ended it. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** Close codes whose meaning is fixed (RFC 6455 § 7.4.1 and IANA's registry). */
const BY_CODE: ReadonlyMap<number, readonly [reason: AdapterReason, retryable: boolean]> = new Map([
  [1000, ['truncated', false]],
  [1001, ['truncated', true]],
  [1002, ['malformed_response', false]],
  [1003, ['invalid_request', false]],
  [1005, ['truncated', false]],
  [1006, ['network_error', true]],
  [1007, ['invalid_request', false]],
  [1008, ['invalid_request', false]],
  [1009, ['invalid_request', false]],
  [1011, ['provider_unavailable', true]],
  [1012, ['provider_unavailable', true]],
  [1013, ['provider_unavailable', true]],
  [3000, ['authentication_failed', false]],
  [3003, ['permission_denied', false]],
  [3008, ['timeout', true]],
]);

/** The error for a connection that was closed before the answer was complete. `shown`: a part of it was passed on already. */
export function closedEarly({ code, reason }: Closing, about: ErrorContext, shown: boolean): AdapterError {
  // Servers say in the reason what the code cannot: "1008: quota_exceeded".
  const told = reason === '' ? undefined : classify(undefined, serverErrorIn(reason));
  const [byCode, again] = BY_CODE.get(code) ?? (['unknown', false] as const);
  const named = told !== undefined && told.reason !== 'unknown' ? told : { reason: byCode, retryable: again };
  const words = reason === '' ? '' : `: ${about.redact(reason)}`;
  const message = `${about.provider} closed the connection before the answer was complete (close code ${code}${words}).`;
  return new AdapterError(named.reason, message, { provider: about.provider, retryable: named.retryable && !shown });
}

/** The error that a server reports in a message of its own. */
export function reported(error: ServerError, about: ErrorContext, shown: boolean): AdapterError {
  const { reason, retryable } = classify(error.status, error);
  const message = `${about.provider} reported an error: ${about.redact(error.message).slice(0, 2_000)}`;
  return new AdapterError(reason, message, { provider: about.provider, retryable: retryable && !shown });
}

/** What is known of a socket that never opened. */
export type Refusal =
  | { readonly status: number; readonly headers: Readonly<Record<string, string | string[] | undefined>>; readonly body: string }
  | { readonly error: unknown };

export function notOpened(refusal: Refusal, about: ErrorContext, clock: Clock): AdapterError {
  if ('error' in refusal) return connectionError(refusal.error, about);
  const headers = new Headers();
  for (const [name, value] of Object.entries(refusal.headers)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each);
  }
  // 101 is no status that a Response may have, and here it never is one.
  const status = refusal.status >= 200 && refusal.status <= 599 ? refusal.status : 502;
  return errorFromResponse(new Response(null, { status, headers }), refusal.body, clock, about);
}

/** The server's words in a close reason; whatever looks like a code in it counts as one. */
function serverErrorIn(reason: string): ServerError {
  return { message: reason, codes: reason.toLowerCase().match(/[a-z]+(?:_[a-z]+)+/g) ?? [] };
}
