import { isRecord } from '../data/json.js';
import { type Message, toolResult, type UserMessage, user } from '../data/messages.js';
import { validateMessages } from '../data/validate.js';
import type { CallOptions, Engine } from '../engine.js';
import { type ErrorJson, SessionError, ValidationError } from '../errors.js';
import { EventStream } from '../events/event-stream.js';
import type { StreamEvent } from '../events/events.js';
import type { Outcome, Pending } from '../events/outcome.js';
import { encodeResult } from '../tools/encode.js';

/** `waiting`: `pending` says for what. `failed`: the last turn failed; `retry()` runs it again, `send()` goes on. */
export type SessionStatus = 'idle' | 'running' | 'waiting' | 'failed';

/** A session as plain data. */
export interface SessionJson {
  readonly version: 1;
  readonly id: string;
  readonly revision: number;
  readonly status: Exclude<SessionStatus, 'running'>;
  readonly messages: readonly Message[];
  readonly pending: Pending;
  readonly error?: ErrorJson;
}

export interface SessionOptions {
  readonly engine: Engine;
  readonly id?: string;
  /** Handed to tool handlers in every turn. */
  readonly context?: unknown;
}

/**
 * One conversation. A turn is a transaction: it changes `messages` once, when it ends, and counts `revision` up. A turn that fails keeps
 * everything before it and the user's message, so nothing is lost and `retry()` can run it again. One turn runs at a time.
 *
 * ```ts
 * const session = createSession({ engine });
 * await session.send('My name is Ada.');
 * const { text } = await session.send('What is my name?');
 * ```
 */
export class Session {
  readonly id: string;
  readonly #engine: Engine;
  readonly #context: unknown;
  #messages: readonly Message[];
  #pending: Pending;
  #status: SessionStatus;
  #revision: number;
  #error: ErrorJson | undefined;

  constructor(options: SessionOptions, state?: SessionJson) {
    this.#engine = options.engine;
    this.#context = options.context;
    this.id = state?.id ?? options.id ?? crypto.randomUUID();
    this.#messages = state?.messages ?? [];
    this.#pending = state?.pending ?? {};
    this.#status = state?.status ?? 'idle';
    this.#revision = state?.revision ?? 0;
    this.#error = state?.error;
  }

  get status(): SessionStatus {
    return this.#status;
  }
  /** Counts the finished turns, whichever way they ended. */
  get revision(): number {
    return this.#revision;
  }
  get messages(): readonly Message[] {
    return this.#messages;
  }
  get pending(): Pending {
    return this.#pending;
  }
  /** Why the last turn failed. */
  get error(): ErrorJson | undefined {
    return this.#error;
  }

  /** Says something and waits for the answer. A session that waits for answers takes them by `answer` or `submitToolResult` first. */
  async send(message: string | UserMessage, options?: CallOptions): Promise<Outcome> {
    return this.stream(message, options).outcome;
  }

  stream(message: string | UserMessage, options?: CallOptions): EventStream {
    this.#mustBe('idle', 'failed');
    const said = typeof message === 'string' ? user(message) : message;
    return this.#turn([...this.#messages, said], options);
  }

