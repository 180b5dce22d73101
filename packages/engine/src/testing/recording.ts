// What a recording of one HTTP exchange is, and how a request becomes a part of it without its secrets.
import { binaryText } from '../data/bytes.js';
import { isRecord } from '../data/json.js';
import { redactor } from '../reliability/redact.js';

/** The shape of `fetch`, which everything here takes and gives. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Bytes as text where they are UTF-8, else as base64. */
export type RecordedBytes = { readonly text: string } | { readonly base64: string };

/** One field of a form; a file has a name and a media type. */
export type RecordedField = RecordedBytes & { readonly name: string; readonly fileName?: string; readonly mediaType?: string };

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** What the caller set, in lower case; secret values are `[redacted]`. */
  readonly headers: { readonly [name: string]: string };
  readonly body?: RecordedBytes | { readonly form: readonly RecordedField[] };
}

/** Bytes of the answer as they came together, `atMs` after the request. */
export type RecordedChunk = RecordedBytes & { readonly atMs: number };

export interface RecordedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { readonly [name: string]: string };
  /** Milliseconds from the request to the headers. */
  readonly atMs: number;
  readonly chunks: readonly RecordedChunk[];
  /** `complete`: all of it was read. `lost`: the connection broke. `left`: the reader went away or was aborted. */
  readonly end: 'complete' | 'lost' | 'left';
  readonly endMs: number;
  readonly failure?: RecordedFailure;
}

export interface RecordedFailure {
  readonly message: string;
  /** The message of its cause. */
  readonly cause?: string;
  /** Such as `ECONNRESET`. */
  readonly code?: string;
  /** The caller's own signal ended it. */
  readonly aborted?: true;
}

/** One request and what came of it: an answer, or a failure before there was one. Plain JSON. */
export interface HttpRecording {
  readonly version: 1;
  readonly request: RecordedRequest;
  readonly response?: RecordedResponse;
  readonly failure?: RecordedFailure;
}

const HIDDEN = '[redacted]';
/** Headers and query fields that carry a secret by their name. */
const SECRET_NAME = /auth|key|token|secret|cookie|credential|password|signature/i;
/** Headers that name an account: hidden, but no secret that would be looked for elsewhere. */
const ACCOUNT_NAME = /organization|project/i;
/** Fields of a JSON body that do; a bare `key` or `token` may mean anything there. */
const SECRET_FIELD = /^(api[-_]?key|access[-_]?token|refresh[-_]?token|authorization|password|client[-_]?secret|private[-_]?key)$/i;

/** A request without its secrets, and the secrets that were found in it beside the given ones. */
export async function describeRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
  given: readonly string[],
): Promise<{ readonly request: RecordedRequest; readonly secrets: readonly string[] }> {
  const asked = input instanceof Request ? input : undefined;
  const url = new URL(asked?.url ?? String(input));
  const headers = new Headers(init?.headers ?? asked?.headers);
  const secrets = [...given];
  const safeHeaders: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (SECRET_NAME.test(name)) secrets.push(value, value.slice(value.indexOf(' ') + 1));
    safeHeaders[name] = SECRET_NAME.test(name) || ACCOUNT_NAME.test(name) ? HIDDEN : value;
  }
  for (const [name, value] of [...url.searchParams]) {
    if (!SECRET_NAME.test(name)) continue;
    secrets.push(value);
    url.searchParams.set(name, HIDDEN);
  }
  const raw = await bodyOf(init?.body ?? (asked?.body ? await asked.clone().arrayBuffer() : undefined));
  const body = raw && 'text' in raw ? { text: withoutSecretFields(raw.text, secrets) } : raw;
  const hide = redactor(secrets);
  const request: RecordedRequest = {
    method: (init?.method ?? asked?.method ?? 'GET').toUpperCase(),
    url: hide(url.href),
    headers: Object.fromEntries(Object.entries(safeHeaders).map(([name, value]) => [name, hide(value)])),
    ...(body === undefined ? {} : { body: hideIn(body, hide) }),
  };
  return { request, secrets };
}

