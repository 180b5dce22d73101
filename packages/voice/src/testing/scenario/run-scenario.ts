import { type VirtualClock, virtualClock } from '@antiphon/engine/testing';
import { VoiceSession } from '../../session/voice-session.js';
import type { VoiceEvent } from '../../turns/events.js';
import { turnPolicy } from '../../turns/policy.js';
import { memorySink } from '../memory-sink.js';
import { ScriptedEar } from './ear.js';
import { scenarioLlm, scenarioTts } from './mind.js';
import { type Anchor, asScenario, parseWhen, type Scenario, type UserAction } from './scenario.js';
import type { Trace, TraceLine } from './trace.js';

const RATE = 16_000;
const AFTER_THE_LAST_MS = 60_000;

/**
 * Plays a scenario on a virtual clock, with the real session, core, playout and ledger; only ears, model, voice and loudspeaker are scripted.
 * The same scenario gives the same trace. Throws `TypeError` for what is no scenario.
 *
 * ```ts
 * const trace = await runScenario({ user: [{ speech: [500, 2500], text: 'Hello.' }], llm: [{ when: '*', text: 'Hi.' }], end: 8000 });
 * checkTrace(trace); // []
 * ```
 */
export async function runScenario(json: unknown): Promise<Trace> {
  const scenario = asScenario(json);
  const clock = virtualClock();
  const { onsetMs = 50, silenceMs = 300 } = scenario.vad ?? {};
  const ear = new ScriptedEar({ onsetMs, silenceMs }, turnPolicy(scenario.policy));
  const tts = scenarioTts(scenario, clock);
  const session = new VoiceSession(
    {
      llm: scenarioLlm(scenario.llm ?? [], clock),
      vad: { name: 'scenario', sampleRate: RATE, frameSamples: 320, detect: async () => 0, reset: async () => {}, close: async () => {} },
      stt: { name: 'scenario', sampleRate: RATE, transcribe: async function* () {}, close: async () => {} },
      tts,
      source: { name: 'scenario', sampleRate: RATE, frames: async function* () {} },
      sink: memorySink({ clock, sampleRate: RATE }),
      holdSound: new Float32Array(RATE).fill(0.01),
      clock,
      ...(scenario.policy ? { policy: scenario.policy } : {}),
      ...(scenario.greeting === undefined ? {} : { greeting: scenario.greeting }),
    },
    ear.listen,
  );
  const lines: TraceLine[] = [];
  const user = new Script(scenario, session, ear, clock, line => lines.push(line));
  session.watch(event => {
    lines.push(event);
    user.sees(event);
  });
  session.start();
  user.begin();
  await clock.advance(scenario.end ?? user.lastMs + AFTER_THE_LAST_MS);
  user.end();
  await session.close();
  return lines.map(line => (line.type === 'closed' ? { ...line, timers: clock.pending } : line));
}

/** The user's part. An action whose time counts from an event waits for its next occurrence after the action before it. */
class Script {
  readonly #actions: readonly UserAction[];
  readonly #session: VoiceSession;
  readonly #ear: ScriptedEar;
  readonly #clock: VirtualClock;
  readonly #write: (line: TraceLine) => void;
  readonly #finalMs: number;
  readonly #timers = new Set<() => void>();
  #next = 0;
  /** When the last action that began is over. */
  lastMs = 0;

  constructor(scenario: Scenario, session: VoiceSession, ear: ScriptedEar, clock: VirtualClock, write: (line: TraceLine) => void) {
    this.#actions = scenario.user ?? [];
    this.#session = session;
    this.#ear = ear;
    this.#clock = clock;
    this.#write = write;
    this.#finalMs = scenario.stt?.finalMs ?? 200;
    for (const action of this.#actions)
      for (const time of timesOf(action)) if (time.type === undefined) this.lastMs = Math.max(this.lastMs, time.ms);
  }

  begin(): void {
    for (let action = this.#actions[this.#next]; action; action = this.#actions[this.#next]) {
      if (timesOf(action)[0]?.type !== undefined) return;
      this.#schedule(action, 0);
    }
  }

  /** Nothing more is done. */
  end(): void {
    for (const cancel of this.#timers) cancel();
  }

  sees(event: VoiceEvent): void {
    const action = this.#actions[this.#next];
    const [anchor] = action ? timesOf(action) : [];
    if (!action || anchor?.type !== event.type || event.t < this.#endOfLast()) return;
    if (anchor.state !== undefined && 'state' in event && event.state !== anchor.state) return;
    this.#schedule(action, event.t);
    this.begin();
  }

  #endOfLast(): number {
    const last = this.#actions[this.#next - 1];
    const times = last ? timesOf(last) : [];
    return times.every(time => time.type === undefined) ? Math.max(0, ...times.map(time => time.ms)) : 0;
  }

  #schedule(action: UserAction, origin: number): void {
    this.#next++;
    const [from = 0, to = from] = timesOf(action).map(({ type, ms }) => Math.max(0, (type === undefined ? 0 : origin) + ms));
    const at = (time: number, act: () => void) => this.#timers.add(this.#clock.setTimer(Math.max(0, time - this.#clock.now()), act));
    at(from, () => this.#act(action, from, to));
    if ('speech' in action || 'noise' in action) at(to, () => this.#write({ t: to, type: 'user_speech_end' }));
  }

  #act(action: UserAction, from: number, to: number): void {
    if ('typed' in action) return this.#session.sendText(action.typed);
    if ('say' in action) return this.#session.say(action.say, { allowInterruptions: action.allowInterruptions ?? true });
    if ('interrupt' in action) return this.#session.interrupt();
    if ('echo' in action) return this.#ear.echo();
    this.#write({ t: from, type: 'user_speech_start' });
    if ('noise' in action) return this.#ear.hear({ from, to });
    const { text = '', partials = [], finalMs = this.#finalMs, unfinished, error, times } = action;
    const failures = error === undefined ? 0 : (times ?? 2);
    const words = { text, partials, finalMs, finished: unfinished !== true, failures, ...(error === undefined ? {} : { error }) };
    this.#ear.hear({ from, to, words });
  }
}

function timesOf(action: UserAction): readonly Anchor[] {
  const times = 'speech' in action ? action.speech : 'noise' in action ? action.noise : [action.at];
  return times.map(time => parseWhen(time, 'user'));
}
