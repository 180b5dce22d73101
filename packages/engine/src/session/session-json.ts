import { isRecord, jsonFault } from '../data/json.js';
import type { Message } from '../data/messages.js';
import { validateMessages } from '../data/validate.js';
import { type ErrorJson, type Issue, ValidationError } from '../errors.js';
import type { Pending } from '../events/outcome.js';

/** A session as plain data. */
export interface SessionJson {
  readonly version: 1;
  readonly id: string;
  readonly revision: number;
  /** A turn that runs is not part of the data. */
  readonly status: 'idle' | 'waiting' | 'failed';
  readonly messages: readonly Message[];
  readonly pending: Pending;
  readonly error?: ErrorJson;
}

/** True when the session must be given answers before it can go on. */
export function isWaiting(pending: Pending): boolean {
  return (pending.questions?.length ?? 0) + (pending.approvals?.length ?? 0) + (pending.calls?.length ?? 0) > 0;
}

/** Reads what a session's `toJSON` wrote; throws `ValidationError` (`invalid_session`) that lists what is wrong. The result shares nothing with `json`. */
export function readSessionJson(json: unknown): SessionJson {
  const bad = (reason: string, issues: readonly Issue[] = []) =>
    new ValidationError('invalid_session', `This is no session: ${reason}.`, issues);
  if (!isRecord(json)) throw bad('it must be an object');
  if (json.version !== 1) throw bad(`version ${JSON.stringify(json.version) ?? 'undefined'} is not known here; update @antiphon/engine`);
  const fault = jsonFault(json);
  if (fault) throw bad(`it must be JSON, but ${fault}`);
  const issues = [
    ...need('id', typeof json.id === 'string' && json.id !== '', 'must be a text'),
    ...need('revision', Number.isInteger(json.revision) && (json.revision as number) >= 0, 'must be a whole number'),
    ...need('status', ['idle', 'waiting', 'failed'].includes(json.status as string), 'must be idle, waiting or failed'),
    ...validateMessages(json.messages),
    ...pendingIssues(json.pending),
    ...need('error', json.error === undefined || (isRecord(json.error) && typeof json.error.reason === 'string'), 'must be an error'),
  ];
  if (issues.length === 0 && (json.status === 'waiting') !== isWaiting(json.pending as Pending))
    issues.push({ path: 'status', reason: 'must be waiting exactly when something is pending' });
  if (issues.length > 0) {
    const shown = issues.slice(0, 10).map(({ path, reason }) => `${path} ${reason}`);
    throw bad(shown.join('; '), issues);
  }
  return structuredClone(json) as unknown as SessionJson;
}

function pendingIssues(pending: unknown): Issue[] {
  if (!isRecord(pending)) return need('pending', false, 'must be an object');
  const { questions, approvals, calls } = pending;
  return [
    ...listIssues('pending.questions', questions, item => [
      ...need('callId', isName(item.callId), 'must name a call'),
      ...need('name', typeof item.name === 'string', 'must be a string'),
      ...need('question', typeof item.question === 'string', 'must be a string'),
    ]),
    ...listIssues('pending.approvals', approvals, callIssues),
    ...listIssues('pending.calls', calls, callIssues),
  ];
}

function callIssues(call: Record<string, unknown>): Issue[] {
  return [
    ...need('id', isName(call.id), 'must be a non-empty string'),
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

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function need(path: string, holds: boolean, reason: string): Issue[] {
  return holds ? [] : [{ path, reason }];
}
