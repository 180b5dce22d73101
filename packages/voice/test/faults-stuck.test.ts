// Sessions that hang, fall silent or never close: whatever happens at whatever moment, the next "hello" is answered aloud.
import type { AudioSink, LlmBackend, TextToSpeech } from '@antiphon/voice';
import { checkTrace, memorySink, type VirtualClock } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';
import { all, pause, type Stage, stage, times, told, voice } from './faults-support.js';

const FIRST_TOKEN_MS = 100;
const FIRST_BYTE_MS = 200;
const FINAL_MS = 100;
const ENDPOINT_MS = 300;

interface Breakable {
  /** So many calls of it fail, the present one first. */
  failures: number;
  readonly wake: Set<() => void>;
}

const breakable = (): Breakable => ({ failures: 0, wake: new Set() });
const fail = (part: Breakable, times: number) => {
  part.failures = times;
  for (const wake of [...part.wake]) wake();
};

/** Throws as soon as the part is broken, also in the middle. */
async function* fragile<T>(part: Breakable, name: string, work: AsyncIterable<T>): AsyncGenerator<T> {
  const items = work[Symbol.asyncIterator]();
  for (;;) {
    let wake = () => {};
    const broken = new Promise<'broken'>(resolve => {
      wake = () => resolve('broken');
    });
    part.wake.add(wake);
    if (part.failures > 0) wake();
    const next = items.next();
    const first = await Promise.race([next, broken]);
    part.wake.delete(wake);
    if (first === 'broken') {
      part.failures--;
      next.catch(() => {});
      void items.return?.();
      throw new Error(`the ${name} broke`);
    }
    if (first.done) return;
    yield first.value;
  }
}

/** One plain turn: a question, some words, a tool, and the answer. Anything else is answered in a word. */
function plainTurn({ sink, guesses = false }: { readonly sink?: (clock: VirtualClock) => AudioSink; readonly guesses?: boolean } = {}) {
  const model = breakable();
  const mouth = breakable();
  let calls = 0;
  const llm = (clock: VirtualClock): LlmBackend => ({
    name: 'plain',
    reply: (asked, { signal, confirmed }) =>
      fragile(
        model,
        'model',
        (async function* () {
          await pause(clock, FIRST_TOKEN_MS, signal);
          if (!/time/.test(asked) || /hello/.test(asked)) {
            yield { type: 'text' as const, delta: 'Hi.' };
            return yield { type: 'done' as const };
          }
          yield { type: 'text' as const, delta: 'Let me see. ' };
          await pause(clock, 60, signal);
          await confirmed;
          signal.throwIfAborted();
          const callId = `call_${++calls}`;
          yield { type: 'tool_start' as const, callId, name: 'clock' };
          await pause(clock, 400, signal);
          yield { type: 'tool_end' as const, callId, name: 'clock' };
          await pause(clock, FIRST_TOKEN_MS, signal);
          for (const delta of ['It ', 'is ', 'noon. ', 'Have ', 'lunch.']) {
            await pause(clock, 30, signal);
            yield { type: 'text' as const, delta };
          }
          yield { type: 'done' as const };
        })(),
      ),
    heard: () => {},
    reset: () => {},
  });
  const tts = (clock: VirtualClock): TextToSpeech => {
    const sound = voice(clock, { firstByteMs: FIRST_BYTE_MS });
    return { ...sound, synthesize: (text, options) => fragile(mouth, 'voice', sound.synthesize(text, options)) };
  };
  const play = stage({
    ...{ llm, tts, ...(sink ? { sink } : {}) },
    holdSound: new Float32Array(1600).fill(0.01),
    policy: { holdMs: 300, preemptive: guesses ? 'speech' : 'off' },
    ...(guesses ? { vad: { onsetMs: 50, silenceMs: 120 } } : {}),
  });
  play.speech(300, 1200, 'What time is it?', { finalMs: FINAL_MS, partials: [[600, 'What time']] });
  return { play, model, mouth };
}

type Turn = ReturnType<typeof plainTurn>;

/** How long what is injected sounds: one microphone does not hear two utterances at once. */
const SOUNDS: Record<string, number> = {
  speech: 700,
  'words for listening': 400,
  'a short noise': 150,
  'a long noise': 900,
  'speech to text that fails once': 700,
  'speech to text that fails for good': 700,
};

