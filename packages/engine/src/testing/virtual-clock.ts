import { capabilities } from '../capabilities/door.js';
import * as methods from '../capabilities/methods.js';
import type { Clock } from '../clock.js';
import * as answerCalls from '../loop/answer-calls.js';
import { answering, partialAnswers, structuredOutput } from '../loop/on-demand.js';
import * as outputRun from '../output/output-run.js';
import * as partialAnswer from '../reliability/partial-answer.js';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that stands still until it is told to go on. */
export interface VirtualClock extends Clock {
  /** Goes on by `ms`, firing every timer at its exact time and letting the work that it starts settle before the next. */
  advance(ms: number): Promise<void>;
  /** Goes from timer to timer until none is left, or `limitMs` have passed (default one hour). Returns the time that passed. */
  runAll(limitMs?: number): Promise<number>;
  /** Timers that wait. */
  readonly pending: number;
}

/**
 * Time for tests: a conversation of 20 seconds runs in milliseconds, with exact times.
 *
 * ```ts
 * const clock = virtualClock();
 * const slept = sleep(clock, 1000);
 * await clock.advance(1000);
 * await slept;
 * ```
 */
export function virtualClock(start = 0): VirtualClock {
  // While a file is loaded this clock would run ahead of the run.
  capabilities.put(methods);
  answering.put(answerCalls);
  structuredOutput.put(outputRun);
  partialAnswers.put(partialAnswer);
  const timers = new Set<Timer>();
  let now = start;
  let order = 0;
  const earliest = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer;
    return first;
  };
  const advanceTo = async (end: number) => {
    await settle();
    for (let timer = earliest(); timer && timer.at <= end; timer = earliest()) {
      now = Math.max(now, timer.at);
      timers.delete(timer);
      timer.fire();
      await settle();
    }
    now = Math.max(now, end);
  };
  return {
    now: () => now,
    wallTime: () => now,
    setTimer(ms, fire) {
      const timer = { at: now + Math.max(0, ms), order: order++, fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: ms => advanceTo(now + ms),
    async runAll(limitMs = 3_600_000) {
      const began = now;
      await settle();
      for (let timer = earliest(); timer && timer.at <= began + limitMs; timer = earliest()) await advanceTo(timer.at);
      return now - began;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Lets promises that are ready go on, however deep their chains are: a macrotask runs after all microtasks. */
function settle(): Promise<void> {
  return new Promise(resolve => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}
