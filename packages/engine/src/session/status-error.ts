import { SessionError } from '../errors.js';
import type { SessionStatus } from './session-options.js';

/** The error for what cannot be done in this status. It says what can. */
export function statusError(id: string, status: SessionStatus, waitsFor: readonly string[]): SessionError {
  const hint = {
    running: 'wait for the turn to end',
    waiting: `answer what is pending first (${waitsFor.join(', ')})`,
    failed: 'retry() or send()',
    interrupted: 'resume() or send()',
    idle: 'send()',
  };
  return new SessionError(status === 'running' ? 'busy' : 'invalid_status', `Session ${id} is ${status}: ${hint[status]}.`);
}
