import { audioPart, completed, createEngine, type TranscriptionAdapter, type TranscriptionAdapterEvent } from '@antiphon/engine';
import { scriptedTranscription } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deaf, jsonCopy } from '../support.js';

const SOUND = audioPart(new Uint8Array(100), 'audio/wav');
const samples = (length: number) => new Uint8Array(length);
const START = { type: 'transcription_start' };
const END = { type: 'transcription_end', usage: { audioSeconds: 2 }, durationMs: 2000 };
const committed = (text: string, more: object = {}) => ({ type: 'committed_transcript', text, ...more });

function ear(events: readonly unknown[], about: Partial<TranscriptionAdapter> = {}): TranscriptionAdapter {
  return {
    provider: 'mine',
    model: 'm',
    timestamps: true,
    logprobs: true,
    transcribe: deaf,
    async *streamTranscription() {
      yield* events as TranscriptionAdapterEvent[];
    },
    ...about,
  };
}

describe('a recording', () => {
  test('is written down', async () => {
    const transcription = scriptedTranscription(['Hello there.', '']);
    const engine = createEngine({ transcription });
    const outcome = completed(await engine.transcribe(SOUND, { language: 'en' }));
    expect(outcome).toMatchObject({ text: 'Hello there.', usage: {} });
    expect('spans' in outcome).toBe(false);
    expect(jsonCopy(outcome)).toStrictEqual(outcome);
    expect(completed(await engine.transcribe({ audio: SOUND, prompt: 'Antiphon' })).text).toBe('');
    expect(transcription.requests).toEqual([
      { audio: SOUND, language: 'en' },
      { audio: SOUND, prompt: 'Antiphon' },
    ]);
  });

  test('spans have what was asked for, and nothing else', async () => {
    const spans = [{ text: 'Hi', kind: 'word' as const, startMs: 0, endMs: 90, logprob: -0.1 }];
    const transcription: TranscriptionAdapter = ear([], { transcribe: async () => ({ text: 'Hi', spans }) });
    const ask = async (options: object) => completed(await createEngine({ transcription }).transcribe(SOUND, options)).spans;
    expect(await ask({ timestamps: true, logprobs: true })).toEqual(spans);
    expect(await ask({ timestamps: true })).toEqual([{ text: 'Hi', kind: 'word', startMs: 0, endMs: 90 }]);
    expect(await ask({ logprobs: true })).toEqual([{ text: 'Hi', kind: 'word', logprob: -0.1 }]);
    expect(await ask({})).toBeUndefined();
  });

  test.each<readonly [string, object, unknown, string]>([
    ['no spans', { timestamps: true }, undefined, 'times were'],
    ['empty spans for a text', { timestamps: true }, [], 'times were'],
    [
      'a word without its time',
      { timestamps: true },
      [
        { text: 'Hi', kind: 'word', startMs: 1 },
        { text: 'you', kind: 'word' },
      ],
      'times were',
    ],
    ['no log-probabilities', { logprobs: true, timestamps: true }, [{ text: 'Hi', kind: 'word', startMs: 1 }], 'log-probabilities were'],
  ])('%s, although asked for: the call fails and keeps the text', async (_, options, spans, message) => {
    const transcription = ear([], { transcribe: async () => ({ text: 'Hi you', spans }) as never });
    const outcome = await createEngine({ transcription }).transcribe(SOUND, options);
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported' }, text: 'Hi you' });
    expect(outcome.status === 'failed' && outcome.error.message).toContain(message);
  });

  test('silence has no words to tell of', async () => {
    const transcription = ear([], { transcribe: async () => ({ text: ' ', spans: [] }) });
    expect(completed(await createEngine({ transcription }).transcribe(SOUND, { timestamps: true })).spans).toEqual([]);
  });

  test.each<readonly [string, Parameters<typeof scriptedTranscription>[1] & object, object, RegExp]>([
    ['a large recording', { maxAudioBytes: 99 }, {}, /100 bytes, and it takes 99/],
    ['a media type', { mediaTypes: ['audio/mpeg'] }, {}, /cannot read audio\/wav, only audio\/mpeg/],
    [
      'times and log-probabilities',
      { timestamps: false, logprobs: false },
      { timestamps: true, logprobs: true },
      /\(timestamps\).*\(logprobs\)/,
    ],
    ['settings', { unsupported: ['prompt', 'language'] }, { prompt: 'x', language: 'de' }, /prompt.*language/],
  ])('%s is refused before it is sent', async (_, about, options, message) => {
    const transcription = scriptedTranscription([], about);
    const outcome = await createEngine({ transcription }).transcribe(SOUND, options);
    expect(outcome.status === 'failed' && outcome.error).toMatchObject({ reason: 'unsupported', message: expect.stringMatching(message) });
    expect(transcription.requests).toEqual([]);
  });

  test('limits of the adapter’s own model do not bind another one that the request names', async () => {
    const spans = [{ text: 'Hi', kind: 'word' as const, startMs: 0 }];
    const transcription = ear([], { timestamps: false, transcribe: async () => ({ text: 'Hi', spans }) });
    const engine = createEngine({ transcription });
    expect(await engine.transcribe(SOUND, { timestamps: true, model: 'm' })).toMatchObject({ error: { reason: 'unsupported' } });
    expect(completed(await engine.transcribe(SOUND, { timestamps: true, model: 'other' })).spans).toEqual(spans);
  });

  test.each(['A', 'AAAAA', 'AA=', 'AAA=='])('base64 that cannot be read is refused: %s', async data => {
    const broken = { type: 'audio', mediaType: 'audio/wav', data } as const;
    await expect(createEngine({ transcription: ear([]) }).transcribe(broken)).rejects.toMatchObject({ issues: [{ path: 'audio.data' }] });
  });

  test('a media type with parameters, or in capitals, is the type', async () => {
    const engine = createEngine({ transcription: scriptedTranscription(['ok', 'ok'], { mediaTypes: ['audio/webm'] }) });
    expect((await engine.transcribe(audioPart(samples(4), 'audio/webm;codecs=opus'))).status).toBe('completed');
    expect((await engine.transcribe(audioPart(samples(4), 'Audio/WebM'))).status).toBe('completed');
  });

  test.each<readonly [unknown, string[]]>([
    [undefined, ['audio']],
    [new Uint8Array(4), ['audio']],
    ['AAAA', ['audio']],
    [{ type: 'audio', mediaType: 'wav', data: '' }, ['audio.mediaType', 'audio.data']],
    [{ audio: SOUND, timestamps: 1, language: '' }, ['timestamps', 'language']],
  ])('%j: every fault is listed', async (input, paths) => {
    const error = await createEngine({ transcription: scriptedTranscription([]) })
      .transcribe(input as never)
      .catch(thrown => thrown);
    expect(error.issues.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  test.each([
    ['no text', {}],
    ['a duration of text', { text: 'a', durationMs: '2' }],
    ['spans that are none', { text: 'a', spans: [5] }],
  ])('%s is no answer', async (_, answer) => {
    const transcription = ear([], { transcribe: async () => answer as never });
    const outcome = await createEngine({ transcription }).transcribe(SOUND, { timestamps: true });
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
  });
});

describe('sound while it comes', () => {
  test('partials replace each other, segments stay', async () => {
    const segments = [{ text: 'Hello', partials: ['He', 'Hell'] }, ' there. ', { text: '' }];
    const transcription = scriptedTranscription([{ segments, durationMs: 2000 }]);
    const stream = createEngine({ transcription }).streamTranscription([samples(4), samples(4)]);
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map(event => ('text' in event ? `${event.type}: ${event.text}` : event.type))).toEqual([
      'transcription_start',
      'partial_transcript: He',
      'partial_transcript: Hell',
      'committed_transcript: Hello',
      'committed_transcript:  there. ',
      'committed_transcript: ',
      'transcription_end',
      'end',
    ]);
    expect(await stream.outcome).toMatchObject({ status: 'completed', text: 'Hello there.', durationMs: 2000 });
    expect(transcription.bytesHeard).toBe(8);
  });

  test('however sound is cut, whole samples come, and all of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 7 }), { maxLength: 12 }), async pieces => {
        const heard: number[] = [];
        const transcription = ear([], {
          async *streamTranscription(_, audio) {
            for await (const piece of audio) {
              expect((piece as Uint8Array).length % 2).toBe(0);
              heard.push(...(piece as Uint8Array));
            }
            yield* [START, committed('ok'), END] as TranscriptionAdapterEvent[];
          },
        });
        const outcome = await createEngine({ transcription }).streamTranscription(pieces).outcome;
        const all = pieces.flatMap(piece => [...piece]);
        expect(heard).toEqual(all.slice(0, all.length - (all.length % 2)));
        expect(outcome.status).toBe(all.length > 0 && all.length % 2 === 0 ? 'completed' : 'failed');
      }),
    );
  });

  test('the request has its defaults; commits pass when they are manual', async () => {
    const transcription = scriptedTranscription(['one', { segments: ['one', 'two'] }]);
    const engine = createEngine({ transcription });
    await engine.streamTranscription([samples(2)]).outcome;
    const manual = engine.streamTranscription([samples(2), 'commit', samples(2)], { commit: 'manual', sampleRate: 8000 });
    expect(await manual.outcome).toMatchObject({ status: 'completed', text: 'one two' });
    expect(transcription.requests).toEqual([
      { sampleRate: 16_000, commit: 'vad' },
      { sampleRate: 8000, commit: 'manual' },
    ]);
  });

  test.each<readonly [string, readonly unknown[], string]>([
    ['a commit that is not manual', [samples(2), 'commit'], "say commit: 'manual'"],
    ['numbers', [[1, 2]], 'must be Uint8Array'],
    ['half a sample', [samples(3)], 'middle of a sample'],
    ['no sound', [], 'ended before it began'],
    ['empty pieces', [samples(0)], 'ended before it began'],
  ])('%s fails the call', async (_, pieces, message) => {
    const outcome = await createEngine({ transcription: scriptedTranscription(['x']) }).streamTranscription(pieces as never).outcome;
    expect(outcome.status === 'failed' && outcome.error.message).toContain(message);
  });

  test('a rate that it does not take, and streaming that it cannot, are refused before anything is sent', async () => {
    const { streamTranscription: _, ...transcription } = scriptedTranscription([], { sampleRates: [16_000] });
    expect(await createEngine({ transcription }).streamTranscription([samples(2)], { sampleRate: 44_100 }).outcome).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported', message: /cannot transcribe.*44100 Hz, only 16000/ as never },
    });
  });

  test.each<readonly [string, readonly unknown[], string]>([
    ['a segment before the start', [committed('x')], 'malformed_response'],
    ['two starts', [START, START], 'malformed_response'],
    ['a segment without text', [START, committed(5 as never)], 'malformed_response'],
    ['an event of another kind', [START, { type: 'speech_start' }], 'malformed_response'],
    ['no end', [START, committed('x')], 'truncated'],
  ])('%s is no answer', async (_, events, reason) => {
    const engine = createEngine({ transcription: ear(events), retry: false });
    expect(await engine.streamTranscription([samples(2)]).outcome).toMatchObject({ status: 'failed', error: { reason } });
  });

  test('a call that is stopped keeps what was written down, and the last guess', async () => {
    const events = [
      START,
      committed('Hello'),
      { type: 'partial_transcript', text: 'the' },
      { type: 'partial_transcript', text: 'ther' },
      committed('never'),
    ];
    const stream = createEngine({ transcription: ear(events) }).streamTranscription([samples(2)]);
    for await (const event of stream) if (event.type === 'partial_transcript' && event.text === 'ther') break;
    expect(await stream.outcome).toMatchObject({ status: 'interrupted', text: 'Hello', partial: 'ther' });
  });

  test('spans of all segments are joined', async () => {
    const word = (text: string, startMs: number) => ({ text, kind: 'word', startMs, endMs: startMs + 1, logprob: -1 });
    const events = [START, committed('a', { spans: [word('a', 0)] }), committed('b', { spans: [word('b', 5)], language: 'en' }), END];
    const engine = createEngine({ transcription: ear(events) });
    const outcome = completed(await engine.streamTranscription([samples(2)], { timestamps: true }).outcome);
    expect(outcome).toMatchObject({ text: 'a b', language: 'en', durationMs: 2000, usage: { audioSeconds: 2 } });
    expect(outcome.spans).toEqual([
      { text: 'a', kind: 'word', startMs: 0, endMs: 1 },
      { text: 'b', kind: 'word', startMs: 5, endMs: 6 },
    ]);
    const silent = await engine.streamTranscription([samples(2)]).outcome;
    expect('spans' in silent).toBe(false);
  });
});
