// What the calls of every capability take and give: options, usage, report, endings. How one runs is told in `run-call.ts`.
import type { Cost } from '../data/cost.js';
import type { Usage } from '../data/usage.js';
import type { AntiphonError } from '../errors.js';
import type { Warning } from '../events/finish.js';
import type { RetryPolicy } from '../reliability/retrying.js';

/** The engine's methods for its capabilities. */
export type CapabilityMethod =
  | 'embed'
  | 'generateImage'
  | 'editImage'
  | 'moderate'
  | 'classify'
  | 'rerank'
  | 'speak'
  | 'streamSpeech'
  | 'streamSpeechFromText'
  | 'transcribe'
  | 'streamTranscription';

/** Options that every call of a capability knows. */
export interface CapabilityOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole call, waits and retries included. Default 600 000; a stream has none, but see `idleTimeoutMs` there. */
  readonly timeoutMs?: number;
  readonly requestId?: string;
  readonly retry?: RetryPolicy | false;
  /** The caller's own value, for the engine's `keys`; never sent to a provider. */
  readonly context?: unknown;
}

/** What a call consumed: tokens, and whatever else its provider counts. A missing field was not reported; 0 was reported as zero. */
export interface CapabilityUsage extends Usage {
  /** Characters of spoken text. */
  readonly characters?: number;
  readonly audioSeconds?: number;
  readonly images?: number;
  /** Units that some providers of reranking bill. */
  readonly searchUnits?: number;
}

/** What every adapter's answer may carry beside its content. */
export interface CapabilityResponse {
  readonly usage?: CapabilityUsage;
  /** The model that answered, as the provider names it. */
  readonly model?: string;
  readonly responseId?: string;
  readonly warnings?: readonly Warning[];
}

/** What every outcome carries beside its content. */
export interface CapabilityReport {
  readonly provider: string;
  readonly requestId: string;
  /** Summed over all requests. */
  readonly usage: CapabilityUsage;
  /** By the engine's `prices`; missing when the price or the tokens of an answer are not known. */
  readonly cost?: Cost;
  readonly warnings: readonly Warning[];
  readonly model?: string;
  /** One for each request that was answered and has one. */
  readonly responseIds: readonly string[];
}

/** The three ways to end: all of it; stopped by the signal, with what was there; failed, with what was there. */
export type CapabilityOutcome<Whole, Part> =
  | (CapabilityReport & Whole & { readonly status: 'completed' })
  | (CapabilityReport & Part & { readonly status: 'interrupted'; readonly reason: 'aborted' })
  | (CapabilityReport & Part & { readonly status: 'failed'; readonly error: AntiphonError });

export type Ending =
  | { readonly status: 'completed' }
  | { readonly status: 'interrupted'; readonly reason: 'aborted' }
  | { readonly status: 'failed'; readonly error: AntiphonError };

/**
 * The outcome itself when it is completed; throws the error of a failed one, and an error that says so for an interrupted one.
 *
 * ```ts
 * const { vectors } = completed(await engine.embed(['one', 'two']));
 * ```
 */
export function completed<O extends { readonly status: Ending['status'] }>(outcome: O): Extract<O, { readonly status: 'completed' }> {
  if (outcome.status === 'completed') return outcome as Extract<O, { readonly status: 'completed' }>;
  if ('error' in outcome) throw outcome.error;
  throw new Error('The call was aborted and has no whole answer; look at the outcome for what arrived.');
}

/** Sums what the answers report. A field that none reports stays missing. */
export function sumUsage(a: CapabilityUsage, b: CapabilityUsage): CapabilityUsage {
  const sum: Record<string, number> = { ...a };
  for (const [field, value] of Object.entries(b) as [string, number][]) sum[field] = (sum[field] ?? 0) + value;
  return sum;
}
