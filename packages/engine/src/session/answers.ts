import { isRecord, type Json, jsonFault } from '../data/json.js';
import { messageText, type UserMessage } from '../data/messages.js';
import { isJsonObject } from '../data/rules.js';
import { isToolContent } from '../data/validate.js';
import { SessionError, ValidationError } from '../errors.js';
import type { Pending, PendingQuestion } from '../events/outcome.js';
import { waitingIds } from '../events/pending.js';
import { quietly } from '../quietly.js';
import type { ResultEncoder } from '../tools/encode.js';
import { validate } from '../tools/validation.js';
import type { SessionEntry } from './entries.js';

/** An entry that takes a call off what is waited for. */
export type SettlingEntry = Extract<SessionEntry, { readonly type: 'answer' | 'approve' }>;

/** Who is asked, for error messages. */
interface Asked {
  readonly id: string;
  readonly pending: Pending;
}

/** The entry that answers an open call, of whatever kind. Throws `SessionError` (`unknown_call`), `TypeError` or `ValidationError` (`invalid_answer`). */
export async function answerEntry({ id, pending }: Asked, callId: string, value: unknown, encode: ResultEncoder): Promise<SettlingEntry> {
  const { questions = [], approvals = [], calls = [] } = pending;
  const question = questions.find(asked => asked.callId === callId);
  const open = question ?? [...calls, ...approvals].find(call => call.id === callId);
  if (!open) throw unknownCall({ id, pending }, callId);
  const fault = jsonFault(value);
  if (fault) throw new TypeError(`The result of ${callId} must be a JSON value, but ${fault}.`);
  const checked = question ? await checkAnswer(question, value as Json) : value;
  const content = encode(checked);
  if (!isToolContent(content))
    throw new TypeError(`The result of ${callId} could not be encoded: the encoder gave neither text nor parts.`);
  return { type: 'answer', callId, name: open.name, content };
}

/** The entry that approves a call. */
export function approveEntry(asked: Asked, callId: string, edited: unknown): SettlingEntry {
  mustBeApproval(asked, callId);
  if (edited !== undefined && !isJsonObject(edited))
    throw new TypeError(`approve(${JSON.stringify(callId)}): arguments must be an object of JSON values.`);
  return { type: 'approve', callId, ...(edited === undefined ? {} : { arguments: structuredClone(edited) }) };
}

/** The entry that denies a call; the model is told why. */
export function denyEntry(asked: Asked, callId: string, why: unknown): SettlingEntry {
  const { name } = mustBeApproval(asked, callId);
  if (why !== undefined && typeof why !== 'string') throw new TypeError(`deny(${JSON.stringify(callId)}): the reason must be a text.`);
  const content = `This call was denied and not run.${why ? ` Reason: ${why}` : ''}`;
  return { type: 'answer', callId, name, content, isError: true };
}

/** What a message says as an answer: text, or the parts that a result can hold. */
export function answerOf(message: UserMessage): unknown {
  const parts = typeof message.content === 'string' ? [] : message.content;
  return parts.some(part => part.type !== 'text') ? parts.filter(part => part.type !== 'audio') : messageText(message);
}

export function unknownCall({ id, pending }: Asked, callId: string): SessionError {
  const open = waitingIds(pending).map(other => JSON.stringify(other));
  const hint = open.length > 0 ? `; it waits for ${open.join(', ')}` : '';
  return new SessionError('unknown_call', `Session ${id} waits for no call ${JSON.stringify(callId)}${hint}.`);
}

function mustBeApproval(asked: Asked, callId: string) {
  const call = asked.pending.approvals?.find(({ id }) => id === callId);
  if (call) return call;
  if (!waitingIds(asked.pending).includes(callId)) throw unknownCall(asked, callId);
  const message = `The call ${JSON.stringify(callId)} waits for a result, not for an approval: use submitToolResult() or answer().`;
  throw new SessionError('unknown_call', message);
}

/**
 * The answer, if it fits the schema of the question's options. A text that does not fit as it stands may be the JSON of one that does, since
 * people type numbers as text.
 */
async function checkAnswer({ question, options }: PendingQuestion, value: Json): Promise<unknown> {
  const schema = options?.schema;
  if (!isRecord(schema)) return value;
  const asIs = await validate(schema as never, value);
  if (asIs.ok) return asIs.value;
  const parsed = typeof value === 'string' ? quietly((): unknown => JSON.parse(value)) : undefined;
  if (parsed !== undefined) {
    const meant = await validate(schema as never, parsed);
    if (meant.ok) return meant.value;
  }
  const reasons = asIs.issues.map(({ path, reason }) => (path === '$' ? reason : `${path}: ${reason}`)).join('; ');
  throw new ValidationError('invalid_answer', `The answer to "${question}" does not fit: ${reasons}`, asIs.issues);
}
