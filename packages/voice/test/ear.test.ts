import { type Clock, sleep } from '@antiphon/engine';
import type { AudioSource, EndOfTurnDetector, SpeechToText, Transcript, TurnEvent } from '@antiphon/voice';
import { defaultTurnPolicy } from '@antiphon/voice';
import { scriptedVad, virtualClock } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';
import { listen } from '../src/session/ear.js';

const RATE = 16_000;
const BLOCK = 320;

type Heard = { readonly audio: number[]; readonly attempt: number };
/** One call of speech to text: reads `audio` as it likes. */
type Attempt = (audio: AsyncIterable<Float32Array>, clock: Clock, signal: AbortSignal | undefined) => AsyncIterable<Transcript>;

/** A source whose samples all differ, silent outside of the given stretches (ms). */
function source(clock: Clock, sounds: readonly (readonly [number, number])[], endMs: number): AudioSource {
  let next = 1;
  return {
    name: 'counted',
    sampleRate: RATE,
    async *frames(signal) {
      for (let at = 0; at < endMs; at += 20) {
        await sleep(clock, 20, signal).catch(() => {});
        if (signal.aborted) return;
        const isSound = sounds.some(([from, to]) => at >= from && at < to);
        yield Float32Array.from({ length: BLOCK }, () => (isSound ? next++ / 2 ** 23 : 0));
      }
    },
  };
}

interface HearOptions {
  readonly sounds?: readonly (readonly [number, number])[];
  readonly attempts: readonly Attempt[];
  readonly endOfTurn?: EndOfTurnDetector;
  readonly abortAt?: number;
}

async function hear({ sounds = [[500, 1500]], attempts, endOfTurn, abortAt }: HearOptions) {
  const clock = virtualClock();
  const abort = new AbortController();
  const events: (TurnEvent & { readonly t: number })[] = [];
  const faults: string[] = [];
  let calls = 0;
  const stt: SpeechToText = {
    name: 'attempts',
    sampleRate: RATE,
    transcribe: (audio, { signal } = {}) => (attempts[calls++] ?? says(''))(audio, clock, signal),
    close: async () => {},
  };
  const done = listen({
    source: source(clock, sounds, 4000),
    vad: scriptedVad(),
    stt,
    ...(endOfTurn ? { endOfTurn } : {}),
    policy: defaultTurnPolicy.vad,
    clock,
    now: () => clock.now(),
    signal: abort.signal,
    dispatch: event => events.push({ t: clock.now(), ...event }),
    fault: (stage, message) => faults.push(`${stage}: ${message}`),
  });
  if (abortAt !== undefined) {
    await clock.advance(abortAt);
    abort.abort();
  }
  await clock.runAll();
  await done;
  const words = events.filter(event => event.type.startsWith('stt_'));
  return { events, words, faults, calls: () => calls, pending: clock.pending };
}

/** Hears it all and says this; keeps what it heard. */
function says(text: string, heard?: Heard[], partials: readonly string[] = []): Attempt {
  return async function* (audio) {
    const all: number[] = [];
    heard?.push({ audio: all, attempt: heard.length });
    const left = [...partials];
    for await (const block of audio) {
      all.push(...block);
      const text = left.shift();
      if (text !== undefined) yield { type: 'partial', text };
    }
    yield { type: 'final', text };
  };
}

/** Fails after so many blocks. */
function failsAfter(blocks: number, spoils = false): Attempt {
  return async function* (audio) {
    let left = blocks;
    if (left === 0) throw new Error('down');
    for await (const block of audio) {
      // As when it was handed to a worker.
      if (spoils) block.fill(0);
      if (--left === 0) throw new Error('down');
    }
    throw new Error('down');
    // biome-ignore lint/correctness/noUnreachable: it is a generator.
    yield { type: 'final', text: '' };
  };
}

const withoutTime = (events: readonly TurnEvent[]) => events.map(({ t: _, ...event }: TurnEvent & { t?: number }) => event);

