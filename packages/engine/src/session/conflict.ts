import { StoreError } from '../errors.js';

/** The error for a log that is not where the writer thinks it is. It says what to do. */
export function conflict(id: string, expected: number, position: number): StoreError {
  const name = JSON.stringify(id);
  const message =
    expected === 0
      ? `Session ${name} is stored already: open it with openSession({ id, engine, store }), or choose another id.`
      : position === 0
        ? `Session ${name} is no longer in the store: it was deleted. Keep it under a new id with session.fork().`
        : `Session ${name} was changed by somebody else (the log is at ${position}, not at ${expected}): open it again and repeat what you did.`;
  return new StoreError('conflict', message);
}
