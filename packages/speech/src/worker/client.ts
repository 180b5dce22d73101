// The engine's side of a worker thread: typed calls, abort, and a fresh worker after a crash.

import { type Transferable, Worker } from 'node:worker_threads';
import { EngineError } from '../errors.js';
import type { Contract, FromWorker, ToWorker, WireError } from './protocol.js';

export interface CallOptions {
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
  readonly workerData?: unknown;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Time that a closing worker gets to finish its current step. */
const CLOSE_MS = 3_000;

/** An idle worker does not keep the process alive; a pending call does. */
export function createWorkerClient<C extends Contract<C>>(options: WorkerClientOptions): WorkerClient<C> {
  const pending = new Map<number, Pending>();
  let worker: Worker | undefined;
  let closed = false;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(options.script, {
      name: options.name,
      workerData: options.workerData,
      execArgv: [],
    });
    started.unref();
    started.on('message', (message: FromWorker) => {
      const call = settle(message.id);
      if (message.type === 'value') call?.resolve(message.value);
      else call?.reject(fromWire(options.name, message.error));
    });
    started.on('error', error => fail(started, error));
    started.on('exit', code => fail(started, new Error(`it exited with code ${code}`)));
    return started;
  }

  /** Takes a call off the list; with the last one the worker no longer holds the process. */
  function settle(id: number): Pending | undefined {
    const call = pending.get(id);
    pending.delete(id);
    if (pending.size === 0) worker?.unref();
    return call;
  }

  function fail(dead: Worker, cause: Error): void {
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
      const current = worker;
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          settle(id);
          current.postMessage({ type: 'abort', id } satisfies ToWorker);
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
        current.ref();
        current.postMessage({ type: 'call', id, method, input } satisfies ToWorker, [...transfer]);
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
      ending.ref();
      await new Promise<void>(resolve => {
        const timer = setTimeout(() => void ending.terminate(), CLOSE_MS);
        ending.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
        ending.postMessage({ type: 'close' } satisfies ToWorker);
      });
    },
  };
}

function fromWire(name: string, error: WireError): EngineError {
  const cause = Object.assign(new Error(error.message), error.stack === undefined ? {} : { stack: error.stack });
  const missing = /Cannot find (?:package|module) '([^']+)'/.exec(error.message)?.[1];
  if (missing !== undefined && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')) {
    const hint = `Install it: npm install ${missing} --ignore-scripts`;
    return new EngineError('missing_dependency', `${name} needs the package ${missing}, which is not installed.`, hint, cause);
  }
  const [line = 'unknown error'] = error.message.split('\n');
  return new EngineError('failed', `${name} failed: ${line}`, '', cause);
}
