import { getEventListeners } from 'node:events';
import {
  AdapterError,
  audioPart,
  type CapabilityStream,
  completed,
  createEngine,
  type EngineConfig,
  type SpeechAdapter,
  type SpeechAdapterEvent,
} from '@antiphon/engine';
import { scripted, scriptedSpeech, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deaf, jsonCopy, settled } from '../support.js';

const bytes = (...values: number[]) => Uint8Array.from(values);

async function eventsOf<E extends { readonly type: string }>(stream: CapabilityStream<E, unknown>) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}
/** A voice whose stream yields these events, and then does this. */
function voice(events: readonly unknown[], then: () => unknown = () => {}): SpeechAdapter {
  async function* stream() {
    yield* events as SpeechAdapterEvent[];
    await then();
  }
  return { provider: 'mine', model: 'm', timestamps: true, speak: deaf, streamSpeech: stream, streamSpeechFromText: stream };
}
const START = { type: 'speech_start', mediaType: 'audio/pcm', format: 'pcm', sampleRate: 24_000 };
const AUDIO = { type: 'audio_delta', bytes: bytes(1, 2) };
const END = { type: 'speech_end', usage: { characters: 5 } };

describe('speaking', () => {
  test('whole and streamed say the same', async () => {
    const chunks = [bytes(1, 2), bytes(3, 4)];
    const engine = createEngine({ speech: scriptedSpeech(() => ({ chunks, usage: { characters: 5 } })) });
    const settings = { format: 'pcm', timestamps: true, requestId: 'r' } as const;
    const whole = completed(await engine.speak('Hello there.', settings));
    expect(whole).toMatchObject({ audio: audioPart(bytes(1, 2, 3, 4), 'audio/pcm'), sampleRate: 24_000, usage: { characters: 5 } });
    expect(whole.words?.map(({ text }) => text)).toEqual(['Hello', 'there.']);
    expect(await engine.streamSpeech('Hello there.', settings).outcome).toEqual(whole);
    expect(await engine.streamSpeechFromText(['Hello ', 'there.'], settings).outcome).toEqual(whole);
    expect(jsonCopy(whole)).toStrictEqual(whole);
  });

  test('the events of a stream', async () => {
    const engine = createEngine({ speech: scriptedSpeech([{ chunks: [bytes(1), bytes(2)] }]) });
    const events = await eventsOf(engine.streamSpeech('Hello.'));
    expect(events.map(({ type }) => type)).toEqual(['speech_start', 'audio_delta', 'audio_delta', 'speech_end', 'end']);
    expect(events[1]).toEqual({ type: 'audio_delta', bytes: bytes(1) });
    expect(events.at(-1)).toMatchObject({ outcome: { status: 'completed' } });
  });

  test('a text is spoken while it is written, by the very engine', async () => {
    const speech = scriptedSpeech([{ perChunkMs: 5 }]);
    const clock = virtualClock();
    const engine = createEngine({ chat: scripted([{ chunks: ['Once ', 'upon ', 'a time.'], perChunkMs: 100 }]), speech, clock });
    const stream = engine.streamSpeechFromText(engine.stream('A story, please.').textStream);
    const times: number[] = [];
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'audio_delta') times.push(clock.now());
    })();
    await settled(clock, reading);
    expect(times).toEqual([0, 105, 205]);
    expect(speech.heard).toEqual(['Once upon a time.']);
    expect(await stream.outcome).toMatchObject({ status: 'completed' });
  });

  test('however a text is cut, all of it is spoken', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 4 }), { maxLength: 12 }), async pieces => {
        const speech = scriptedSpeech([{}]);
        const outcome = await createEngine({ speech }).streamSpeechFromText(pieces).outcome;
        const text = pieces.join('');
        expect(outcome.status).toBe(text.trim() === '' ? 'failed' : 'completed');
        if (outcome.status === 'completed') {
          expect(speech.heard).toEqual([text]);
          expect(atob(outcome.audio.data)).toHaveLength(text.length * 2);
        }
      }),
    );
  });
});

