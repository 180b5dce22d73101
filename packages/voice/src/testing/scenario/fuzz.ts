import { checkTrace, type Violation } from './check-trace.js';
import { runScenario } from './run-scenario.js';
import type { Scenario, ScenarioAnswer, UserAction } from './scenario.js';
import type { Trace } from './trace.js';

export interface Fuzzed {
  readonly scenario: Scenario;
  readonly trace: Trace;
  readonly violations: readonly Violation[];
}

/**
 * Makes a conversation by chance, plays it and checks its trace. The same seed gives the same one.
 *
 * ```ts
 * const { violations } = await fuzz(42); // []
 * ```
 */
export async function fuzz(seed: number): Promise<Fuzzed> {
  const scenario = randomScenario(seed);
  const trace = await runScenario(scenario);
  return { scenario, trace, violations: checkTrace(trace) };
}

const SAYINGS = [
  'Tell me a story.',
  'Stop!',
  'mm-hmm',
  'yeah',
  'wait',
  'What time is it?',
  'no no no',
  'I want to',
  'okay, go on',
  'こんにちは。',
  '',
];
const ANSWERS = [
  'Okay.',
  'Once upon a time there was a fox. It lived in a wood. One day it met a crow, and they became friends.',
  'First this, then that; and in the end, nothing.',
  '今日はいい天気ですね。散歩に行きましょう。',
  '🎉',
];

/** A conversation by chance. */
export function randomScenario(seed: number): Scenario {
  const random = generator(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const one = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;
  const chance = (share: number) => random() < share;
  let at = upTo(1000);
  const action = (): UserAction => {
    const from = at;
    const kind = random();
    const span = one([120, 250, 300, 500, 700, 1500]) + upTo(300);
    at += span + one([0, 100, 400, 800, 2000, 5000]);
    if (kind < 0.1) return { noise: [from, from + span] };
    if (kind < 0.18) return { typed: one(SAYINGS), at: from };
    if (kind < 0.22) return { interrupt: true, at: from };
    if (kind < 0.27) return { say: one(ANSWERS), at: from, allowInterruptions: chance(0.6) };
    if (kind < 0.3) return { echo: true, at: from, ms: 200 };
    const text = one(SAYINGS);
    const partials: [number, string][] = chance(0.4) ? [[upTo(span), text.split(' ')[0] ?? '']] : [];
    return {
      speech: [from, from + span],
      text,
      ...(partials.length > 0 ? { partials } : {}),
      finalMs: one([0, 100, 200, 400, 900]),
      ...(chance(0.15) ? { unfinished: true } : {}),
      ...(chance(0.05) ? { error: 'stt down', times: upTo(2) } : {}),
    };
  };
  const answer = (when: string): ScenarioAnswer => {
    const firstTokenMs = one([0, 50, 300, 1200]);
    if (chance(0.1)) return { when, error: 'rate_limited', firstTokenMs, ...(chance(0.5) ? { times: 1 } : {}) };
    const tools = chance(0.25)
      ? [{ name: 'look', ms: one([0, 200, 1500, 4000]) }, ...(chance(0.3) ? [{ name: 'find', ms: 300 }] : [])]
      : [];
    return {
      when,
      text: one(ANSWERS),
      firstTokenMs,
      durationMs: firstTokenMs + upTo(1500),
      ...(chance(0.3) ? { audioMs: 500 + upTo(8000) } : {}),
      ...(tools.length > 0 ? { tools, then: one(ANSWERS) } : {}),
    };
  };
  const user = Array.from({ length: 1 + upTo(6) }, action);
  return {
    name: `seed ${seed}`,
    policy: {
      endpoint: { finishedMs: one([100, 300, 500]), unfinishedMs: one([500, 1500]) },
      interrupt: { pauseMs: one([200, 300, 500, false as const]), duckMs: 120, words: one([1, 2]), resumeMs: one([300, 600, 2000]) },
      preemptive: one(['off', 'text', 'speech'] as const),
      awayMs: one([3000, 15_000, false as const]),
    },
    vad: { onsetMs: one([20, 50, 64]), silenceMs: one([100, 300, 500]) },
    user,
    llm: [...(chance(0.5) ? [answer(one(SAYINGS))] : []), answer('*'), answer('*')],
    tts: { firstByteMs: one([0, 100, 300]), msPerChar: one([20, 50]), ...(chance(0.05) ? { failOn: 'crow' } : {}) },
    ...(chance(0.2) ? { greeting: 'Hello there.' } : {}),
    // Sometimes it is closed in the middle of something.
    end: chance(0.3) ? upTo(at) : at + 20_000,
  };
}

/** Numbers from 0 up to 1, the same for the same seed (Mulberry32). */
function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
