import { type AdapterReason, isRecord } from '@antiphon/engine';
import { durationMs, waitInWords } from './retry-after.js';

/** What a server says about its failure, in whichever shape it says it. */
export interface ServerError {
  readonly message: string;
  /** The server's own words for the kind of failure: `code`, `type` and `status` fields, in lower case. */
  readonly codes: readonly string[];
  /** An HTTP status that stands in the body. */
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** Google says which of its quotas is used up: one of the day, or one that is soon over. */
  readonly quota?: 'daily' | 'short';
}

/**
 * Finds the error in a JSON value: `{ error: { message, code, type } }`, `{ error: 'text' }`, FastAPI's `{ detail }`, `{ errors: […] }`,
 * `{ object: 'error', message }`, and a list around any of these. Undefined when the value reports none (`error: null` is no error).
 */
export function findServerError(value: unknown): ServerError | undefined {
  if (Array.isArray(value)) return value.length > 0 ? findServerError(value[0]) : undefined;
  if (!isRecord(value)) return undefined;
  const { error } = value;
  if (typeof error === 'string' && error !== '') return { message: text(value.message) ?? error, codes: words(value, error) };
  if (isRecord(error) && Object.keys(error).length > 0) return fromRecord(error);
  if (error !== undefined && error !== null && error !== false) return undefined;
  if (value.object === 'error' || value.type === 'error') return fromRecord(value);
  if ('choices' in value) return undefined;
  // ElevenLabs: `detail` is the error itself.
  if (isRecord(value.detail) && typeof value.detail.message === 'string') return fromRecord(value.detail);
  if (value.detail !== undefined) return { message: detailText(value.detail), codes: words(value) };
  if (Array.isArray(value.errors) && value.errors.length > 0) return fromRecord(isRecord(value.errors[0]) ? value.errors[0] : value);
  if (typeof value.message === 'string' && value.message !== '') return fromRecord(value);
  return undefined;
}

/** What kind of failure this is, and whether the same request may work later. */
export function classify(status: number | undefined, error: ServerError): { reason: AdapterReason; retryable: boolean } {
  const reason = reasonFor(status ?? error.status, error);
  return { reason, retryable: RETRYABLE.has(reason) };
}

const RETRYABLE: ReadonlySet<AdapterReason> = new Set(['rate_limited', 'provider_unavailable', 'timeout', 'network_error']);

/** Words by which servers name a kind of failure, whatever the status says: a wrong key is a 400 at one vendor, a full quota a 429. */
const BY_CODE: ReadonlyArray<readonly [AdapterReason, ReadonlySet<string>]> = [
  [
    'insufficient_quota',
    new Set([
      'insufficient_quota',
      'quota_exceeded',
      'exceeded_current_quota_error',
      'billing_error',
      'billing_not_active',
      'billing_hard_limit_reached',
      'insufficient_balance',
      'payment_required',
      'arrearage',
    ]),
  ],
  [
    'context_length_exceeded',
    new Set([
      'context_length_exceeded',
      'exceed_context_size_error',
      'model_context_window_exceeded',
      'context_window_exceeded',
      'string_above_max_length',
      'max_tokens_per_request',
      'model_max_prompt_tokens_exceeded',
      'tokens_limit_reached',
      'max_character_limit_exceeded',
    ]),
  ],
  [
    'content_filter',
    new Set([
      'content_filter',
      'content_policy_violation',
      'responsibleaipolicyviolation',
      'data_inspection_failed',
      'datainspectionfailed',
      'moderation_blocked',
      'contentfilter',
    ]),
  ],
  [
    'model_not_found',
    new Set(['model_not_found', 'model_not_available', 'model_not_supported', 'invalid_model', 'deploymentnotfound', 'model_not_exist']),
  ],
  [
    'authentication_failed',
    new Set([
      'invalid_api_key',
      'invalid_authentication_error',
      'authentication_error',
      'unauthenticated',
      'unauthorized',
      'incorrect_api_key',
      'api_key_invalid',
      'api_key_expired',
    ]),
  ],
  [
    'permission_denied',
    new Set(['permission_denied', 'permission_error', 'missing_permissions', 'forbidden', 'unsupported_country_region_territory']),
  ],
  [
    'rate_limited',
    new Set([
      'rate_limit_exceeded',
      'rate_limit_error',
      'rate_limited',
      'rate_limit_reached_error',
      'too_many_requests',
      'resource_exhausted',
      'throttling',
    ]),
  ],
  [
    'provider_unavailable',
    new Set([
      'overloaded_error',
      'overloaded',
      'engine_overloaded_error',
      'capacity_exceeded',
      'server_error',
      'api_error',
      'internal_server_error',
      'internal_error',
      'internal',
      'service_unavailable',
      'unavailable',
      'bad_gateway',
      'upstream_error',
    ]),
  ],
  ['timeout', new Set(['timeout', 'timeout_error', 'deadline_exceeded', 'gateway_timeout', 'request_timeout'])],
  [
    'invalid_request',
    new Set(['invalid_request_error', 'invalid_request', 'badrequesterror', 'bad_request', 'invalid_argument', 'validation_error']),
  ],
];

