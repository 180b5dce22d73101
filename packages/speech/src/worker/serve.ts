// The worker's side: answers calls until it is told to close.

import { parentPort, type Transferable } from 'node:worker_threads';
import { type Contract, type FromWorker, type ToWorker, toWire } from './protocol.js';

interface Answer<T> {
  readonly value: T;
  /** Memory that moves over instead of being copied. */
  readonly transfer?: readonly Transferable[];
}

export type Handlers<C extends Contract<C>> = {
  readonly [K in keyof C]: (input: C[K]['input'], signal: AbortSignal) => Promise<Answer<C[K]['output']>>;
};

/** Serves the contract on this worker's port. A call may look at its signal between steps; one that has not begun is dropped. */
export function serve<C extends Contract<C>>(handlers: Handlers<C>): void {
  const port = parentPort;
  if (port === null) throw new Error('This file runs in a worker thread.');
  const running = new Map<number, AbortController>();

  const answer = async (id: number, method: string, input: unknown) => {
    const controller = new AbortController();
    running.set(id, controller);
    // Messages that already wait, among them an abort of this very call, are read before any work begins.
    await new Promise(resolve => setImmediate(resolve));
    let message: FromWorker;
    let transfer: readonly Transferable[] = [];
    try {
      controller.signal.throwIfAborted();
      const { value, transfer: moved = [] } = await handlers[method as keyof C](input as C[keyof C]['input'], controller.signal);
      message = { type: 'value', id, value };
      transfer = moved;
    } catch (error) {
      message = { type: 'error', id, error: toWire(error) };
    }
    running.delete(id);
    port.postMessage(message, [...transfer]);
  };

  port.on('message', (message: ToWorker) => {
    if (message.type === 'call') void answer(message.id, message.method, message.input);
    if (message.type === 'abort') running.get(message.id)?.abort();
    if (message.type === 'close') {
      for (const controller of running.values()) controller.abort();
      port.close();
    }
  });
}
