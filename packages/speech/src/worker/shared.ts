// One worker, and so one copy of the weights, for all engines that use the same model with the same settings.

import { EngineError } from '../errors.js';
import { createWorkerClient, type WorkerClient, type WorkerClientOptions } from './client.js';
import type { Contract } from './protocol.js';

interface Shared {
  /** A WorkerClient of the contract that the key's script answers. */
  readonly client: object;
  users: number;
}

const workers = new Map<string, Shared>();

/** Like `createWorkerClient`, but clients with equal options share the worker; it ends when the last of them closes. */
export function shareWorkerClient<C extends Contract<C>>(options: WorkerClientOptions): WorkerClient<C> {
  const key = JSON.stringify([options.script.href, options.workerData ?? null]);
  const shared: Shared = workers.get(key) ?? { client: createWorkerClient<C>(options), users: 0 };
  workers.set(key, shared);
  shared.users++;
  const client = shared.client as WorkerClient<C>;
  const active = new Set<AbortController>();
  let closed = false;
  const closedError = () => new EngineError('closed', `${options.name} was closed.`, 'Create a new one.');

  return {
    async call(method, input, { signal, transfer = [] } = {}) {
      if (closed) throw closedError();
      signal?.throwIfAborted();
      const controller = new AbortController();
      const onAbort = () => controller.abort(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      active.add(controller);
      try {
        return await client.call(method, input, { signal: controller.signal, transfer });
      } finally {
        active.delete(controller);
        signal?.removeEventListener('abort', onAbort);
      }
    },

    async close() {
      if (closed) return;
      closed = true;
      for (const controller of active) controller.abort(closedError());
      shared.users--;
      if (shared.users > 0) return;
      workers.delete(key);
      await client.close();
    },
  };
}
