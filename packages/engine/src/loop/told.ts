import type { Burst } from '../events/bursts.js';
import type { StreamEvent } from '../events/events.js';
import type { RunFold } from '../events/fold.js';

/** Events on their way to the reader: each counts when it is given out. */
export function* told(fold: RunFold, events: Burst<StreamEvent>): Generator<StreamEvent> {
  for (const event of events) yield counted(fold, event);
}

export function counted(fold: RunFold, event: StreamEvent): StreamEvent {
  fold.push(event);
  return event;
}
