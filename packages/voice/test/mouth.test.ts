import { sleep } from '@antiphon/engine';
import type { SpeechAudio, TextToSpeech, TurnEvent } from '@antiphon/voice';
import { memorySink, type VirtualClock, virtualClock } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';
import { Player } from '../src/playout/player.js';
import { Mouth } from '../src/session/mouth.js';
import type { Clause } from '../src/text/index.js';

const RATE = 16_000;
const GENERATION = 1;

type Voice = (
  text: string,
  options: { readonly call: number; readonly signal: AbortSignal; readonly clock: VirtualClock },
) => AsyncIterable<SpeechAudio>;

let next = 1;
/** Samples that are all different. */
const sound = (count: number) => Float32Array.from({ length: count }, () => next++ / 2 ** 23);

function stage(voice: Voice, locale?: string) {
  const clock = virtualClock();
  const sink = memorySink({ clock, sampleRate: RATE });
  const player = new Player(sink, clock, { started() {}, drained() {} });
  const events: TurnEvent[] = [];
  const spoken: string[] = [];
  const given: number[] = [];
  const abort = new AbortController();
  const tts: TextToSpeech = {
    name: 'test',
    sampleRate: RATE,
    async *synthesize(text, { signal } = {}) {
      spoken.push(text);
      for await (const piece of voice(text, { call: spoken.length, signal: signal as AbortSignal, clock })) {
        for (const sample of piece.samples) given.push(sample);
        yield piece;
      }
    },
    close: async () => {},
  };
  const mouth = new Mouth({ tts, player, clock, locale, dispatch: event => events.push(event) }, GENERATION, abort.signal);
  let clauses = 0;
  const speak = (...texts: string[]) => {
    for (const text of texts) mouth.speak({ text } as Clause, clauses++);
  };
  const log = () =>
    events.map(event => [event.type, 'clause' in event ? event.clause : undefined, ...('final' in event ? [event.final] : [])]);
  return { clock, sink, player, mouth, abort, events, spoken, given, speak, log };
}

const plain: Voice = async function* (_, { clock, signal }) {
  await sleep(clock, 100, signal);
  yield { samples: sound(800) };
  yield { samples: sound(800) };
};

describe('clauses', () => {
  test('are spoken one after the other, and every sample is heard', async () => {
    const { clock, sink, player, speak, spoken, given, log } = stage(plain);
    speak('One. ', 'Two.');
    await clock.runAll();
    expect(spoken).toEqual(['One.', 'Two.'].map(text => expect.stringContaining(text)));
    expect([...sink.audio]).toEqual(given);
    expect(log()).toEqual([
      ['tts_request', 0],
      ['tts_first_byte', 0],
      ['tts_done', 0],
      ['tts_request', 1],
      ['tts_first_byte', 1],
      ['tts_done', 1],
    ]);
    expect(player.ledger.heard(GENERATION)).toBe('One. Two.');
  });

  test('that cannot be spoken are skipped, and count as said', async () => {
    const { clock, player, speak, spoken, log } = stage(plain);
    speak('One. ', '🎉 ', '```js\nx = 1;\n```\n', '… ', '\n', 'Two.');
    await clock.runAll();
    expect(spoken.map(text => text.trim())).toEqual(['One.', 'Two.']);
    expect(log().filter(([type]) => type === 'tts_done')).toHaveLength(6);
    expect(log().filter(([type]) => type === 'tts_request')).toEqual([
      ['tts_request', 0],
      ['tts_request', 5],
    ]);
    expect(player.ledger.heard(GENERATION)).toBe('One. 🎉 ```js\nx = 1;\n```\n… \nTwo.');
  });

  test('are made into words in their language', async () => {
    const english = stage(plain);
    english.speak('It costs $42.50.');
    await english.clock.runAll();
    expect(english.spoken).toEqual(['It costs forty-two dollars and fifty cents.']);
    const german = stage(plain, 'de');
    german.speak('Es kostet **42** Euro.');
    await german.clock.runAll();
    expect(german.spoken).toEqual(['Es kostet 42 Euro.']);
  });

  test('wait while much is unheard', async () => {
    const { clock, speak, spoken } = stage(async function* () {
      yield { samples: sound(25 * RATE) };
    });
    speak('One.', 'Two.');
    await clock.advance(4900);
    expect(spoken).toHaveLength(1);
    await clock.advance(300);
    expect(spoken).toHaveLength(2);
  });
});

