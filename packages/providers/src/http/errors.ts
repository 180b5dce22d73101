import { AdapterError, type AdapterReason, type Clock } from '@antiphon/engine';
import { classify } from './classify.js';
import type { Redact } from './redact.js';
import { retryAfterMs } from './retry-after.js';
import { findServerError, type ServerError } from './server-error.js';

/** What an error needs to know about the request beside the failure itself. */
export interface ErrorContext {
  readonly provider: string;
  readonly redact: Redact;
  /** The address without its query, for messages. */
  readonly address: string;
  /** What to do when no server answers. */
  readonly unreachableHint?: string | undefined;
}

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'apim-request-id', 'x-ms-request-id', 'x-amzn-requestid', 'cf-ray'];
/** The same request fails again, whatever the server advises for its status. */
const HOPELESS: ReadonlySet<AdapterReason> = new Set(['insufficient_quota', 'context_length_exceeded']);
const MAX_MESSAGE_CHARS = 2_000;

/** The error for an answer whose status is not 2xx. `body` is what was read of it. */
export function errorFromResponse(response: Response, body: string, clock: Clock, about: ErrorContext): AdapterError {
  const { status, headers } = response;
  const error = serverErrorIn(body) ?? { message: '', codes: [] };
  let { reason, retryable } = classify(status, error);
  // A 404 without a word about the model is a wrong address.
  const hint =
    status === 404 && reason !== 'model_not_found' && error.codes.length === 0
      ? ` Is the base URL right? It was asked at ${about.address}.`
      : '';
  // OpenAI's own word on whether to try again.
  const advice = headers.get('x-should-retry');
  if (advice !== null) retryable = advice === 'true' && !HOPELESS.has(reason);
  const wait = retryAfterMs(headers, clock.wallTime()) ?? error.retryAfterMs;
  const requestId = requestIdOf(headers, about.redact);
  return new AdapterError(reason, `${about.provider} answered ${status}${says(error.message, about.redact)}${hint}`, {
    status,
    retryable,
    provider: about.provider,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(requestId === undefined ? {} : { requestId }),
  });
}

/** The error for a failure that stands inside an answer with status 200. `shown`: the caller has already seen a part of the answer. */
export function errorInAnswer(error: ServerError, headers: Headers, about: ErrorContext, shown: boolean): AdapterError {
  const { reason, retryable } = classify(error.status, error);
  const requestId = requestIdOf(headers, about.redact);
  return new AdapterError(reason, `${about.provider} reported an error${says(error.message, about.redact)}`, {
    retryable: retryable && !shown,
    provider: about.provider,
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
  });
}

/** The error for a connection that could not be made (`received` undefined) or was lost after `received` bytes. */
export function connectionError(thrown: unknown, about: ErrorContext, received?: number, shown = false): AdapterError {
  const causes = chain(thrown);
  const code = causes.map(cause => cause.code).find(value => value !== undefined);
  const detail = about.redact(causes.map(cause => cause.message).join(': '));
  // A copy: the platform's own errors may hold the request, and with it the key.
  const cause = Object.assign(new Error(detail), code === undefined ? {} : { code });
  const unanswered = code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EHOSTUNREACH';
  const message =
    received !== undefined
      ? `The connection to ${about.address} was lost after ${received} bytes of the answer (${detail}).`
      : unanswered
        ? `No server answers at ${about.address}${about.unreachableHint ? ` — ${about.unreachableHint}` : ': check the base URL and the network'} (${code}).`
        : `The request to ${about.address} failed (${detail}).`;
  // A certificate does not get better by trying again.
  const hopeless = code !== undefined && /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO/.test(code);
  return new AdapterError('network_error', message, { retryable: !shown && !hopeless, provider: about.provider, cause });
}

/** The server's error in a body: JSON in any known shape, the title of an HTML page, or the text as it is. */
function serverErrorIn(body: string): ServerError | undefined {
  const text = body.trim();
  if (text === '') return undefined;
  if (text.startsWith('{') || text.startsWith('[')) {
    const value = parseJson(text);
    if (value !== undefined) return findServerError(value) ?? { message: text, codes: [] };
  }
  return { message: isHtml(text) ? (htmlTitle(text) ?? 'an HTML page without a title') : text, codes: [] };
}

/** What is wrong with a body that is not what was expected; it continues "the provider …". */
export function saysInstead(body: string, expected: string, { redact, address }: ErrorContext): string {
  if (!isHtml(body)) return `answered with something else than ${expected}: ${redact(body.slice(0, 10_000)).slice(0, 200)}`;
  const title = htmlTitle(body);
  const page = title === undefined ? 'a web page' : `a web page ("${redact(title)}")`;
  return `answered with ${page} instead of ${expected}: is ${address} the right base URL, and is there a login before it?`;
}

function isHtml(text: string): boolean {
  return /^\s*<(!doctype|html|head|body|title|\?xml)/i.test(text.slice(0, 200));
}

export function htmlTitle(text: string): string | undefined {
  const page = text.slice(0, 20_000);
  const open = page.search(/<title/i);
  const from = open < 0 ? -1 : page.indexOf('>', open);
  const to = from < 0 ? -1 : page.indexOf('<', from);
  const title = to < 0 ? '' : page.slice(from + 1, to).trim();
  return title === '' ? undefined : title;
}

function requestIdOf(headers: Headers, redact: Redact): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const value = headers.get(name);
    if (value) return redact(value);
  }
  return undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `: message`, without secrets and not longer than a person reads; `.` for none. */
function says(message: string, redact: Redact): string {
  const clean = redact(message.trim());
  if (clean === '') return '.';
  return `: ${clean.length > MAX_MESSAGE_CHARS ? `${clean.slice(0, MAX_MESSAGE_CHARS)}…` : clean}`;
}

function chain(thrown: unknown): { message: string; code: string | undefined }[] {
  const found: { message: string; code: string | undefined }[] = [];
  for (let next = thrown; next !== undefined && next !== null && found.length < 5; ) {
    if (!(next instanceof Error)) {
      found.push({ message: String(next), code: undefined });
      break;
    }
    const { code } = next as { code?: unknown };
    const inner: unknown = next instanceof AggregateError ? next.errors[0] : undefined;
    found.push({ message: next.message || String(code ?? next.name), code: typeof code === 'string' ? code : undefined });
    next = (next.cause ?? inner) as Error;
  }
  return found;
}
