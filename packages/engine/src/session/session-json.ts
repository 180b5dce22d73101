import { isRecord, type JsonObject, jsonFault } from '../data/json.js';
import type { Message } from '../data/messages.js';
import { inWords, isText } from '../data/rules.js';
import { validateMessages } from '../data/validate.js';
import { type ErrorJson, type Issue, ValidationError } from '../errors.js';
import type { Pending } from '../events/outcome.js';
import { isWaiting } from '../events/pending.js';

/** A call that was approved and has not run yet. */
export interface ApprovedCall {
  readonly callId: string;
  /** Takes the place of the model's own arguments. */
  readonly arguments?: JsonObject;
}

/** A session as plain data. */
export interface SessionJson {
  readonly version: 2;
  readonly id: string;
  readonly revision: number;
  /** A turn that runs is not part of the data. `interrupted`: a turn broke off in the middle, and `resume()` goes on with it. */
  readonly status: 'idle' | 'waiting' | 'failed' | 'interrupted';
  readonly messages: readonly Message[];
  readonly pending: Pending;
  readonly error?: ErrorJson;
  /** How many answers of the model had tool calls, in all turns: it sets the idempotency keys of calls with one id apart. */
  readonly batch: number;
  readonly approved?: readonly ApprovedCall[];
  /** Ids of open calls that began to run and left no result. */
  readonly started?: readonly string[];
}

const VERSION = 2;

/** What makes the data of each old version that of the next. */
const MIGRATIONS: { readonly [version: number]: (json: Record<string, unknown>) => Record<string, unknown> } = {
  1: json => ({ ...json, version: 2, batch: 0 }),
};

const STATUSES: ReadonlySet<unknown> = new Set(['idle', 'waiting', 'failed', 'interrupted']);

/**
 * Reads what a session's `toJSON` wrote, now or in an earlier version; throws `ValidationError` (`invalid_session`) that lists what is wrong.
 * The result shares nothing with `json`.
 */
export function readSessionJson(json: unknown): SessionJson {
  const bad = (reason: string, issues: readonly Issue[] = []) =>
    new ValidationError('invalid_session', `This is no session: ${reason}.`, issues);
  if (!isRecord(json)) throw bad('it must be an object');
  const fault = jsonFault(json);
  if (fault) throw bad(`it must be JSON, but ${fault}`);
  let data = json;
  for (let migrate = migrationOf(data); migrate; migrate = migrationOf(data)) data = migrate(data);
  if (data.version !== VERSION)
    throw bad(`version ${JSON.stringify(data.version) ?? 'undefined'} is not known here; update @antiphon/engine`);
  const issues = [
    ...need('id', isText(data.id), 'must be a text'),
    ...need('revision', isCount(data.revision), 'must be a whole number'),
    ...need('status', STATUSES.has(data.status), `must be one of ${[...STATUSES].join(', ')}`),
    ...validateMessages(data.messages),
    ...pendingIssues(data.pending),
    ...need('error', data.error === undefined || (isRecord(data.error) && typeof data.error.reason === 'string'), 'must be an error'),
    ...need('batch', isCount(data.batch), 'must be a whole number'),
    ...listIssues('approved', data.approved, item => [
      ...need('callId', isText(item.callId), 'must name a call'),
      ...need('arguments', item.arguments === undefined || isRecord(item.arguments), 'must be an object'),
    ]),
    ...need('started', data.started === undefined || (Array.isArray(data.started) && data.started.every(isText)), 'must be a list of ids'),
  ];
  if (issues.length === 0 && (data.status === 'waiting') !== isWaiting(data.pending as Pending))
    issues.push({ path: 'status', reason: 'must be waiting exactly when something is pending' });
  if (issues.length > 0) throw bad(inWords(issues), issues);
  return structuredClone(data) as unknown as SessionJson;
}

function migrationOf({ version }: Record<string, unknown>) {
  return typeof version === 'number' && Object.hasOwn(MIGRATIONS, version) ? MIGRATIONS[version] : undefined;
}

function pendingIssues(pending: unknown): Issue[] {
  if (!isRecord(pending)) return need('pending', false, 'must be an object');
  const { questions, approvals, calls } = pending;
  return [
    ...listIssues('pending.questions', questions, item => [
      ...need('callId', isText(item.callId), 'must name a call'),
      ...need('name', typeof item.name === 'string', 'must be a string'),
      ...need('question', typeof item.question === 'string', 'must be a string'),
    ]),
    ...listIssues('pending.approvals', approvals, callIssues),
    ...listIssues('pending.calls', calls, callIssues),
  ];
}

function callIssues(call: Record<string, unknown>): Issue[] {
  return [
    ...need('id', isText(call.id), 'must be a non-empty string'),
    ...need('name', typeof call.name === 'string', 'must be a string'),
    ...need('arguments', isRecord(call.arguments), 'must be an object'),
  ];
}

function listIssues(path: string, list: unknown, itemIssues: (item: Record<string, unknown>) => Issue[]): Issue[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return need(path, false, 'must be a list');
  return list.flatMap((item: unknown, i) => {
    const found = isRecord(item) ? itemIssues(item) : [{ path: '', reason: 'must be an object' }];
    return found.map(issue => ({ path: `${path}[${i}]${issue.path && `.${issue.path}`}`, reason: issue.reason }));
  });
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function need(path: string, holds: boolean, reason: string): Issue[] {
  return holds ? [] : [{ path, reason }];
}