  /** Runs the failed turn again, with the same user message. */
  async retry(options?: CallOptions): Promise<Outcome> {
    if (this.#status !== 'failed') throw new SessionError('nothing_to_retry', `Session ${this.id} has no failed turn to retry.`);
    return this.#turn(this.#messages, options).outcome;
  }

  /** Answers the first open question; the text becomes its call's result. Goes on when nothing else is open. */
  async answer(text: string, options?: CallOptions): Promise<Outcome | undefined> {
    const question = this.#pending.questions?.[0];
    if (!question) throw new SessionError('invalid_status', `Session ${this.id} has no open question.`);
    return this.submitToolResult(question.callId, text, options);
  }

  /** Gives the result of an open call. The last one lets the conversation go on and resolves to its outcome; before that, to `undefined`. */
  async submitToolResult(callId: string, value: unknown, options?: CallOptions): Promise<Outcome | undefined> {
    this.#mustBe('waiting');
    const { questions = [], approvals = [], calls = [], value: haltValue } = this.#pending;
    const open = questions.find(question => question.callId === callId) ?? [...calls, ...approvals].find(call => call.id === callId);
    if (!open) throw new SessionError('unknown_call', `Session ${this.id} waits for no call ${JSON.stringify(callId)}.`);
    // The end is the right place even beside earlier results: the order in which calls are answered is repaired on the way out.
    this.#messages = [...this.#messages, toolResult(callId, encodeResult(value), { name: open.name })];
    const rest = {
      questions: questions.filter(question => question.callId !== callId),
      approvals: approvals.filter(call => call.id !== callId),
      calls: calls.filter(call => call.id !== callId),
    };
    this.#pending = {
      ...(rest.questions.length > 0 ? { questions: rest.questions } : {}),
      ...(rest.approvals.length > 0 ? { approvals: rest.approvals } : {}),
      ...(rest.calls.length > 0 ? { calls: rest.calls } : {}),
      ...(haltValue === undefined ? {} : { value: haltValue }),
    };
    this.#revision++;
    if (isWaiting(this.#pending)) return undefined;
    this.#status = 'idle';
    return this.#turn(this.#messages, options).outcome;
  }

  /**
   * Replaces the history, for example by what was heard of a spoken reply. Counts as a change of `revision`; refused while a turn runs.
   * Throws `ValidationError` for a list that holds no messages.
   */
  replaceMessages(messages: readonly Message[]): void {
    if (this.#status === 'running') throw new SessionError('busy', `Session ${this.id} is in the middle of a turn.`);
    const issues = validateMessages(messages);
    if (issues.length > 0) throw new ValidationError('invalid_message', 'These are not messages.', issues);
    this.#messages = messages;
    this.#revision++;
  }

  /** A second conversation that begins where this one stands. */
  fork(): Session {
    const { id: _, ...state } = this.toJSON();
    return new Session({ engine: this.#engine, context: this.#context }, { ...state, id: crypto.randomUUID() });
  }

  /** Plain data; a running turn is not part of it. */
  toJSON(): SessionJson {
    return {
      version: 1,
      id: this.id,
      revision: this.#revision,
      status: this.#status === 'running' ? 'idle' : this.#status,
      messages: this.#messages,
      pending: this.#pending,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }

  #turn(messages: readonly Message[], options: CallOptions = {}): EventStream {
    const before = this.#status;
    const stream = this.#engine.stream(messages, { context: this.#context, ...options, sessionId: this.id });
    const stop = new AbortController();
    const commit = (outcome: Outcome) => this.#commit(outcome, messages);
    const begin = () => {
      if (this.#status === 'running') throw new SessionError('busy', `Session ${this.id} is in the middle of a turn.`);
      this.#status = 'running';
    };
    const rollBack = () => {
      if (this.#status === 'running') this.#status = before;
    };
    return new EventStream(transaction(stream, stop.signal, { begin, commit, rollBack }), () => stop.abort());
  }

  #commit(outcome: Outcome, sent: readonly Message[]): void {
    this.#revision++;
    this.#pending = outcome.status === 'interrupted' ? outcome.pending : {};
    this.#error = outcome.status === 'failed' ? outcome.error.toJSON() : undefined;
    this.#messages = outcome.status === 'failed' ? sent : outcome.messages;
    this.#status = outcome.status === 'failed' ? 'failed' : isWaiting(this.#pending) ? 'waiting' : 'idle';
  }

  #mustBe(...allowed: SessionStatus[]): void {
    if (allowed.includes(this.#status)) return;
    const hint = {
      running: 'wait for the turn to end',
      waiting: 'answer what is pending first',
      failed: 'retry() or send()',
      idle: 'send()',
    };
    const reason = this.#status === 'running' ? 'busy' : 'invalid_status';
    throw new SessionError(reason, `Session ${this.id} is ${this.#status}: ${hint[this.#status]}.`);
  }
}

/** Starts a conversation. */
export function createSession(options: SessionOptions): Session {
  return new Session(options);
}

/** Brings a session back from `toJSON()`; throws `ValidationError` for data that is none. */
export function restoreSession(json: unknown, options: Omit<SessionOptions, 'id'>): Session {
  const bad = (reason: string) => new ValidationError('invalid_session', `This is no session: ${reason}.`);
  if (!isRecord(json)) throw bad('it must be an object');
  if (json.version !== 1) throw bad(`version ${JSON.stringify(json.version)} is not known here; update @antiphon/engine`);
  if (typeof json.id !== 'string' || !Number.isInteger(json.revision)) throw bad('it needs an id and a revision');
  if (!['idle', 'waiting', 'failed'].includes(json.status as string)) throw bad(`status ${JSON.stringify(json.status)} is not known`);
  const issues = validateMessages(json.messages);
  if (issues.length > 0) throw new ValidationError('invalid_session', 'Some of its messages are none.', issues);
  return new Session(options, json as unknown as SessionJson);
}

async function* transaction(
  stream: EventStream,
  stopped: AbortSignal,
  turn: { readonly begin: () => void; readonly commit: (outcome: Outcome) => void; readonly rollBack: () => void },
): AsyncGenerator<StreamEvent, void> {
  turn.begin();
  const events = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Leaving the outer loop stops the inner one; its last event still tells what was kept.
      if (stopped.aborted) {
        void events.return?.();
        const outcome = await stream.outcome;
        turn.commit(outcome);
        yield { type: 'end', outcome };
        return;
      }
      const { done, value } = await events.next();
      if (done) return;
      if (value.type === 'end') turn.commit(value.outcome);
      yield value;
    }
  } finally {
    turn.rollBack();
  }
}

function isWaiting(pending: Pending): boolean {
  return (pending.questions?.length ?? 0) + (pending.approvals?.length ?? 0) + (pending.calls?.length ?? 0) > 0;
}
