import { type Clock, sleep } from '@antiphon/engine';
import {
  type AudioSource,
  createVoiceSession,
  type EchoGuard,
  echoGuard,
  type TextToSpeech,
  type VoiceActivityDetector,
  type VoiceEvent,
} from '@antiphon/voice';
import { type MemorySink, memorySink, scriptedLlm, scriptedStt, virtualClock } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';
import { babble, heardIn, level, numbers, type Room } from './echo-support.js';

const RATE = 16_000;
const FRAME = 512;
const AGENT = babble(1, 20);
const USER = babble(2, 3);
const ROOMS: readonly Room[] = [0, 50, 150, 300].flatMap(delayMs => [-6, -12, -20].map(gainDb => ({ delayMs, gainDb })));

/** What the guard says of each frame while the agent speaks, given to the loudspeaker `aheadMs` early. */
function judge(guard: EchoGuard, mic: Float32Array, { aheadMs = 80, played = AGENT } = {}): number[] {
  const verdicts: number[] = [];
  let given = 0;
  for (let at = 0; at + FRAME <= mic.length; at += FRAME) {
    const upTo = at + FRAME + (aheadMs * RATE) / 1000;
    guard.playing(played.subarray(given, upTo));
    given = upTo;
    verdicts.push(guard.judge(mic.subarray(at, at + FRAME)));
  }
  return verdicts;
}

/** The user speaks from 8 s on, as loud as this on average. */
function spokenOver(mic: Float32Array, loudness: number): Float32Array {
  const both = mic.slice();
  const gain = loudness / level(USER);
  for (let i = 0; i < USER.length; i++) both[8 * RATE + i]! += USER[i]! * gain;
  return both;
}

/** Seconds at which two frames in a row are more likely the user than not. */
function onsets(verdicts: readonly number[]): number[] {
  return verdicts.flatMap((verdict, i) => (verdict >= 0.5 && (verdicts[i - 1] ?? 0) >= 0.5 ? [((i + 1) * FRAME) / RATE] : []));
}

const guard = () => echoGuard({ sourceRate: RATE, sinkRate: RATE });

describe('the echo guard', () => {
  for (const room of ROOMS) {
    const echo = heardIn(room, AGENT);
    const name = `${room.delayMs} ms late, ${room.gainDb} dB`;

    test(`${name}: hears nobody in the echo alone`, () => {
      // Nothing is heard before the echo is there.
      const heard = judge(guard(), echo).slice(Math.ceil((room.delayMs * RATE) / 1000 / FRAME) + 1);
      expect(onsets(heard)).toEqual([]);
    });

    test(`${name}: hears the user over it`, () => {
      const [first = Number.NaN] = onsets(judge(guard(), spokenOver(echo, 2 * level(echo))).slice((8 * RATE) / FRAME));
      expect(first).toBeLessThan(0.35);
    });
  }

  test('hears the user where there is no echo', () => {
    const next = numbers(9);
    const quiet = Float32Array.from(AGENT, () => (next() - 0.5) * 0.002);
    const [first = Number.NaN] = onsets(judge(guard(), spokenOver(quiet, level(AGENT) / 4)).slice((8 * RATE) / FRAME));
    expect(first).toBeLessThan(0.35);
  });

  test('knows the echo in steady noise', () => {
    const next = numbers(11);
    const noisy = heardIn({ delayMs: 100, gainDb: -12 }, AGENT).map(sample => sample + (next() - 0.5) * 0.02);
    expect(onsets(judge(guard(), noisy).slice(12))).toEqual([]);
  });

  test('follows a loudspeaker with another sample rate', () => {
    const played = babble(1, 20, 24_000);
    const at16 = Float32Array.from({ length: 20 * RATE }, (_, i) => played[Math.round(i * 1.5)] ?? 0);
    const guarded = echoGuard({ sourceRate: RATE, sinkRate: 24_000 });
    const mic = heardIn({ delayMs: 60, gainDb: -10 }, at16);
    const verdicts: number[] = [];
    for (let at = 0; at + FRAME <= mic.length; at += FRAME) {
      guarded.playing(played.subarray(at * 1.5, (at + FRAME) * 1.5));
      verdicts.push(guarded.judge(mic.subarray(at, at + FRAME)));
    }
    expect(onsets(verdicts.slice(4))).toEqual([]);
  });

  test('has no opinion while nothing is played, nor on silence', () => {
    const idle = guard();
    expect(idle.judge(USER.subarray(0, FRAME))).toBe(1);
    idle.playing(AGENT.subarray(0, RATE));
    expect(idle.judge(new Float32Array(FRAME))).toBe(1);
  });

  test('takes a click for no sound: scripted voices of one level are none', () => {
    const constant = new Float32Array(320).fill(0.1);
    const clicked = guard();
    const verdicts = Array.from({ length: 60 }, (_, i) => {
      clicked.playing(constant);
      return clicked.judge(i < 10 ? new Float32Array(320) : constant);
    });
    expect(new Set(verdicts)).toEqual(new Set([1]));
  });

  test('forgets what was flushed', () => {
    const cut = guard();
    judge(cut, heardIn({ delayMs: 50, gainDb: -6 }, AGENT));
    cut.playing(AGENT);
    cut.flushed();
    const verdicts = [];
    for (let at = 0; at + FRAME <= USER.length; at += FRAME) verdicts.push(cut.judge(USER.subarray(at, at + FRAME)));
    // The last echo may take half a second.
    expect(verdicts.slice(16).every(verdict => verdict === 1)).toBe(true);
  });
});

