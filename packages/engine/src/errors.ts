import { defined } from './data/defined.js';

/** What went wrong at a provider, for every adapter. */
export type AdapterReason =
  | 'authentication_failed'
  | 'permission_denied'
  | 'rate_limited'
  | 'insufficient_quota'
  | 'invalid_request'
  | 'model_not_found'
  | 'context_length_exceeded'
  | 'content_filter'
  | 'provider_unavailable'
  | 'network_error'
  | 'timeout'
  | 'malformed_response'
  | 'truncated'
  | 'unsupported'
  | 'script_exhausted'
  | 'unknown';
/** Why a tool call has no result of its handler. */
export type ToolReason = 'handler_raised' | 'invalid_return' | 'not_found' | 'timeout' | 'invalid_arguments' | 'aborted' | 'denied';
export type ValidationReason =
  | 'invalid_message'
  | 'invalid_request'
  | 'invalid_tool'
  | 'invalid_output'
  | 'invalid_session'
  | 'invalid_answer';
export type ConfigurationReason = 'missing_adapter' | 'missing_key' | 'missing_schema' | 'invalid_option';
export type SessionReason = 'invalid_status' | 'unknown_call' | 'busy' | 'nothing_to_retry' | 'nothing_to_resume';
export type StoreReason = 'conflict' | 'not_found' | 'locked' | 'corrupt' | 'io';

/** Every word that an error's `reason` can be. */
export type ErrorReason = AdapterReason | ToolReason | ValidationReason | ConfigurationReason | SessionReason | StoreReason;

/** What an error may carry beside reason and message. */
export interface ErrorDetails {
  readonly cause?: unknown;
  /** The same request may work when it is sent again. */
  readonly retryable?: boolean;
  /** HTTP status. */
  readonly status?: number;
  /** Milliseconds that the provider asks us to wait. */
  readonly retryAfterMs?: number;
  readonly provider?: string;
  readonly requestId?: string;
}

const MARK = Symbol.for('antiphon.error');

/** The one family of errors. `reason` is for programs (a closed set per class), `message` for people: what happened and what to do. */
export class AntiphonError<Reason extends ErrorReason = ErrorReason> extends Error {
  override readonly name: string = 'AntiphonError';
  readonly reason: Reason;
  readonly retryable: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly provider?: string;
  readonly requestId?: string;

  constructor(reason: Reason, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.retryable = details.retryable ?? false;
    const { status, retryAfterMs, provider, requestId } = details;
    Object.assign(this, defined({ status, retryAfterMs, provider, requestId }));
    Object.defineProperty(this, MARK, { value: true });
  }

  /** Works across two copies of this package, where `instanceof` does not. */
  static isInstance(value: unknown): value is AntiphonError {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[MARK] === true;
  }

  toJSON(): ErrorJson {
    const { name, reason, message, retryable, status, retryAfterMs, provider, requestId } = this;
    return { name, reason, message, retryable, ...defined({ status, retryAfterMs, provider, requestId }) };
  }
}

/** An error as plain data, without its cause (which may hold anything). */
export interface ErrorJson {
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly provider?: string;
  readonly requestId?: string;
}

/** A provider or the way to it failed. */
export class AdapterError extends AntiphonError<AdapterReason> {
  override readonly name = 'AdapterError';
}

/** A tool did not give a result. `type` sets it apart from the tagged results of `ok`, `fail`, `askUser` and `halt`. */
export class ToolError extends AntiphonError<ToolReason> {
  override readonly name = 'ToolError';
  readonly type = 'error';
}

/** One place where a value breaks its contract, as a path such as `messages[2].content`. */
export interface Issue {
  readonly path: string;
  readonly reason: string;
}

/** Data that does not have the shape it must have; `issues` lists every place, not only the first. */
export class ValidationError extends AntiphonError<ValidationReason> {
  override readonly name = 'ValidationError';
  readonly issues: readonly Issue[];
  constructor(reason: ValidationReason, message: string, issues: readonly Issue[] = [], details?: ErrorDetails) {
    super(reason, message, details);
    this.issues = issues;
  }
}

/** The engine lacks what the call needs. */
export class ConfigurationError extends AntiphonError<ConfigurationReason> {
  override readonly name = 'ConfigurationError';
}

/** A session cannot do this now: its status, its pending calls or a running turn forbid it. Nothing was changed. */
export class SessionError extends AntiphonError<SessionReason> {
  override readonly name = 'SessionError';
}

/** A session store could not read or write. */
export class StoreError extends AntiphonError<StoreReason> {
  override readonly name = 'StoreError';
}

/** The text of anything that was thrown; never throws itself. `describe(new Error('gone'))` → `'gone'` */
export function describe(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message || thrown.name);
    return typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return typeof thrown === 'bigint' ? String(thrown) : `a thrown ${typeof thrown} that cannot be shown`;
  }
}
