import type { CallOptions, Engine } from '../contract.js';
import { jsonFault } from '../data/json.js';
import { type Message, toolResult, type UserMessage, user } from '../data/messages.js';
import { validateMessages } from '../data/validate.js';
import { type ErrorJson, SessionError, ValidationError } from '../errors.js';
import { EventStream } from '../events/event-stream.js';
import type { StreamEvent } from '../events/events.js';
import type { Outcome, Pending } from '../events/outcome.js';
import { follow } from '../loop/signals.js';
import { encodeResult } from '../tools/encode.js';
import { isWaiting, readSessionJson, type SessionJson } from './session-json.js';

/** `waiting`: `pending` says for what. `failed`: the last turn failed; `retry()` runs it again, `send()` goes on. */
export type SessionStatus = 'idle' | 'running' | 'waiting' | 'failed';

/** What a session is made of. */
export interface SessionOptions {
  readonly engine: Engine;
  readonly id?: string;
  /** What the conversation begins with, such as `[system('Answer briefly.')]`. */
  readonly messages?: readonly Message[];
  /** Handed to tool handlers in every turn. */
  readonly context?: unknown;
}

type State = Omit<SessionJson, 'version' | 'id'>;

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
  /** What the last change left; replaced as a whole, so that a change happens altogether or not at all. */
  #state: State;
  #running = false;

  /** Use `createSession` or `restoreSession`. Throws `TypeError` without an engine. */
  constructor(options: SessionOptions, json?: SessionJson) {
    if (typeof options?.engine?.stream !== 'function') throw new TypeError('A session needs an engine: createSession({ engine }).');
    if (options.id !== undefined && (typeof options.id !== 'string' || options.id === ''))
      throw new TypeError('The id of a session must be a text.');
    this.#engine = options.engine;
    this.#context = options.context;
    this.id = json?.id ?? options.id ?? crypto.randomUUID();
    const fresh: SessionJson = { version: 1, id: '', revision: 0, status: 'idle', messages: options.messages ?? [], pending: {} };
    const issues = json ? [] : validateMessages(fresh.messages);
    if (issues.length > 0) throw new ValidationError('invalid_message', 'A session cannot begin with these messages.', issues);
    const { version: _, id: __, ...state } = json ?? fresh;
    this.#state = state;
  }

  get status(): SessionStatus {
    return this.#running ? 'running' : this.#state.status;
  }
  /** Counts the changes: finished turns, whichever way they ended, submitted results and replaced histories. */
  get revision(): number {
    return this.#state.revision;
  }
  get messages(): readonly Message[] {
    return this.#state.messages;
  }
  get pending(): Pending {
    return this.#state.pending;
  }
  /** Why the last turn failed. */
  get error(): ErrorJson | undefined {
    return this.#state.error;
  }

  /**
   * Says something and waits for the answer. Rejects with `SessionError`: `busy` while a turn runs, `invalid_status` while the session waits
   * for answers, which it takes by `answer` or `submitToolResult` first.
   */
  async send(message: string | UserMessage, options?: CallOptions): Promise<Outcome> {
    return this.stream(message, options).outcome;
  }

  /** `send` as a stream. The turn begins, and takes the history as it is then, when somebody reads. Throws as `send` rejects. */
  stream(message: string | UserMessage, options?: CallOptions): EventStream {
    const said = typeof message === 'string' ? user(message) : message;
    return this.#turn(['idle', 'failed'], () => [...this.messages, said], options);
  }

  /** Runs the failed turn again, with the same user message. Rejects with `SessionError` (`nothing_to_retry`) when there is none. */
  async retry(options?: CallOptions): Promise<Outcome> {
    if (this.status !== 'failed') throw new SessionError('nothing_to_retry', `Session ${this.id} has no failed turn to retry.`);
    return this.#turn(['failed'], () => this.messages, options).outcome;
  }

  /**
   * Answers the first open question; the text becomes its call's result. Goes on when nothing else is open. Rejects with `SessionError`
   * (`invalid_status`) without an open question.
   */
  async answer(text: string, options?: CallOptions): Promise<Outcome | undefined> {
    const question = this.pending.questions?.[0];
    if (!question) throw new SessionError('invalid_status', `Session ${this.id} has no open question.`);
    return this.submitToolResult(question.callId, text, options);
  }

  /**
   * Gives the result of an open call, any JSON value, encoded as the engine encodes its tools' results. The last one lets the conversation go
   * on and resolves to its outcome; before that, to `undefined`. Rejects with `SessionError` (`unknown_call`) for a call that is not open,
   * with `TypeError` for a value that is no JSON.
   */
  async submitToolResult(callId: string, value: unknown, options?: CallOptions): Promise<Outcome | undefined> {
    this.#mustBe('waiting');
    const { questions = [], approvals = [], calls = [] } = this.pending;
    const open = questions.find(question => question.callId === callId) ?? [...calls, ...approvals].find(call => call.id === callId);
    if (!open) throw new SessionError('unknown_call', `Session ${this.id} waits for no call ${JSON.stringify(callId)}.`);
    const fault = jsonFault(value);
    if (fault) throw new TypeError(`The result of ${callId} must be a JSON value, but ${fault}.`);
    const encode = this.#engine.config.encodeResult ?? encodeResult;
    const pending = without(this.pending, callId);
    const before = this.#state;
    this.#change({
      pending,
      status: isWaiting(pending) ? 'waiting' : 'idle',
      // The end is the right place even beside earlier results: the order in which calls are answered is repaired on the way out.
      messages: [...this.messages, toolResult(callId, encode(value), { name: open.name })],
    });
    if (isWaiting(pending)) return undefined;
    try {
      return await this.#turn(['idle'], () => this.messages, options).outcome;
    } catch (error) {
      // Options that cannot work must not cost the result.
      if (this.revision === before.revision + 1) this.#state = before;
      throw error;
    }
  }

  /**
   * Replaces the history, for example by what was heard of a spoken reply. Counts as a change of `revision`; refused while a turn runs.
   * Throws `ValidationError` for a list that holds no messages.
   */
  replaceMessages(messages: readonly Message[]): void {
    if (this.#running) throw new SessionError('busy', `Session ${this.id} is in the middle of a turn.`);
    const issues = validateMessages(messages);
    if (issues.length > 0) throw new ValidationError('invalid_message', 'These are not messages.', issues);
    this.#change({ messages: [...messages] });
  }

  /** A second conversation with an id of its own that begins where this one stands; what happens in one does not show in the other. */
  fork(): Session {
    const { id: _, ...state } = this.toJSON();
    return new Session({ engine: this.#engine, context: this.#context }, { ...state, id: crypto.randomUUID() });
  }

  /** Plain data that `restoreSession` takes back. A turn that is running is not part of it. */
  toJSON(): SessionJson {
    return { version: 1, id: this.id, ...this.#state };
  }

  #turn(from: readonly SessionStatus[], thread: () => readonly Message[], options: CallOptions = {}): EventStream {
    this.#mustBe(...from);
    // Mistakes show at once. The stream that counts is made when the turn begins, since another one may have run until then.
    this.#ask(thread(), options);
    const stop = new AbortController();
    return new EventStream(this.#transaction(from, thread, options, stop), () => stop.abort());
  }

  #ask(messages: readonly Message[], options: CallOptions): EventStream {
    return this.#engine.stream(messages, { context: this.#context, ...options, sessionId: this.id });
  }

  async *#transaction(
    from: readonly SessionStatus[],
    thread: () => readonly Message[],
    options: CallOptions,
    stop: AbortController,
  ): AsyncGenerator<StreamEvent, void> {
    this.#mustBe(...from);
    const messages = thread();
    const events = this.#ask(messages, { ...options, signal: stop.signal });
    const release = follow(stop, options.signal);
    this.#running = true;
    let over = false;
    // Once: a reader may come back for the end of this stream when the next turn already runs.
    const finish = () => {
      if (!over) this.#running = false;
      over = true;
      release();
    };
    try {
      for await (const event of events) {
        if (event.type === 'end') {
          this.#commit(event.outcome, messages);
          finish();
        }
        yield event;
      }
    } finally {
      finish();
    }
  }

  #commit(outcome: Outcome, sent: readonly Message[]): void {
    const { error: _, ...rest } = this.#state;
    this.#state = rest;
    if (outcome.status === 'failed') {
      this.#change({ status: 'failed', messages: sent, pending: {}, error: outcome.error.toJSON() });
      return;
    }
    const pending = outcome.status === 'interrupted' ? outcome.pending : {};
    this.#change({ status: isWaiting(pending) ? 'waiting' : 'idle', messages: outcome.messages, pending });
  }

  #change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change, revision: this.#state.revision + 1 };
  }

  #mustBe(...allowed: SessionStatus[]): void {
    if (allowed.includes(this.status)) return;
    const hint = {
      running: 'wait for the turn to end',
      waiting: 'answer what is pending first',
      failed: 'retry() or send()',
      idle: 'send()',
    };
    const reason = this.status === 'running' ? 'busy' : 'invalid_status';
    throw new SessionError(reason, `Session ${this.id} is ${this.status}: ${hint[this.status]}.`);
  }
}

/** Starts a conversation. `createSession({ engine, id: 'ada' })` Throws `TypeError` without an engine. */
export function createSession(options: SessionOptions): Session {
  return new Session(options);
}

/**
 * Brings a session back from `toJSON()`. Throws `ValidationError` (`invalid_session`) for data that is none.
 *
 * ```ts
 * const session = restoreSession(JSON.parse(stored), { engine });
 * ```
 */
export function restoreSession(json: unknown, options: Omit<SessionOptions, 'id'>): Session {
  return new Session(options, readSessionJson(json));
}

function without(pending: Pending, callId: string): Pending {
  const questions = pending.questions?.filter(question => question.callId !== callId) ?? [];
  const approvals = pending.approvals?.filter(call => call.id !== callId) ?? [];
  const calls = pending.calls?.filter(call => call.id !== callId) ?? [];
  return {
    ...(questions.length > 0 ? { questions } : {}),
    ...(approvals.length > 0 ? { approvals } : {}),
    ...(calls.length > 0 ? { calls } : {}),
    ...(pending.halts === undefined ? {} : { halts: pending.halts }),
  };
}