describe('speech to text', () => {
  test('tells partials and the final words, with the true end of speech', async () => {
    const { events, words } = await hear({ attempts: [says('Tell me a story.', undefined, ['Tell', 'Tell me'])] });
    expect(withoutTime(words)).toEqual([
      { type: 'stt_partial', utterance: 0, text: 'Tell' },
      { type: 'stt_partial', utterance: 0, text: 'Tell me' },
      { type: 'stt_final', utterance: 0, text: 'Tell me a story.', endedAt: 1500, finished: true },
    ]);
    expect(events.find(event => event.type === 'speech_start')).toMatchObject({ startedAt: 500 });
    expect(events.find(event => event.type === 'speech_end')).toMatchObject({ t: 1800, endedAt: 1500, accepted: true });
  });

  // The pre-roll alone is 16 blocks at once; the utterance has about 80 in all.
  test.each([0, 1, 2, 15, 17, 40, 79, 1000])('that fails after %i blocks is asked again with the whole audio', async blocks => {
    const whole: Heard[] = [];
    await hear({ attempts: [says('Hello.', whole)] });
    const heard: Heard[] = [];
    const { words, calls } = await hear({ attempts: [failsAfter(blocks), says('Hello.', heard)] });
    expect(whole[0]?.audio.length).toBeGreaterThan(RATE);
    expect(heard[0]?.audio).toEqual(whole[0]?.audio);
    expect(withoutTime(words)).toEqual([
      { type: 'stt_error', utterance: 0, message: expect.stringContaining('down'), final: false },
      { type: 'stt_final', utterance: 0, text: 'Hello.', endedAt: 1500, finished: true },
    ]);
    expect(calls()).toBe(2);
  });

  test('that spoils the audio it was given does not spoil it for the next', async () => {
    const [whole, heard]: [Heard[], Heard[]] = [[], []];
    await hear({ attempts: [says('Hello.', whole)] });
    await hear({ attempts: [failsAfter(30, true), says('Hello.', heard)] });
    expect(heard[0]?.audio).toEqual(whole[0]?.audio);
  });

  test('that leaves a read behind when it fails takes nothing from the next', async () => {
    const [whole, heard]: [Heard[], Heard[]] = [[], []];
    await hear({ attempts: [says('Hello.', whole)] });
    const leaves: Attempt = async function* (audio, clock) {
      const reader = audio[Symbol.asyncIterator]();
      const read = async () => {
        while (!(await reader.next()).done);
      };
      void read();
      await sleep(clock, 200);
      throw new Error('down');
      // biome-ignore lint/correctness/noUnreachable: it is a generator.
      yield { type: 'final', text: '' };
    };
    await hear({ attempts: [leaves, says('Hello.', heard)] });
    expect(heard[0]?.audio).toEqual(whole[0]?.audio);
  });

  test('that fails twice: one final error, and the next utterance is heard', async () => {
    const { words, calls } = await hear({
      sounds: [
        [500, 1500],
        [2500, 3200],
      ],
      attempts: [failsAfter(3), failsAfter(9), says('Again.')],
    });
    expect(withoutTime(words)).toEqual([
      { type: 'stt_error', utterance: 0, message: expect.any(String), final: false },
      { type: 'stt_error', utterance: 0, message: expect.any(String), final: true },
      { type: 'stt_final', utterance: 1, text: 'Again.', endedAt: 3200, finished: true },
    ]);
    expect(calls()).toBe(3);
  });

  test('that knows the words early waits for the end of speech', async () => {
    const early: Attempt = async function* () {
      yield { type: 'final', text: 'Hello.' };
    };
    const { words } = await hear({ attempts: [early] });
    expect(words).toEqual([{ t: 1800, type: 'stt_final', utterance: 0, text: 'Hello.', endedAt: 1500, finished: true }]);
  });
});