describe('a voice session whose microphone hears its loudspeaker', () => {
  const END_MS = 16_000;

  async function converse({ userAt, ...options }: { readonly userAt: readonly number[]; readonly echoGuard?: false }) {
    const clock = virtualClock();
    const sink = memorySink({ clock });
    const session = createVoiceSession({
      llm: scriptedLlm(['Right away.'], { clock }),
      vad: loudnessVad,
      stt: scriptedStt(['Stop it now.', 'Stop it now.', 'Stop it now.'], { clock }),
      tts: babbler,
      source: micBeside(sink, userAt, clock, END_MS),
      sink,
      clock,
      greeting: 'Once upon a time there was an engine that talked and talked.',
      ...options,
    });
    const events: VoiceEvent[] = [];
    session.watch(event => events.push(event));
    session.start();
    await clock.runAll(60_000);
    return events;
  }
  const count = (events: readonly VoiceEvent[], type: VoiceEvent['type']) => events.filter(event => event.type === type).length;

  test('is not interrupted by itself', async () => {
    const events = await converse({ userAt: [] });
    expect(count(events, 'vad_start')).toBe(0);
    expect(count(events, 'duck')).toBe(0);
  });

  test('would be, without the guard', async () => {
    const events = await converse({ userAt: [], echoGuard: false });
    expect(count(events, 'pause')).toBeGreaterThan(0);
  });

  test('is interrupted by the user', async () => {
    const events = await converse({ userAt: [6000] });
    expect(events.find(event => event.type === 'vad_start')?.t).toBeLessThan(6400);
    expect(events).toContainEqual(expect.objectContaining({ type: 'overlap', verdict: 'interruption' }));
  });
});

/** A detector that takes all that is loud for speech. */
const loudnessVad: VoiceActivityDetector = {
  name: 'loudness',
  sampleRate: RATE,
  frameSamples: FRAME,
  detect: async frame => (level(frame) > 0.004 ? 1 : 0),
  reset: async () => {},
  close: async () => {},
};

/** A voice that says anything in ten seconds of babble. */
const babbler: TextToSpeech = {
  name: 'babbler',
  sampleRate: RATE,
  async *synthesize() {
    yield { samples: AGENT.slice(0, 10 * RATE) };
  },
  close: async () => {},
};

/** A microphone next to the loudspeaker; the user speaks at these milliseconds. */
function micBeside(sink: MemorySink, userAt: readonly number[], clock: Clock, endMs: number): AudioSource {
  const STEP = RATE / 50;
  return {
    name: 'mic',
    sampleRate: RATE,
    async *frames(signal) {
      // The sink keeps what it played without the pauses between.
      const air = new Float32Array((endMs * RATE) / 1000 + STEP);
      let known = 0;
      for (let at = 0; at < (endMs * RATE) / 1000 && !signal.aborted; at += STEP) {
        await sleep(clock, 20, signal).catch(() => {});
        const fresh = sink.audio.subarray(known);
        known += fresh.length;
        air.set(fresh, Math.max(0, at + STEP - fresh.length));
        yield Float32Array.from({ length: STEP }, (_, i) => {
          const now = at + i;
          const echo = 0.5 * (air[now - 800] ?? 0) + 0.2 * (air[now - 1100] ?? 0);
          return userAt.reduce((sum, start) => sum + (USER[now - (start * RATE) / 1000] ?? 0), echo);
        });
      }
    },
  };
}