const INJECTIONS: Record<string, (turn: Turn, at: number) => void> = {
  speech: ({ play }, at) => play.speech(at, at + 700, 'Wait a moment.', { finalMs: FINAL_MS }),
  'words for listening': ({ play }, at) => play.speech(at, at + 400, 'mm-hmm', { finalMs: FINAL_MS }),
  'a short noise': ({ play }, at) => play.speech(at, at + 150),
  'a long noise': ({ play }, at) => play.speech(at, at + 900),
  'typed text': ({ play }, at) => play.at(at, () => play.session.sendText('And the date?')),
  'an interruption by hand': ({ play }, at) => play.at(at, () => play.session.interrupt()),
  'something to say': ({ play }, at) => play.at(at, () => play.session.say('By the way.')),
  'a model that fails once': ({ play, model }, at) => play.at(at, () => fail(model, 1)),
  'a model that fails for good': ({ play, model }, at) => play.at(at, () => fail(model, 2)),
  'a voice that fails once': ({ play, mouth }, at) => play.at(at, () => fail(mouth, 1)),
  'a voice that fails for good': ({ play, mouth }, at) => play.at(at, () => fail(mouth, 6)),
  'speech to text that fails once': ({ play }, at) => play.speech(at, at + 700, 'Wait a moment.', { failures: 1 }),
  'speech to text that fails for good': ({ play }, at) => play.speech(at, at + 700, 'Wait a moment.', { failures: 2 }),
};

/** Every moment at which something happens in the plain turn, and the ones before and after; for a sound, those at which nobody speaks. */
async function boundaries(name = '', guesses = false): Promise<number[]> {
  const { play } = plainTurn({ guesses });
  await play.until(20_000);
  const trace = await play.end();
  const moments = new Set(trace.filter(({ type }) => type !== 'closed').flatMap(({ t }) => [t - 1, t, t + 1]));
  const length = SOUNDS[name] ?? 0;
  return [...moments].filter(t => t >= 0 && (length === 0 || t >= 1200 || t + length <= 300)).sort((a, b) => a - b);
}

/** Says hello, and waits for the answer's first sound. */
async function greet({ play, model, mouth }: Turn, at: number): Promise<void> {
  await play.until(at);
  // What was to break has broken.
  model.failures = mouth.failures = 0;
  play.speech(at, at + 600, 'hello', { finalMs: FINAL_MS });
  await play.until(at + 600 + ENDPOINT_MS + FIRST_TOKEN_MS + FIRST_BYTE_MS + 100);
  const asked = all(play.trace, 'llm_request').findLast(({ text }) => text.endsWith('hello'));
  const heard = all(play.trace, 'audio_first').find(({ generation }) => generation === asked?.generation);
  expect({ at, heard: heard?.t ?? play.trace.slice(-12) }).toEqual({ at, heard: expect.any(Number) });
}

describe('at every moment of a turn', () => {
  test('there are as many moments as in a turn with a tool', async () => {
    expect((await boundaries()).length).toBeGreaterThan(50);
  });

  describe.each([
    ['a second later', 1000, false],
    ['when all is over', 9000, false],
    ['a second later, with guesses,', 1000, true],
    ['when all is over, with guesses,', 9000, true],
  ])('hello %s is answered', (_, after, guesses) => {
    test.each(Object.keys(INJECTIONS))('%s', async name => {
      for (const at of await boundaries(name, guesses)) {
        const turn = plainTurn({ guesses });
        INJECTIONS[name]?.(turn, at);
        await greet(turn, Math.max(at, 1500) + after);
        await turn.play.until(at + after + 10_000);
        expect(turn.play.session.state.reply).toBeUndefined();
        await turn.play.end();
      }
    });
  });

  test.each(Object.keys(INJECTIONS))('closed while %s: nothing is left, within two seconds', async name => {
    for (const at of await boundaries(name))
      for (const after of [0, 1, 120, 310]) {
        const turn = plainTurn();
        INJECTIONS[name]?.(turn, at);
        await turn.play.until(at + after);
        await turn.play.end();
      }
  });
});