describe('refused before anything is sent', () => {
  const cases: readonly (readonly [string, EngineConfig['speech'] & object, object, string])[] = [
    ['a format', scriptedSpeech([], { formats: ['mp3'] }), { format: 'wav' }, 'cannot give wav, only mp3'],
    ['times of words', scriptedSpeech([], { timestamps: false }), { timestamps: true }, '(timestamps)'],
    [
      'settings',
      scriptedSpeech([], { unsupported: ['speed', 'voice'] }),
      { speed: 2, voice: 'ada' },
      'no setting for speed; it has no setting for voice',
    ],
    ['a long text', scriptedSpeech([], { maxTextChars: 3 }), {}, 'has 5 characters, and it takes 3'],
  ];
  test.each(cases)('%s', async (_, speech, options, message) => {
    const engine = createEngine({ speech });
    for (const outcome of [await engine.speak('Hello', options), await engine.streamSpeech('Hello', options).outcome]) {
      expect(outcome.status).toBe('failed');
      if (outcome.status === 'failed') expect(outcome.error.message).toContain(message);
    }
    expect((speech as ReturnType<typeof scriptedSpeech>).requests).toEqual([]);
  });

  test('letters outside the first plane count once', async () => {
    const engine = createEngine({ speech: scriptedSpeech([{}], { maxTextChars: 4 }) });
    expect((await engine.speak('🎉🎉🎉🎉')).status).toBe('completed');
  });

  test('streaming, by a voice that cannot', async () => {
    const { streamSpeech: _a, streamSpeechFromText: _b, ...speech } = scriptedSpeech([]);
    const engine = createEngine({ speech });
    expect(await engine.streamSpeech('Hi').outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
    let touched = false;
    const input = (function* () {
      touched = true;
      yield 'Hi';
    })();
    expect(await engine.streamSpeechFromText(input).outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
    expect(touched).toBe(false);
  });

  test.each<readonly [unknown, object, string[]]>([
    ['', {}, ['text']],
    [' \n', {}, ['text']],
    [5, {}, ['text']],
    [
      { text: 'a', format: 'midi', speed: 0, sampleRate: 1.5, timestamps: 'yes' },
      { idleTimeoutMs: 0 },
      ['format', 'speed', 'sampleRate', 'timestamps', 'idleTimeoutMs'],
    ],
  ])('%j: every fault is listed', (text, options, paths) => {
    const engine = createEngine({ speech: scriptedSpeech([]) });
    let thrown: { issues: { path: string }[] } | undefined;
    try {
      engine.streamSpeech(text as never, options);
    } catch (error) {
      thrown = error as typeof thrown;
    }
    expect(thrown?.issues.map(({ path }) => path)).toEqual(paths);
  });

  test.each([undefined, null, 5, 'a text at once', {}])('%s is no text that is being written', text => {
    expect(() => createEngine({ speech: scriptedSpeech([]) }).streamSpeechFromText(text as never)).toThrow('must be an iterable of texts');
  });
});

describe('sound that cannot be right', () => {
  test.each<readonly [string, readonly unknown[], string]>([
    ['audio before the start', [AUDIO], 'malformed_response'],
    ['two starts', [START, START], 'malformed_response'],
    ['raw sound without its rate', [{ ...START, sampleRate: undefined }, AUDIO], 'malformed_response'],
    ['an unknown format', [{ ...START, format: 'midi' }, AUDIO], 'malformed_response'],
    ['no bytes', [START, { type: 'audio_delta', bytes: bytes() }], 'malformed_response'],
    ['a text for bytes', [START, { type: 'audio_delta', bytes: 'AAAA' }], 'malformed_response'],
    ['an end without sound', [START, END], 'malformed_response'],
    ['no end', [START, AUDIO], 'truncated'],
    ['nothing at all', [], 'truncated'],
    ['an event of another kind', [START, AUDIO, { type: 'text_delta' }], 'malformed_response'],
    ['words without times', [START, AUDIO, { type: 'words', words: [{ text: 'a' }] }], 'malformed_response'],
    ['times that run back', [START, AUDIO, { type: 'words', words: [{ text: 'a', startMs: 2, endMs: 1 }] }], 'malformed_response'],
  ])('%s', async (_, events, reason) => {
    const outcome = await createEngine({ speech: voice(events), retry: false }).streamSpeech('Hello').outcome;
    expect(outcome).toMatchObject({ status: 'failed', error: { reason } });
    expect(outcome.audio?.data).toBe(
      events[1] === AUDIO && events[0] === START && reason !== 'x' && !('sampleRate' in (events[0] as object) === false)
        ? btoa('\x01\x02')
        : outcome.audio?.data,
    );
  });

  test('times of words that were asked for and did not come fail the call, and the sound is kept', async () => {
    const outcome = await createEngine({ speech: voice([START, AUDIO, END]) }).streamSpeech('Hello', { timestamps: true }).outcome;
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported' },
      audio: { data: btoa('\x01\x02') },
      usage: { characters: 5 },
    });
    const speech: SpeechAdapter = { ...voice([]), speak: async () => ({ audio: audioPart(bytes(1), 'audio/mpeg') }) };
    expect(await createEngine({ speech }).speak('Hello', { timestamps: true })).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported' },
      audio: audioPart(bytes(1), 'audio/mpeg'),
    });
  });

  test('times of words that nobody asked for are not in the outcome', async () => {
    const words = { type: 'words', words: [{ text: 'Hello', startMs: 0, endMs: 1 }] };
    const outcome = await createEngine({ speech: voice([START, AUDIO, words, END]) }).streamSpeech('Hello').outcome;
    expect(outcome.status === 'completed' && 'words' in outcome).toBe(false);
  });
});

