import type { AdapterEvent } from './events.js';

/** True for what shows something of the answer: after it, another try would begin in the middle. */
export function isContent({ type }: AdapterEvent): boolean {
  return type !== 'message_start' && type !== 'warning' && type !== 'raw';
}
