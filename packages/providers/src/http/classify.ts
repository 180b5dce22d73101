// From what a server says to what kind of failure it is.
import type { AdapterReason } from '@antiphon/engine';
import type { ServerError } from './server-error.js';

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