/** Headers of an answer without secrets, and without what says how it was packed: recorded bytes are unpacked. */
export function describeHeaders(headers: Headers, hide: (text: string) => string): Record<string, string> {
  const safe: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name === 'content-encoding' || name === 'content-length' || name === 'transfer-encoding') continue;
    safe[name] = SECRET_NAME.test(name) || ACCOUNT_NAME.test(name) ? HIDDEN : hide(value);
  }
  return safe;
}

/** Chunks whose secrets are covered by as many stars, so that every boundary stays where it was, also inside a secret. */
export function masked(chunks: readonly Uint8Array[], secrets: readonly string[]): Uint8Array[] {
  const hide = redactor(secrets);
  // One character per byte, so that places in the text are places in the bytes.
  let whole = chunks.map(binaryText).join('');
  const changes = (text: string) => hide(text) !== text;
  for (let from = 0; changes(whole.slice(from)); ) {
    const end = smallest(from, whole.length, to => changes(whole.slice(from, to)));
    const start = end - smallest(0, end - from, length => changes(whole.slice(end - length, end)));
    whole = whole.slice(0, start) + '*'.repeat(end - start) + whole.slice(end);
    from = end;
  }
  let at = 0;
  return chunks.map(({ length }) => {
    at += length;
    return Uint8Array.from(whole.slice(at - length, at), char => char.charCodeAt(0));
  });
}

export function encodeBytes(bytes: Uint8Array): RecordedBytes {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { base64: btoa(binaryText(bytes)) };
  }
}

export function decodeBytes(bytes: RecordedBytes): Uint8Array {
  return 'text' in bytes ? new TextEncoder().encode(bytes.text) : Uint8Array.from(atob(bytes.base64), char => char.charCodeAt(0));
}

/** The smallest number up to `high` for which `holds` is true; it must stay true from there on. */
function smallest(low: number, high: number, holds: (value: number) => boolean): number {
  let [below, at] = [low, high];
  while (at - below > 1) {
    const middle = (below + at) >> 1;
    if (holds(middle)) at = middle;
    else below = middle;
  }
  return at;
}

async function bodyOf(body: BodyInit | undefined): Promise<RecordedRequest['body']> {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return { text: body };
  if (body instanceof ReadableStream)
    throw new TypeError('A request body that is a stream cannot be recorded: reading it would use it up.');
  if (body instanceof FormData) {
    // Recorded field by field: the boundary between them is new for each request.
    const form = [...body].map(async ([name, value]): Promise<RecordedField> => {
      if (typeof value === 'string') return { name, text: value };
      const bytes = encodeBytes(new Uint8Array(await value.arrayBuffer()));
      return { name, fileName: value.name, ...(value.type === '' ? {} : { mediaType: value.type }), ...bytes };
    });
    return { form: await Promise.all(form) };
  }
  return encodeBytes(new Uint8Array(await new Response(body).arrayBuffer()));
}

function hideIn(body: NonNullable<RecordedRequest['body']>, hide: (text: string) => string): NonNullable<RecordedRequest['body']> {
  if ('form' in body) return { form: body.form.map(field => ('text' in field ? { ...field, text: hide(field.text) } : field)) };
  return 'text' in body ? { text: hide(body.text) } : body;
}

/** The text with the values of secret fields replaced, if it is JSON that has any; what was replaced goes into `secrets`. */
function withoutSecretFields(text: string, secrets: string[]): string {
  let found = false;
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean);
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        if (typeof item !== 'string' || !SECRET_FIELD.test(key)) return [key, clean(item)];
        found = true;
        secrets.push(item);
        return [key, HIDDEN];
      }),
    );
  };
  try {
    const safe = clean(JSON.parse(text));
    return found ? JSON.stringify(safe) : text;
  } catch {
    return text;
  }
}
