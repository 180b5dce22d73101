// Who begins, who waits, who closes: the life of a stream of speech.
import { getEventListeners } from 'node:events';
import { AdapterError, createEngine, type SpeechAdapter, type SpeechAdapterEvent } from '@antiphon/engine';
import { scriptedSpeech, virtualClock } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { deaf, settled } from '../support.js';
import { AUDIO, bytes, END, eventsOf, START, voice } from './voices.js';

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