describe('an utterance that was taken back', () => {
  const cough = [[500, 640]] as const;
  const deaf: Attempt = async function* (audio, clock) {
    for await (const _ of audio);
    await sleep(clock, 300);
    yield { type: 'partial', text: 'Hu' };
    yield { type: 'final', text: 'Huh.' };
  };
  const obedient: Attempt = async function* (audio, clock, signal) {
    for await (const _ of audio);
    await sleep(clock, 300, signal);
    yield { type: 'final', text: 'Huh.' };
  };
  const stumbling: Attempt = async function* (audio, clock) {
    for await (const _ of audio);
    await sleep(clock, 300);
    throw new Error('down');
    // biome-ignore lint/correctness/noUnreachable: it is a generator.
    yield { type: 'final', text: '' };
  };

  test.each([
    ['stops when told', obedient],
    ['goes on regardless', deaf],
    ['fails later', stumbling],
    ['is done at once', says('Huh.')],
  ])('has no words: speech to text %s', async (_, attempt) => {
    const { events, words, calls } = await hear({ sounds: cough, attempts: [attempt] });
    expect(events.filter(event => event.type === 'speech_end')).toMatchObject([{ accepted: false, endedAt: 640 }]);
    expect(words).toEqual([]);
    expect(calls()).toBe(1);
  });

  test('is not judged by the detector of turn ends', async () => {
    const asked: string[] = [];
    const endOfTurn = { name: 'noted', isFinished: (text: string) => asked.push(text) > 0 };
    await hear({ sounds: cough, attempts: [deaf], endOfTurn });
    expect(asked).toEqual([]);
  });
});

describe('the detector of turn ends', () => {
  const verdict = async (isFinished: EndOfTurnDetector['isFinished'], text: string) => {
    const { words } = await hear({ attempts: [says(text)], endOfTurn: { name: 'test', isFinished } });
    return withoutTime(words);
  };
  const final = (text: string, finished: boolean) => ({ type: 'stt_final', utterance: 0, text, endedAt: 1500, finished });
  const error = { type: 'stt_error', utterance: 0, message: expect.stringContaining('no model'), final: false };

  test.each([
    ['Tell me a story.', true],
    ['I want to', false],
  ])('without one the words decide: %j %s', async (text, finished) => {
    const { words } = await hear({ attempts: [says(text)] });
    expect(withoutTime(words)).toEqual([final(text, finished)]);
  });

  test.each([true, false])('decides: %s', async finished => {
    expect(await verdict(() => finished, 'I want to')).toEqual([final('I want to', finished)]);
    expect(await verdict(async () => finished, 'Tell me a story.')).toEqual([final('Tell me a story.', finished)]);
  });

  test.each([
    ['Tell me a story.', true],
    ['I want to', false],
  ])('that fails leaves it to the words, and loses none: %j %s', async (text, finished) => {
    const throws = () => {
      throw new Error('no model');
    };
    expect(await verdict(throws, text)).toEqual([error, final(text, finished)]);
    expect(await verdict(async () => throws(), text)).toEqual([error, final(text, finished)]);
  });

  test('is not asked about nothing', async () => {
    const asked: string[] = [];
    const words = await verdict(text => asked.push(text) < 0, ' ');
    expect(words).toEqual([final(' ', true)]);
    expect(asked).toEqual([]);
  });
});

describe('the end', () => {
  test('of the session ends what is being transcribed, and tells nothing more', async () => {
    let told: unknown;
    const waits: Attempt = async function* (audio, clock, signal) {
      for await (const _ of audio);
      await sleep(clock, 5000, signal).catch(reason => {
        told = reason;
        throw reason;
      });
      yield { type: 'final', text: 'Too late.' };
    };
    const { words, pending } = await hear({ attempts: [waits], abortAt: 2000 });
    expect(words).toEqual([]);
    expect(told).toBeDefined();
    expect(pending).toBe(0);
  });

  test('of the source in the middle of a word ends the utterance', async () => {
    const { words } = await hear({ sounds: [[3000, 4000]], attempts: [says('Hello')] });
    expect(withoutTime(words)).toMatchObject([{ type: 'stt_final', text: 'Hello', endedAt: 4000 }]);
  });
});
