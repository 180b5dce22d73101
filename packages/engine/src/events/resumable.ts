import type { StreamEvent } from './events.js';

/** An event with its place in its stream, from 1. */
export type NumberedEvent<E = StreamEvent> = E & { readonly seq: number };

/** Keeps the events of streams, so that a reader that lost its connection can go on where it was. */
export interface EventLog<E = StreamEvent> {
  /** Called with each event in order, before any reader sees it. */
  append(streamId: string, event: NumberedEvent<E>): void | Promise<void>;
  /** The events behind `afterSeq`, in order. */
  read(streamId: string, afterSeq: number): AsyncIterable<NumberedEvent<E>> | Iterable<NumberedEvent<E>>;
}

/** A log in memory, of at most `limit` events a stream (default 100 000); reading from before the oldest one throws `RangeError`. */
export function memoryEventLog<E = StreamEvent>(options: { readonly limit?: number } = {}): EventLog<E> {
  const limit = options.limit ?? 100_000;
  const streams = new Map<string, NumberedEvent<E>[]>();
  return {
    append(streamId, event) {
      const events = streams.get(streamId) ?? [];
      streams.set(streamId, events);
      events.push(event);
      if (events.length > limit) events.splice(0, events.length - limit);
    },
    read(streamId, afterSeq) {
      const events = streams.get(streamId) ?? [];
      const first = events[0]?.seq ?? 1;
      if (afterSeq + 1 < first) throw new RangeError(`The log of ${streamId} begins at ${first}; what is before it was dropped.`);
      return events.slice(Math.max(0, afterSeq + 1 - first));
    },
  };
}

/** So many of the last events are at hand for readers that keep up: reading a log again for each new event would take quadratic time. */
const AT_HAND = 256;

/** A stream that goes on without its readers. */
export interface ResumableStream<E = StreamEvent> {
  /** The events behind `afterSeq` (default 0: all of them), first from the log, then live. Leaving the loop leaves the stream running. */
  read(afterSeq?: number): AsyncIterable<NumberedEvent<E>>;
  /** Resolves when the stream has ended and everything is in the log; rejects when the stream or the log failed. */
  readonly done: Promise<void>;
}

/**
 * Runs a stream on its own, numbers its events and keeps them in a log, so that readers come and go and each continues where it was. It
 * begins at once and does not wait for readers; stop it through the stream's own signal.
 *
 * ```ts
 * const run = resumable(engine.stream('Tell me a story.', { signal }), { id: 'story-1', log: memoryEventLog() });
 * for await (const event of run.read(lastSeen)) send(event); // lastSeen = the seq that the client has
 * ```
 */
export function resumable<E extends object>(
  source: AsyncIterable<E>,
  options: { readonly id: string; readonly log: EventLog<E> },
): ResumableStream<E> {
  const { id, log } = options;
  const waiting = new Set<() => void>();
  const newest: NumberedEvent<E>[] = [];
  let last = 0;
  let state: 'running' | 'ended' | { readonly error: unknown } = 'running';
  const wakeAll = () => {
    const sleepers = [...waiting];
    waiting.clear();
    for (const wake of sleepers) wake();
  };
  const done = (async () => {
    try {
      for await (const event of source) {
        const numbered: NumberedEvent<E> = { ...event, seq: last + 1 };
        await log.append(id, numbered);
        newest.push(numbered);
        if (newest.length > AT_HAND) newest.shift();
        last = numbered.seq;
        wakeAll();
      }
      state = 'ended';
    } catch (error) {
      state = { error };
      throw error;
    } finally {
      wakeAll();
    }
  })();
  // Whoever reads hears of the failure; it must not end the process when nobody does.
  done.catch(() => {});
  return {
    done,
    async *read(afterSeq = 0) {
      if (!(Number.isInteger(afterSeq) && afterSeq >= 0)) throw new RangeError(`afterSeq must be a whole number from 0, not ${afterSeq}.`);
      let seen = afterSeq;
      for (;;) {
        if (seen < last) {
          const behind = last - seen;
          for await (const event of behind <= newest.length ? newest.slice(-behind) : log.read(id, seen)) {
            seen = event.seq;
            yield event;
          }
          continue;
        }
        if (state === 'ended') return;
        if (state !== 'running') throw state.error;
        await new Promise<void>(resolve => waiting.add(resolve));
      }
    },
  };
}

/** What a log holds of a stream, without the stream: for a process that was started anew. */
export async function* replay<E = StreamEvent>(log: EventLog<E>, streamId: string, afterSeq = 0): AsyncGenerator<NumberedEvent<E>> {
  yield* log.read(streamId, afterSeq);
}
