import { type FinishReason, isRecord } from '@antiphon/engine';
import { findServerError, type ServerError } from '../../http/server-error.js';
import { withCalls } from '../finish.js';

/** How an interaction ended, in Google's words. */
const STATUSES: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['completed', 'stop'],
  ['requires_action', 'tool_calls'],
  ['incomplete', 'length'],
]);
const FAILED: ReadonlySet<string> = new Set(['failed', 'cancelled']);

/** Codes of `google.rpc.Code` that say what kind of failure it is. */
const RPC_CODES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [3, 'invalid_argument'],
  [4, 'deadline_exceeded'],
  [7, 'permission_denied'],
  [8, 'resource_exhausted'],
  [13, 'internal'],
  [14, 'unavailable'],
  [16, 'unauthenticated'],
]);

/** What a status means. */
export function finishOf(status: string, hasCalls: boolean): FinishReason {
  return withCalls(STATUSES.get(status), hasCalls);
}

export function isFailure(status: string): boolean {
  return FAILED.has(status);
}

/** The error that an event, a step or an interaction carries; `instead` is said when it carries none. */
export function errorOf(error: unknown, instead: string): ServerError {
  const found = findServerError({ error }) ?? { message: instead, codes: [] };
  const word = isRecord(error) ? RPC_CODES.get(error.code) : undefined;
  return word === undefined ? found : { ...found, codes: [...found.codes, word] };
}