describe('a loudspeaker that', () => {
  /** Plays for so long in all, and then nothing more. */
  const stalling = (ms: number) => (clock: VirtualClock) => {
    const sink = memorySink({ clock });
    let stopped: number | undefined;
    return {
      ...sink,
      write: (samples: Float32Array) => sink.write(samples),
      get played() {
        if (stopped === undefined && sink.played >= ms * 16) stopped = sink.played;
        return stopped ?? sink.played;
      },
      flush: () => sink.flush(),
    } as AudioSink;
  };

  test.each([
    ['never plays', 0],
    ['stops in the middle', 900],
  ])('%s: nothing hangs, typed text and speech still get to the model, and it closes', async (_, ms) => {
    const { play } = plainTurn({ sink: stalling(ms) });
    play.speech(8000, 8600, 'hello');
    play.at(12_000, () => play.session.sendText('hello'));
    play.at(14_000, () => play.session.interrupt());
    await play.until(20_000);
    expect(all(play.trace, 'llm_request').map(({ text }) => text)).toEqual(['What time is it?', 'hello', 'hello']);
    const trace = await play.end();
    expect(all(trace, 'message').filter(({ role, playedMs }) => role === 'assistant' && playedMs === 0)).toEqual([]);
  });

  test.each([100, 1300, 1500, 1700, 2000, 2500, 4000])('never plays, closed at %i ms', async at => {
    const { play } = plainTurn({ sink: stalling(0) });
    await play.until(at);
    await play.end();
  });
});

describe('engines that do not answer', () => {
  const never = (signal: AbortSignal | undefined, heeds: boolean) =>
    new Promise<never>((_, reject) => {
      if (heeds) signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  const silentModel = (heeds: boolean) => (): LlmBackend => ({
    name: 'silent',
    async *reply(asked, { signal }) {
      if (asked.endsWith('hello')) return yield { type: 'text', delta: 'Hi.' };
      await never(signal, heeds);
    },
    heard: () => {},
    reset: () => {},
  });
  const silentVoice =
    (heeds: boolean) =>
    (clock: VirtualClock): TextToSpeech => ({
      ...voice(clock),
      async *synthesize(text, options = {}) {
        if (text.startsWith('Hi')) return yield* voice(clock).synthesize(text, options);
        await never(options.signal, heeds);
      },
    });
  const talks = (): LlmBackend => ({
    name: 'talks',
    async *reply(asked) {
      yield { type: 'text', delta: asked.endsWith('hello') ? 'Hi.' : 'Never spoken.' };
    },
    heard: () => {},
    reset: () => {},
  });

  const answered = async (play: Stage) => {
    play.speech(300, 1200, 'What time is it?');
    play.speech(6000, 6600, 'hello');
    await play.until(6000 + 600 + ENDPOINT_MS + FIRST_BYTE_MS + 100);
    expect(times(play.trace, 'audio_first')).toHaveLength(1);
    await play.until(12_000);
    expect(told(play.trace).at(-1)).toBe('assistant: Hi.');
  };

  test.each([true, false])('a model that never answers is left behind by the next question (heeds its signal: %s)', async heeds => {
    const play = stage({ llm: silentModel(heeds) });
    await answered(play);
    await play.end();
  });

  test.each([true, false])('a voice that never answers is left behind by the next question (heeds its signal: %s)', async heeds => {
    const play = stage({ llm: talks, tts: silentVoice(heeds) });
    await answered(play);
    await play.end();
  });

  test('a saying that may not be interrupted and never sounds does not deafen the agent', async () => {
    const play = stage({ llm: talks, tts: silentVoice(true) });
    play.at(0, () => play.session.say('This never sounds.', { allowInterruptions: false }));
    play.speech(40_000, 40_600, 'hello');
    await play.until(45_000);
    expect(told(play.trace).at(-1)).toBe('assistant: Hi.');
    await play.end();
  });
});

describe('closing', () => {
  test('a session that was never started, and one that is closed twice', async () => {
    const { play } = plainTurn();
    const [one, two] = [play.session.close(), play.session.close()];
    expect(one).toBe(two);
    await one;
    play.session.sendText('Too late.');
    play.session.say('Too late.');
    play.session.interrupt();
    expect(all(play.trace, 'message')).toEqual([]);
  });

  test('readers end, also those that come later', async () => {
    const { play } = plainTurn();
    const reader = play.session[Symbol.asyncIterator]();
    await play.until(500);
    await play.end();
    for (let next = await reader.next(); !next.done; next = await reader.next());
    expect(await play.session[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
    expect(checkTrace(play.trace)).toEqual([]);
  });
});
