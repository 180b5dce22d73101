import { AdapterError, audioPart, completed, createEngine, type EngineConfig, type SpeechAdapter, tool } from '@antiphon/engine';
import { scripted, scriptedSpeech, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonCopy, settled } from '../support.js';
import { AUDIO, bytes, END, eventsOf, START, voice } from './voices.js';

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
    const speech = scriptedSpeech([{}]);
    const clock = virtualClock();
    const engine = createEngine({ chat: scripted([{ chunks: ['Once ', 'upon ', 'a time.'], perChunkMs: 100 }]), speech, clock });
    const stream = engine.streamSpeechFromText(engine.stream('A story, please.'));
    const times: number[] = [];
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'audio_delta') times.push(clock.now());
    })();
    await settled(clock, reading);
    expect(times).toEqual([0, 100, 200, 200]);
    expect(speech.heard).toEqual(['Once upon a time.\n']);
    expect(await stream.outcome).toMatchObject({ status: 'completed' });
  });

  test('a run that fails or is stopped is no success, and the words of two messages do not run together', async () => {
    const speech = scriptedSpeech(() => ({}));
    const broken = new AdapterError('provider_unavailable', 'Down.');
    const work = tool({ name: 'work', description: 'Works.', run: () => 1 });
    const engine = createEngine({
      chat: scripted([{ text: 'Half', error: broken }, { text: 'Wait.', toolCalls: [{ name: 'work' }] }, 'Done.', 'Never']),
      speech,
      tools: [work],
    });
    expect(await engine.streamSpeechFromText(engine.stream('Hi')).outcome).toMatchObject({ status: 'failed', error: broken, audio: {} });
    expect((await engine.streamSpeechFromText(engine.stream('Hi')).outcome).status).toBe('completed');
    expect(speech.heard).toEqual(['Half\n', 'Wait.\nDone.\n'].map((text, i) => (i === 0 ? expect.stringMatching(/^Half/) : text)));
    const stopped = engine.stream('Hi', { signal: AbortSignal.abort() });
    expect(await engine.streamSpeechFromText(stopped).outcome).toMatchObject({ status: 'failed', error: { reason: 'truncated' } });
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
