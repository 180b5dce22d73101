// The errors that servers report, in their many shapes, read into one.
import { isRecord } from '@antiphon/engine';
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
