// The engine's side of a worker thread: typed calls, abort, and a fresh worker after a crash.

import { type Transferable, Worker } from 'node:worker_threads';
import { EngineError } from '../errors.js';
import { engineError } from './engine-error.js';
import { closeGate, createGateMemory, type GateMemory, guardExit, isInside } from './native-gate.js';
import type { Contract, FromWorker, ToWorker } from './protocol.js';

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly transfer?: readonly Transferable[];
}

export interface WorkerClient<C extends Contract<C>> {
  /**
   * Rejects with the signal's reason at once when it aborts, with EngineError `crashed` when the worker dies, `closed`
   * after `close()`, `missing_dependency` or `failed` when the worker says so. The worker starts with the first call.
   */
  call<K extends keyof C & string>(method: K, input: C[K]['input'], options?: CallOptions): Promise<C[K]['output']>;
  /** Rejects what is pending and ends the worker. */
  close(): Promise<void>;
}

export interface WorkerClientOptions {
  /** For error messages. */
  readonly name: string;
  readonly script: URL;
  /** Structured-cloneable settings; the worker also finds its `gate` there. */
  readonly workerData?: Readonly<Record<string, unknown>>;
}

interface Running {
  readonly thread: Worker;
  readonly gate: GateMemory;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Time that a closing worker gets to finish its current step before it is cut off, unless it is inside native code. */
const CLOSE_MS = 3_000;

/** An idle worker does not keep the process alive; a pending call does. */
export function createWorkerClient<C extends Contract<C>>(options: WorkerClientOptions): WorkerClient<C> {
  const pending = new Map<number, Pending>();
  let worker: Running | undefined;
  let closed = false;
  let lastId = 0;

  function start(): Running {
    const gate = createGateMemory();
    const thread = new Worker(options.script, {
      name: options.name,
      workerData: { ...options.workerData, gate },
      execArgv: [],
    });
    const started = { thread, gate };
    const letGo = guardExit(gate);
    thread.unref();
    thread.on('message', (message: FromWorker) => {
      const call = settle(message.id);
      if (message.type === 'value') call?.resolve(message.value);
      else call?.reject(engineError(options.name, message.error));
    });
    thread.on('error', error => fail(started, error));
    thread.on('exit', code => {
      letGo();
      fail(started, new Error(`it exited with code ${code}`));
    });
    return started;
  }

  /** Takes a call off the list; with the last one the worker no longer holds the process. */
  function settle(id: number): Pending | undefined {
    const call = pending.get(id);
    pending.delete(id);
    if (pending.size === 0) worker?.thread.unref();
    return call;
  }

  function fail(dead: Running, cause: Error): void {
    if (worker !== dead) return;
    worker = undefined;
    const calls = [...pending.values()];
    pending.clear();
    const hint = 'The next call starts a new one.';
    for (const call of calls) call.reject(new EngineError('crashed', `The worker of ${options.name} died: ${cause.message}.`, hint, cause));
  }

  return {
    call(method, input, { signal, transfer = [] } = {}) {
      if (closed) return Promise.reject(new EngineError('closed', `${options.name} was closed.`, 'Create a new one.'));
      if (signal?.aborted) return Promise.reject(signal.reason);
      worker ??= start();
      const { thread } = worker;
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          settle(id);
          thread.postMessage({ type: 'abort', id } satisfies ToWorker);
          reject(signal?.reason);
        };
        const done = () => signal?.removeEventListener('abort', onAbort);
        pending.set(id, {
          resolve(value) {
            done();
            resolve(value as C[typeof method]['output']);
          },
          reject(error) {
            done();
            reject(error);
          },
        });
        signal?.addEventListener('abort', onAbort, { once: true });
        thread.ref();
        thread.postMessage({ type: 'call', id, method, input } satisfies ToWorker, [...transfer]);
      });
    },

    async close() {
      closed = true;
      const ending = worker;
      worker = undefined;
      const calls = [...pending.values()];
      pending.clear();
      for (const call of calls) call.reject(new EngineError('closed', `${options.name} was closed.`, 'Create a new one.'));
      if (ending === undefined) return;
      const { thread, gate } = ending;
      closeGate(gate);
      thread.ref();
      await new Promise<void>(resolve => {
        const timer = setInterval(() => {
          if (!isInside(gate)) void thread.terminate();
        }, CLOSE_MS);
        thread.once('exit', () => {
          clearInterval(timer);
          resolve();
        });
        thread.postMessage({ type: 'close' } satisfies ToWorker);
      });
    },
  };
}
