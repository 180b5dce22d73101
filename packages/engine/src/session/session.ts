import { follow } from '../async/signals.js';
import type { CallOptions, Engine, OutputOf, TypedOptions } from '../contract.js';
import { isRecord, type Json } from '../data/json.js';
import { type Message, type UserMessage, user } from '../data/messages.js';
import { validateMessages } from '../data/validate.js';
import { type ErrorJson, SessionError, ValidationError } from '../errors.js';
import { EventStream } from '../events/event-stream.js';
import type { StreamEvent } from '../events/events.js';
import type { Outcome, Pending } from '../events/outcome.js';
import { waitingIds } from '../events/pending.js';
import { encodeResult } from '../tools/encode.js';
import type { Schema } from '../tools/schema.js';
import { answerEntry, answerOf, approveEntry, denyEntry, type SettlingEntry, unknownCall } from './answers.js';
import { decide } from './decide.js';
import { applyEntry, type SessionEntry } from './entries.js';
import { commonLength } from './history.js';
import { Journal } from './journal.js';
import { isUnanswered } from './open-calls.js';
import type { SessionJson } from './session-json.js';
import type { AnswerOptions, ApproveOptions, SessionOptions, SessionStart, SessionStatus } from './session-options.js';
import { breakOff, jsonOf, type SessionState } from './state.js';
import { statusError } from './status-error.js';
import { TurnRecorder } from './turn.js';

/**
 * One conversation. A turn is a transaction: it changes `messages` once, when it ends, and counts `revision` up. A turn that fails keeps
 * everything before it, the user's message and the steps whose tools have run, so nothing is lost and `retry()` goes on from there. One turn
 * runs at a time. With a store, everything is written down before anything follows from it, and `resume()` goes on after a crash.
 *
 * ```ts
 * const session = createSession({ engine, store: fileStore('./sessions') });
 * await session.send('My name is Ada.');
 * const { text } = await session.send('What is my name?');
 * ```
 */
export class Session {
  readonly id: string;
  readonly #options: Omit<SessionOptions, 'id' | 'messages'>;
  readonly #journal: Journal | undefined;
  /** Replaced as a whole, so that a change happens altogether or not at all. */
  #state: SessionState;
  #running = false;
  #recorder: TurnRecorder | undefined;

  /** Use `createSession`, `restoreSession` or `openSession`. */
  constructor(options: Omit<SessionOptions, 'id' | 'messages'>, { id, state, position, entries }: SessionStart) {
    this.#options = options;
    this.id = id;
    this.#state = breakOff(state);
    const { store } = options;
    this.#journal =
      store &&
      new Journal(store, id, { position, entries, safe: state }, (safe, error) => {
        this.#state = breakOff(safe);
        this.#recorder?.fail(error);
      });
  }

  get status(): SessionStatus {
    return this.#running ? 'running' : this.#state.status;
  }
  /** Counts the changes: turns that ended, whichever way, answers and replaced histories. */
  get revision(): number {
    return this.#state.revision;
  }
  get messages(): readonly Message[] {
    return this.#state.history.messages;
  }
  get pending(): Pending {
    return this.#state.pending;
  }
  /** Why the last turn failed. */
  get error(): ErrorJson | undefined {
    return this.#state.error;
  }

  /**
   * Says something and waits for the outcome. When the session waits for the answer to one question and for nothing else, this is it.
   * Rejects with `SessionError`: `busy` while a turn runs, `invalid_status` while the session waits for anything else.
   */
  async send<S extends Schema = never>(message: string | UserMessage, options?: TypedOptions<S>): Promise<Outcome<OutputOf<S>>> {
    return this.stream(message, options).outcome;
  }