const QUOTA =
  /insufficient[ _](quota|balance|credit|fund)|exceeded your current quota|out of credits|used all available credits|n't have any credits|credit balance is too low|spending limit|key limit exceeded/i;
const CONTEXT =
  /context[ _-](length|window|size|limit)|maximum context|max(imum)? (prompt|input) (length|tokens)|(prompt|input) is too long|prompt exceeds max length|maximum model length|range of input length|too many (input )?tokens|exceeds? the (model'?s? )?(available )?context|exceeded model token limit|token count.{0,30}exceeds the (maximum|limit)|max_new_tokens\W{0,3}must be|reduce the length of the (messages|prompt|input)|request (too large|body too large for)|max(imum)? (allowed )?tokens per (request|submitted batch)/i;
const KEY = /(incorrect|invalid|wrong|missing|no) api[ _-]?key|api[ _-]?key (is )?(not valid|invalid|missing|expired)/i;
const MODEL =
  /models?\b.{0,80}\b(not found|does not exist|not exist|doesn't exist|unknown|not available)|(unknown|no such|invalid) model|not a valid model|not found the model|no endpoints found for|^(the requested )?model( \S+)? is not supported|^model: \S+$/i;
/** A limit over time, in the words of servers that give no code. */
const RATE = /rate[ _-]?limit|too many requests|(tokens|requests) per (sec|min|hour|day)|please wait before/i;

function reasonFor(status: number | undefined, error: ServerError): AdapterReason {
  const named = BY_CODE.find(([, codes]) => error.codes.some(code => codes.has(code)))?.[0];
  const { message } = error;
  if (named === 'insufficient_quota' || status === 402 || error.quota === 'daily') return 'insufficient_quota';
  // Google says "quota" for a limit that is over in a minute, and then adds how long to wait.
  if (QUOTA.test(message) && error.retryAfterMs === undefined && error.quota === undefined) return 'insufficient_quota';
  if (named === 'context_length_exceeded' || named === 'content_filter') return named;
  // A key that is known and may not do this: some say so with 401.
  if (named === 'permission_denied' && status === 401) return named;
  // Words of a limit over time are those of a full context too: the server's own word goes first.
  const isOwnWord = status === undefined || (status >= 400 && status < 500);
  const isLimit = named === 'rate_limited' || (named === undefined && status === undefined && RATE.test(message));
  if (status === 429 || (isOwnWord && isLimit)) return isOverAnyLimit(message) ? 'context_length_exceeded' : 'rate_limited';
  if (isOwnWord) {
    if (CONTEXT.test(message)) return 'context_length_exceeded';
    if (KEY.test(message)) return 'authentication_failed';
    if (named === 'model_not_found' || MODEL.test(message)) return 'model_not_found';
  }
  if (status !== undefined) {
    const byStatus = reasonForStatus(status);
    // A bare 400 says less than the server's own word.
    if (byStatus !== 'unknown' && !(byStatus === 'invalid_request' && named)) return byStatus;
  }
  return named ?? 'unknown';
}

/**
 * The request alone is more than a limit per minute lets through ("Limit 10000, Requested 14000"): no waiting helps, only a shorter one. Where
 * earlier requests have used the limit up, it would fit.
 */
function isOverAnyLimit(message: string): boolean {
  if (/request too large|tokens must be reduced/i.test(message)) return true;
  const [, limit, requested] = /\blimit:? ([\d,]+)\b.{0,60}\brequested:? ([\d,]+)/i.exec(message) ?? [];
  return limit !== undefined && requested !== undefined && count(requested) > count(limit);
}

function count(digits: string): number {
  return Number(digits.replaceAll(',', ''));
}

function reasonForStatus(status: number): AdapterReason {
  switch (status) {
    case 401:
      return 'authentication_failed';
    case 403:
      return 'permission_denied';
    case 408:
    case 504:
    case 524:
      return 'timeout';
    case 409:
    case 425:
      return 'provider_unavailable';
    case 429:
      return 'rate_limited';
    case 501:
      return 'unsupported';
    default:
      return status >= 500 && status < 600 ? 'provider_unavailable' : status >= 400 && status < 500 ? 'invalid_request' : 'unknown';
  }
}

function fromRecord(error: Record<string, unknown>): ServerError {
  const wrapped = errorIn(error.message);
  if (wrapped) {
    const outer = fromRecord({ ...error, message: wrapped.message });
    return { ...outer, ...wrapped, codes: [...wrapped.codes, ...outer.codes] };
  }
  const status = statusOf(error.code) ?? statusOf(error.status) ?? statusOf(error.status_code);
  const details = Array.isArray(error.details) ? error.details : [];
  const quota = quotaIn(details);
  // OpenRouter wraps the words of the provider behind it.
  const raw = isRecord(error.metadata) ? text(error.metadata.raw) : undefined;
  const message = text(error.message) ?? text(error.msg) ?? text(error.detail) ?? text(error.error) ?? JSON.stringify(error);
  const wait = retryInfo(details) ?? waitInWords(message);
  return {
    message: raw === undefined || message.includes(raw) ? message : `${message} (${raw})`,
    codes: words(error, ...keyFaultsIn(details)),
    ...(status === undefined ? {} : { status }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(quota === undefined ? {} : { quota }),
  };
}

function words(value: Record<string, unknown>, ...more: string[]): string[] {
  const inner = isRecord(value.innererror) ? value.innererror.code : undefined;
  return [value.code, value.type, value.status, inner, ...more]
    .filter((word): word is string => typeof word === 'string' && word.length < 80)
    .map(word => word.toLowerCase());
}

function statusOf(value: unknown): number | undefined {
  const number = typeof value === 'number' ? value : typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : Number.NaN;
  return Number.isInteger(number) && number >= 400 && number < 600 ? number : undefined;
}

/** Gateways, and Google itself in streams, hand on a whole error as the text of another; the inner one says more. */
function errorIn(message: unknown): ServerError | undefined {
  if (typeof message !== 'string' || !/^\s*\[?\s*\{\s*"error"/.test(message)) return undefined;
  try {
    return findServerError(JSON.parse(message));
  } catch {
    return undefined;
  }
}

/** `google.rpc.ErrorInfo`: a wrong key is no more than an invalid argument in the other fields. */
function keyFaultsIn(details: readonly unknown[]): string[] {
  const reasons = details.map(detail => (isRecord(detail) ? detail.reason : undefined));
  return reasons.filter((reason): reason is string => typeof reason === 'string' && reason.startsWith('API_KEY_'));
}

function retryInfo(details: readonly unknown[]): number | undefined {
  for (const detail of details) {
    const wait = isRecord(detail) ? durationMs(detail.retryDelay) : undefined;
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** `google.rpc.QuotaFailure`: several quotas may be used up at once, and one of the day outlasts the others. */
function quotaIn(details: readonly unknown[]): ServerError['quota'] {
  const names = details
    .flatMap(detail => (isRecord(detail) && Array.isArray(detail.violations) ? detail.violations : []))
    .map(violation => (isRecord(violation) ? `${violation.quotaId ?? ''} ${violation.quotaMetric ?? ''}`.trim() : ''))
    .filter(name => name !== '');
  if (names.length === 0) return undefined;
  return names.some(name => /per_?day/i.test(name)) ? 'daily' : 'short';
}

/** FastAPI's `detail` is a text or a list of `{ loc, msg }`. */
function detailText(detail: unknown): string {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return isRecord(detail) ? (text(detail.message) ?? JSON.stringify(detail)) : String(detail);
  return detail
    .map(item => {
      if (!isRecord(item)) return String(item);
      const place = Array.isArray(item.loc) ? `${item.loc.join('.')}: ` : '';
      return `${place}${text(item.msg) ?? JSON.stringify(item)}`;
    })
    .join('; ');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