describe('the life of a stream', () => {
  test('nothing begins before somebody reads', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const speech = scriptedSpeech([{}]);
    createEngine({ speech, clock }).streamSpeech('Hi', { signal: stop.signal, timeoutMs: 5 });
    await clock.advance(100);
    expect([speech.requests.length, clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0, 0]);
  });

  test('it is read once; its outcome is one', async () => {
    const stream = createEngine({ speech: scriptedSpeech([{}]) }).streamSpeech('Hi');
    const [first, second] = await Promise.all([stream.outcome, stream.outcome]);
    expect(first).toBe(second);
    expect(() => stream[Symbol.asyncIterator]()).toThrow('read already');
  });

  test('two pulls at once, and pulls after the end', async () => {
    const iterator = createEngine({ speech: scriptedSpeech([{}]) })
      .streamSpeech('Hi')
      [Symbol.asyncIterator]();
    const pulls = await Promise.all(Array.from({ length: 8 }, () => iterator.next()));
    expect(pulls.map(({ value }) => value?.type)).toEqual([
      'speech_start',
      'audio_delta',
      'speech_end',
      'end',
      ...Array(4).fill(undefined),
    ]);
  });

  test('leaving stops the request and the input, and keeps the sound', async () => {
    const closed: string[] = [];
    async function* text() {
      try {
        for (;;) yield 'la ';
      } finally {
        closed.push('text');
      }
    }
    const stream = createEngine({ speech: scriptedSpeech([{}]) }).streamSpeechFromText(text());
    for await (const event of stream) if (event.type === 'audio_delta') break;
    expect(await stream.outcome).toMatchObject({ status: 'interrupted', audio: { mediaType: 'audio/mpeg' } });
    expect(closed).toEqual(['text']);
  });

  test('a reader that stops holds the voice back', async () => {
    let asked = 0;
    async function* text() {
      for (;;) {
        asked++;
        yield 'la ';
      }
    }
    const iterator = createEngine({ speech: scriptedSpeech([{}]) })
      .streamSpeechFromText(text())
      [Symbol.asyncIterator]();
    for (let i = 0; i < 4; i++) await iterator.next();
    await new Promise(setImmediate);
    expect(asked).toBeLessThan(6);
    await iterator.return?.();
  });

  test('an input that fails fails the call: a cut text is never a success', async () => {
    const clock = virtualClock();
    const broken = new AdapterError('rate_limited', 'Slow down.', { retryable: true });
    for (const [thrown, reason] of [
      [broken, 'rate_limited'],
      [new Error('gone'), 'invalid_request'],
      [undefined, 'invalid_request'],
    ] as const) {
      const text = (async function* () {
        yield 'Half ';
        throw thrown;
      })();
      const speech = scriptedSpeech([{}, {}]);
      const outcome = await settled(clock, createEngine({ speech, clock }).streamSpeechFromText(text).outcome);
      expect(outcome).toMatchObject({ status: 'failed', error: { reason }, audio: {} });
      // The text is used up, so there is no second try, although the error says that one might help.
      expect(speech.requests).toHaveLength(1);
    }
    const swallowing = voice([START, AUDIO, END]);
    const speech: SpeechAdapter = {
      ...swallowing,
      async *streamSpeechFromText(settings, text, context) {
        try {
          for await (const _ of text);
        } catch {
          // Not told.
        }
        yield* swallowing.streamSpeechFromText!(settings, text, context);
      },
    };
    const text = (async function* () {
      yield 'Half ';
      throw new Error('gone');
    })();
    expect(await createEngine({ speech }).streamSpeechFromText(text).outcome).toMatchObject({
      status: 'failed',
      error: { message: /gone/ as never },
    });
  });

  test('pieces that are no text fail the call', async () => {
    const outcome = await createEngine({ speech: scriptedSpeech([{}]) }).streamSpeechFromText(['Hi', 5 as never]).outcome;
    expect(outcome).toMatchObject({ status: 'failed', error: { name: 'ValidationError' } });
  });

  test('before the input was touched, a failure is tried again', async () => {
    const clock = virtualClock();
    const busy = new AdapterError('rate_limited', 'Slow down.', { retryable: true });
    const speech = scriptedSpeech([busy, { error: busy }, {}]);
    const engine = createEngine({ speech, clock });
    const events = await settled(clock, eventsOf(engine.streamSpeechFromText(['Hi'])));
    expect(events.map(({ type }) => type)).toEqual(['retry', 'speech_start', 'audio_delta', 'end']);
    expect(events.at(-1)).toMatchObject({ outcome: { status: 'failed', error: { reason: 'rate_limited' } } });
  });

  test('a retried try leaves no trace', async () => {
    const clock = virtualClock();
    const busy = new AdapterError('rate_limited', 'Slow down.', { retryable: true });
    const speech = scriptedSpeech([{ chunks: [], error: busy }, { chunks: [bytes(7)] }]);
    const events = await settled(clock, eventsOf(createEngine({ speech, clock }).streamSpeech('Hi')));
    expect(events.map(({ type }) => type)).toEqual(['retry', 'speech_start', 'audio_delta', 'speech_end', 'end']);
  });

  test('a voice that falls silent is given up; a text that is slow is waited for', async () => {
    const clock = virtualClock();
    const silent = createEngine({ speech: voice([START, AUDIO], deaf), clock });
    expect(await settled(clock, silent.streamSpeech('Hi', { idleTimeoutMs: 2000 }).outcome)).toMatchObject({
      status: 'failed',
      error: { reason: 'timeout', message: /silent for 2000 ms/ as never },
      audio: {},
    });
    const started = clock.now();
    const slow = (async function* () {
      for (const word of ['One ', 'two ', 'three.']) {
        await new Promise<void>(resolve => void clock.setTimer(50_000, resolve));
        yield word;
      }
    })();
    const patient = createEngine({ speech: scriptedSpeech([{}]), clock });
    expect(await settled(clock, patient.streamSpeechFromText(slow, { idleTimeoutMs: 2000 }).outcome)).toMatchObject({
      status: 'completed',
    });
    expect(clock.now() - started).toBe(150_000);
    expect(clock.pending).toBe(0);
  });

  test('a slow reader is nobody’s silence', async () => {
    const clock = virtualClock();
    const iterator = createEngine({ speech: scriptedSpeech([{}]), clock })
      .streamSpeech('One two', { idleTimeoutMs: 10 })
      [Symbol.asyncIterator]();
    const types: unknown[] = [];
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      types.push(next.value.type);
      await clock.advance(1000);
    }
    expect(types.at(-2)).toBe('speech_end');
  });

  test('a source of text that never answers does not keep a stopped call', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const speech = scriptedSpeech([{}]);
    const text = { [Symbol.asyncIterator]: () => ({ next: deaf, return: deaf }) } as AsyncIterable<string>;
    const outcome = createEngine({ speech, clock }).streamSpeechFromText(text, { signal: stop.signal }).outcome;
    await clock.advance(100);
    stop.abort();
    expect(await settled(clock, outcome)).toMatchObject({ status: 'interrupted' });
    expect(clock.now()).toBeLessThan(2000);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('a voice that ends before the text does closes the text', async () => {
    const closed: string[] = [];
    const clock = virtualClock();
    async function* text() {
      try {
        for (;;) {
          await new Promise<void>(resolve => void clock.setTimer(10, resolve));
          yield 'la ';
        }
      } finally {
        closed.push('text');
      }
    }
    const speech: SpeechAdapter = {
      ...voice([]),
      async *streamSpeechFromText(_, input) {
        await input[Symbol.asyncIterator]().next();
        yield* [START, AUDIO, END] as SpeechAdapterEvent[];
      },
    };
    const outcome = createEngine({ speech, clock }).streamSpeechFromText(text()).outcome;
    expect(await settled(clock, outcome)).toMatchObject({ status: 'completed' });
    expect([closed, clock.pending]).toEqual([['text'], 0]);
  });
});