describe('synthesis that fails', () => {
  test('before its first sound is tried once more', async () => {
    const { clock, sink, speak, given, log } = stage(async function* (text, about) {
      if (about.call === 1) throw new Error('down');
      yield* plain(text, about);
    });
    speak('One.');
    await clock.runAll();
    expect(log()).toEqual([
      ['tts_request', 0],
      ['tts_error', 0, false],
      ['tts_first_byte', 0],
      ['tts_done', 0],
    ]);
    expect([...sink.audio]).toEqual(given);
    expect(given).toHaveLength(1600);
  });

  test('after an empty piece has made no sound', async () => {
    const { clock, speak, log, given } = stage(async function* (text, about) {
      yield { samples: new Float32Array(0) };
      if (about.call === 1) throw new Error('down');
      yield* plain(text, about);
    });
    speak('One.');
    await clock.runAll();
    expect(log().map(([type]) => type)).toEqual(['tts_request', 'tts_error', 'tts_first_byte', 'tts_done']);
    expect(given).toHaveLength(1600);
  });

  test('twice is left out, and the next clause is spoken', async () => {
    const { clock, speak, spoken, events, log } = stage(async function* (text, about) {
      if (text.includes('One')) throw new Error('down');
      yield* plain(text, about);
    });
    speak('One.', 'Two.');
    await clock.runAll();
    expect(spoken).toEqual(['One.', 'One.', 'Two.']);
    expect(log()).toEqual([
      ['tts_request', 0],
      ['tts_error', 0, false],
      ['tts_error', 0, true],
      ['tts_request', 1],
      ['tts_first_byte', 1],
      ['tts_done', 1],
    ]);
    expect(events[2]).toMatchObject({ message: expect.stringContaining('down') });
  });

  test('in the middle is not repeated', async () => {
    const { clock, sink, speak, spoken, given, log } = stage(async function* (text, about) {
      yield* plain(text, about);
      if (text.includes('One')) throw new Error('down');
    });
    speak('One.', 'Two.');
    await clock.runAll();
    expect(spoken).toEqual(['One.', 'Two.']);
    expect(log()).toEqual([
      ['tts_request', 0],
      ['tts_first_byte', 0],
      ['tts_error', 0, true],
      ['tts_request', 1],
      ['tts_first_byte', 1],
      ['tts_done', 1],
    ]);
    expect([...sink.audio]).toEqual(given);
    expect(new Set(sink.audio).size).toBe(3200);
  });
});

describe('synthesis without a sound', () => {
  test.each([
    ['nothing', []],
    ['empty pieces', [{ samples: new Float32Array(0) }, { samples: new Float32Array(0) }]],
  ])('has failed: %s', async (_, pieces) => {
    const { clock, speak, log, spoken } = stage(async function* () {
      yield* pieces;
    });
    speak('One.');
    await clock.runAll();
    expect(spoken).toHaveLength(2);
    expect(log()).toEqual([
      ['tts_request', 0],
      ['tts_error', 0, false],
      ['tts_error', 0, true],
    ]);
  });

  test('for 15 s has failed, and is tried once more', async () => {
    const { clock, speak, log, spoken } = stage(async function* (text, about) {
      if (about.call === 1) await new Promise(() => {});
      yield* plain(text, about);
    });
    speak('One.', 'Two.');
    await clock.advance(14_999);
    expect(log()).toEqual([['tts_request', 0]]);
    await clock.runAll();
    expect(log().map(([type]) => type)).toEqual([
      ...['tts_request', 'tts_error', 'tts_first_byte', 'tts_done'],
      ...['tts_request', 'tts_first_byte', 'tts_done'],
    ]);
    expect(spoken).toEqual(['One.', 'One.', 'Two.']);
    expect(clock.pending).toBe(0);
  });
});

describe('an abort', () => {
  /** Tells nothing and asks for nothing after it. */
  const stopsAt = async (ms: number, voice: Voice) => {
    const staged = stage(voice);
    const { clock, abort, player, events, spoken, speak, sink } = staged;
    speak('One.', '🎉', 'Two.', 'Three.');
    await clock.advance(ms);
    abort.abort();
    player.flush(GENERATION);
    player.ledger.forget(GENERATION);
    const before = { events: events.length, spoken: spoken.length, played: sink.played };
    speak('Four.');
    await clock.runAll();
    expect({ events: events.length, spoken: spoken.length, played: sink.played }).toEqual(before);
    expect(clock.pending).toBe(0);
    return staged;
  };

  test.each([0, 50, 100, 110, 150, 199, 200, 250, 10_000])('after %i ms stops everything', async ms => {
    await stopsAt(ms, plain);
  });

  test('stops a voice that does not listen', async () => {
    await stopsAt(150, async function* (_, { clock }) {
      for (;;) {
        await sleep(clock, 20);
        yield { samples: sound(320) };
      }
    });
  });

  test('stops a voice that has died', async () => {
    await stopsAt(150, async function* (text, about) {
      yield* plain(text, about);
      await new Promise(() => {});
    });
  });

  test('ends the wait for what is unheard', async () => {
    await stopsAt(1000, async function* () {
      yield { samples: sound(60 * RATE) };
    });
  });

  test('that is older than the clauses lets none be spoken', async () => {
    const { clock, abort, speak, spoken, log } = stage(plain);
    abort.abort();
    speak('One.');
    await clock.runAll();
    expect([spoken, log()]).toEqual([[], []]);
  });

  test('while a clause is announced stops what waits behind it', async () => {
    const staged = stage(plain);
    const { clock, abort, speak, spoken, events } = staged;
    const push = events.push.bind(events);
    events.push = (...added) => {
      if (added.some(event => event.type === 'tts_done')) abort.abort();
      return push(...added);
    };
    speak('One.', 'Two.', 'Three.');
    await clock.runAll();
    expect(spoken).toEqual(['One.']);
  });
});