  /** `send` as a stream. The turn begins, and takes the history as it is then, when somebody reads. Throws as `send` rejects. */
  stream<S extends Schema = never>(message: string | UserMessage, options?: TypedOptions<S>): EventStream<OutputOf<S>> {
    const said = typeof message === 'string' ? user(message) : message;
    const beginning: Beginning = {
      from: () => (this.#onlyQuestion() === undefined ? READY : [...READY, 'waiting']),
      entries: async () => {
        const question = this.#onlyQuestion();
        return question === undefined ? [{ type: 'begin', messages: [said] }] : [await this.#answer(question, answerOf(said)), GO_ON];
      },
    };
    return this.#turn(beginning, options, [said]);
  }

  /**
   * Runs the failed turn again: the steps whose tools have run are kept. Rejects with `SessionError` (`nothing_to_retry`) when there is none.
   */
  async retry<S extends Schema = never>(options?: TypedOptions<S>): Promise<Outcome<OutputOf<S>>> {
    if (this.status !== 'failed' && this.status !== 'interrupted')
      throw new SessionError('nothing_to_retry', `Session ${this.id} has no failed turn to retry.`);
    return this.resumeStream(options).outcome;
  }

  /**
   * Goes on where the conversation stands, without a new message: after a crash, a failure, answers that were given with `run: false`, or a
   * run that was stopped by a budget. Results that are there are kept, and no call takes effect twice: one that began and left no result is
   * told to the model as such, unless its tool is `idempotent`. Rejects with `SessionError`: `invalid_status` while the session waits for
   * answers, `nothing_to_resume` after a finished answer.
   */
  async resume<S extends Schema = never>(options?: TypedOptions<S>): Promise<Outcome<OutputOf<S>>> {
    return this.resumeStream(options).outcome;
  }

  /** `resume` as a stream. Throws as it rejects. */
  resumeStream<S extends Schema = never>(options?: TypedOptions<S>): EventStream<OutputOf<S>> {
    if (this.status === 'idle' && !isUnanswered(this.messages))
      throw new SessionError('nothing_to_resume', `Session ${this.id} has nothing to go on with: say something with send().`);
    return this.#turn({ from: () => READY, entries: async () => [GO_ON] }, options);
  }

  /**
   * Answers the first open question, or several by the ids of their calls; an answer becomes its call's result. Goes on when nothing else is
   * open, and resolves to `undefined` before that. Rejects with `SessionError` (`invalid_status` without an open question, `unknown_call`) and
   * with `ValidationError` (`invalid_answer`) for one that does not fit the schema of the question's options; then nothing has changed.
   *
   * ```ts
   * await session.answer('Monday');
   * await session.answer({ call_1: 'Monday', call_2: 3 });
   * ```
   */
  async answer(
    answer: string | number | boolean | null | { readonly [callId: string]: Json },
    options?: AnswerOptions,
  ): Promise<Outcome | undefined> {
    if (this.status === 'running') this.#mustBe('waiting');
    const first = this.pending.questions?.[0];
    if (!first) throw new SessionError('invalid_status', `Session ${this.id} has no open question.`);
    const answers: (readonly [string, unknown])[] = isRecord(answer) ? Object.entries(answer) : [[first.callId, answer]];
    if (answers.length === 0) throw new TypeError('answer() takes a value, or at least one answer by call id.');
    return this.#settle(() => Promise.all(answers.map(([callId, value]) => this.#answer(callId, value))), options);
  }

  /** Lets a call run that waits for approval, once nothing else is open. Resolves and rejects as `submitToolResult` does. */
  async approve(callId: string, options: ApproveOptions = {}): Promise<Outcome | undefined> {
    const { arguments: edited, ...rest } = options;
    return this.#settle(async () => [approveEntry(this, callId, edited)], rest);
  }

  /** Refuses a call that waits for approval; the model is told why. Resolves and rejects as `submitToolResult` does. */
  async deny(callId: string, why?: string, options?: AnswerOptions): Promise<Outcome | undefined> {
    return this.#settle(async () => [denyEntry(this, callId, why)], options);
  }

  /**
   * Gives the result of an open call, any JSON value, encoded as the engine encodes its tools' results. The last one lets the conversation go
   * on and resolves to its outcome; before that, to `undefined`. Rejects with `SessionError` (`unknown_call`) for a call that is not open,
   * with `TypeError` for a value that is no JSON, with `StoreError` when it could not be written down.
   */
  async submitToolResult(callId: string, value: unknown, options?: AnswerOptions): Promise<Outcome | undefined> {
    return this.#settle(async () => [await this.#answer(callId, value)], options);
  }

  /**
   * Replaces the history at once, for example by what was heard of a spoken reply. Counts as a change of `revision`; calls that are gone are
   * no longer waited for. Resolves when it is written down. Throws `SessionError` (`busy`) while a turn runs, and `ValidationError` for a list
   * that holds no messages; rejects with `StoreError`.
   */
  replaceMessages(messages: readonly Message[]): Promise<void> {
    if (this.#running) throw new SessionError('busy', `Session ${this.id} is in the middle of a turn.`);
    const issues = validateMessages(messages);
    if (issues.length > 0) throw new ValidationError('invalid_message', 'These are not messages.', issues);
    const keep = commonLength(this.messages, messages);
    const written = this.#record({ type: 'replace', keep, messages: messages.slice(keep) });
    // Who does not wait for it learns of a failure by what comes next: the change is taken back.
    written.catch(() => {});
    return written;
  }

  /**
   * A second conversation with an id of its own that begins where this one stands; what happens in one does not show in the other. It has the
   * same store, and is written there with its first change.
   */
  fork(): Session {
    const { turn: _, ...state } = this.#state;
    return new Session(this.#options, { id: crypto.randomUUID(), state, position: 0, entries: 0 });
  }

  /** Plain data that `restoreSession` takes back. A turn that is running is not part of it. */
  toJSON(): SessionJson {
    return jsonOf(this.id, this.#state);
  }

  /** Writes answers down, and goes on when they were the last. */
  async #settle(
    entriesOf: () => Promise<readonly SettlingEntry[]>,
    { run = true, ...options }: AnswerOptions = {},
  ): Promise<Outcome | undefined> {
    this.#mustBe('waiting');
    const entries = await entriesOf();
    this.#mustBe('waiting');
    // Somebody else may have answered while this was being checked.
    const open = waitingIds(this.pending);
    const gone = entries.find(({ callId }) => !open.includes(callId));
    if (gone) throw unknownCall(this, gone.callId);
    const goesOn = run && entries.length === open.length;
    if (goesOn) return this.#turn({ from: () => ['waiting'], entries: async () => [...entries, GO_ON] }, options).outcome;
    await this.#record(...entries);
    return undefined;
  }

  #answer(callId: string, value: unknown): Promise<SettlingEntry> {
    return answerEntry(this, callId, value, this.#options.engine.config.encodeResult ?? encodeResult);
  }

  /** The one thing that is waited for, if it is a question. */
  #onlyQuestion(): string | undefined {
    return waitingIds(this.pending).length === 1 ? this.pending.questions?.[0]?.callId : undefined;
  }

  /** The one way in which anything runs. `said` is checked with everything else before the turn begins. */
  #turn<Output>(beginning: Beginning, options: CallOptions = {}, said: readonly Message[] = []): EventStream<Output> {
    this.#mustBe(...beginning.from());
    // Mistakes show at once. The stream that counts is made when the turn begins, since another one may have run until then.
    this.#ask(this.#options.engine, [...this.messages, ...said], options);
    const stop = new AbortController();
    return new EventStream(this.#transaction(beginning, options, stop), () => stop.abort());
  }

  #ask(engine: Engine, messages: readonly Message[], options: CallOptions): EventStream {
    return engine.stream(messages, { ...options, context: options.context ?? this.#options.context, sessionId: this.id });
  }

  async *#transaction({ from, entries }: Beginning, options: CallOptions, stop: AbortController): AsyncGenerator<StreamEvent, void> {
    this.#mustBe(...from());
    this.#running = true;
    const release = follow(stop, options.signal);
    let over = false;
    // Once: a reader may come back for the end of this stream when the next turn already runs.
    const finish = () => {
      if (over) return;
      over = true;
      [this.#running, this.#recorder] = [false, undefined];
      release();
    };
    try {
      const { engine, store } = this.#options;
      const begin = await entries();
      const recorder = new TurnRecorder({
        id: this.id,
        engine,
        stored: store !== undefined,
        state: () => this.#state,
        record: (...what) => this.#record(...what),
        stop: () => stop.abort(),
      });
      this.#recorder = recorder;
      const messages = await recorder.begin(begin);
      if ('status' in messages) {
        finish();
        yield { type: 'end', outcome: messages };
        return;
      }
      const resume = decide(messages, this.#state, options.tools ?? engine.config.tools ?? []);
      const asked = { ...options, ...(Object.keys(resume).length > 0 ? { resume } : {}), signal: stop.signal };
      for await (const event of this.#ask(recorder.engine, messages, asked)) {
        const seen = await recorder.see(event);
        if (seen.type === 'end') finish();
        yield seen;
      }
    } finally {
      finish();
    }
  }

  /** Makes a change, and resolves when it is safe. Rejects with `StoreError`; then it is taken back. */
  #record(...entries: readonly SessionEntry[]): Promise<void> {
    this.#state = entries.reduce(applyEntry, this.#state);
    return this.#journal?.write(entries, this.#state) ?? Promise.resolve();
  }

  #mustBe(...allowed: readonly SessionStatus[]): void {
    if (!allowed.includes(this.status)) throw statusError(this.id, this.status, waitingIds(this.pending));
  }
}

const READY: readonly SessionStatus[] = ['idle', 'failed', 'interrupted'];
const GO_ON: SessionEntry = { type: 'begin', messages: [] };

/** How a turn begins: in which status, and with which entries, the last of them `begin`. */
interface Beginning {
  readonly from: () => readonly SessionStatus[];
  readonly entries: () => Promise<readonly SessionEntry[]>;
}
