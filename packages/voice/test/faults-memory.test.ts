// What a conversation leaves behind while it lasts: nothing that grows. Counted, not timed.
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sleep } from '@antiphon/engine';
import { type AudioSink, createVoiceSession, type LlmBackend, PlayoutLedger, type SpeechToText, type TextToSpeech } from '@antiphon/voice';
import { scriptedVad, type VirtualClock, virtualClock } from '@antiphon/voice/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { pause, RATE } from './faults-support.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const BLOCK_MS = 100;
const TURN_MS = 6000;

/** A loudspeaker that keeps nothing. */
function loudspeaker(clock: VirtualClock): AudioSink {
  let [waiting, played, since] = [0, 0, 0];
  const advance = () => {
    const count = Math.min(waiting, Math.round(((clock.now() - since) * RATE) / 1000));
    waiting -= count;
    played += count;
    since = clock.now();
  };
  return {
    name: 'loudspeaker',
    sampleRate: RATE,
    write(samples) {
      advance();
      waiting += samples.length;
    },
    get played() {
      advance();
      return played;
    },
    flush() {
      advance();
      const dropped = waiting;
      waiting = 0;
      return dropped;
    },
    close: async () => {},
  };
}

/** What is alive of all that was made for the turns so far. */
class Remains {
  #refs: WeakRef<object>[] = [];
  made = 0;

  add<T extends object>(thing: T): T {
    this.made++;
    this.#refs.push(new WeakRef(thing));
    return thing;
  }

  async alive(): Promise<number> {
    for (let i = 0; i < 4; i++) {
      await new Promise(resolve => setImmediate(resolve));
      collect();
    }
    this.#refs = this.#refs.filter(ref => ref.deref() !== undefined);
    return this.#refs.length;
  }
}

/** A conversation without end: every turn is spoken, every third is cut, every fifth fails, every seventh uses a tool. */
function endless({ talks = true } = {}) {
  const clock = virtualClock();
  const remains = new Remains();
  const closer = new AbortController();
  let ears: AbortSignal | undefined;
  let asked = 0;
  const llm: LlmBackend = {
    name: 'endless',
    async *reply(_, { signal }) {
      remains.add(signal);
      const turn = asked++;
      await pause(clock, 100, signal);
      if (turn % 5 === 0) throw new Error('down');
      yield { type: 'text', delta: 'One moment please. ' };
      if (turn % 7 === 0) {
        yield { type: 'tool_start', callId: `call_${turn}`, name: 'look' };
        await pause(clock, 300, signal);
        yield { type: 'tool_end', callId: `call_${turn}`, name: 'look' };
      }
      for (const delta of ['Here is ', 'the first thing. ', 'And here is the second, ', 'which is ', 'a little longer.']) {
        await pause(clock, 50, signal);
        yield { type: 'text', delta };
      }
      yield { type: 'done' };
    },
    heard: () => {},
    reset: () => {},
  };
  const stt: SpeechToText = {
    name: 'endless',
    sampleRate: RATE,
    async *transcribe(audio, { signal } = {}) {
      if (signal) remains.add(signal);
      for await (const block of audio) remains.add(block);
      await pause(clock, 50, signal);
      yield { type: 'partial', text: 'Go on' };
      yield { type: 'final', text: 'Go on, please.' };
    },
    close: async () => {},
  };
  const tts: TextToSpeech = {
    name: 'endless',
    sampleRate: RATE,
    async *synthesize(text, { signal } = {}) {
      await pause(clock, 100, signal);
      yield { samples: remains.add(new Float32Array((text.length * 40 * RATE) / 1000)) };
    },
    close: async () => {},
  };
  const session = createVoiceSession({
    ...{ llm, stt, tts, clock, vad: scriptedVad(), sink: loudspeaker(clock), signal: closer.signal },
    source: {
      name: 'endless',
      sampleRate: RATE,
      async *frames(signal) {
        ears = signal;
        for (let at = 0; ; at += BLOCK_MS) {
          try {
            await sleep(clock, BLOCK_MS, signal);
          } catch {
            return;
          }
          const turn = Math.floor(at / TURN_MS);
          const inTurn = at % TURN_MS;
          // A question; in every third turn a second one over the answer, in every fourth a cough.
          const speaks = inTurn < 1000 || (turn % 3 === 0 && inTurn >= 2500 && inTurn < 3300) || (turn % 4 === 1 && inTurn === 2600);
          yield remains.add(new Float32Array((BLOCK_MS * RATE) / 1000).fill(talks && speaks ? 0.1 : 0));
        }
      },
    },
  });
  session.start();
  const counts = () => ({
    timers: clock.pending,
    listeners: getEventListeners(closer.signal, 'abort').length + (ears ? getEventListeners(ears, 'abort').length : 0),
    state: JSON.stringify({ ...session.state, policy: undefined }).replace(/\d+(?:\.\d+)?/g, '0').length,
  });
  return { clock, session, remains, counts, asked: () => asked };
}

afterEach(() => void vi.restoreAllMocks());

describe('300 turns in one session', () => {
  test('leave no listener, timer, ledger entry, sound or signal behind', { timeout: 60_000 }, async () => {
    const open = new Map<number, number>();
    const { open: opens, forget: forgets } = PlayoutLedger.prototype;
    vi.spyOn(PlayoutLedger.prototype, 'open').mockImplementation(function (this: PlayoutLedger, generation, text) {
      open.set(generation, (open.get(generation) ?? 0) + 1);
      return opens.call(this, generation, text);
    });
    vi.spyOn(PlayoutLedger.prototype, 'forget').mockImplementation(function (this: PlayoutLedger, generation) {
      open.delete(generation);
      return forgets.call(this, generation);
    });
    const { clock, session, remains, counts, asked } = endless();
    const after: object[] = [];
    const alive: number[] = [];
    const heap: number[] = [];
    // Always at the end of a turn of the same kind.
    for (let turns = 0; turns < 300; turns += 60) {
      await clock.advance(60 * TURN_MS);
      alive.push(await remains.alive());
      heap.push(process.memoryUsage().heapUsed);
      after.push({ ...counts(), clauses: open.size });
    }
    expect(asked()).toBeGreaterThan(300);
    expect(remains.made).toBeGreaterThan(10_000);
    expect(open.size).toBeLessThanOrEqual(1);
    for (const count of after) expect(count).toEqual(after[0]);
    // Those of the last turn.
    expect(Math.max(...alive)).toBeLessThan(80);
    expect((heap.at(-1) ?? 0) - (heap[1] ?? 0)).toBeLessThan(1_000_000);
    const closing = session.close();
    await clock.advance(2000);
    await closing;
    expect(clock.pending).toBe(0);
    expect(counts().listeners).toBe(0);
    expect(open.size).toBe(0);
  });
});

describe('an hour of silence', () => {
  test('leaves nothing behind', { timeout: 60_000 }, async () => {
    const { clock, session, remains, counts } = endless({ talks: false });
    // The first hour also warms up what runs it.
    await clock.advance(3_600_000);
    const before = { ...counts(), alive: await remains.alive() };
    const heap = process.memoryUsage().heapUsed;
    await clock.advance(3_600_000);
    const after = { ...counts(), alive: await remains.alive() };
    expect(after).toEqual(before);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(1_000_000);
    const closing = session.close();
    await clock.advance(2000);
    await closing;
    expect(clock.pending).toBe(0);
  });
});
