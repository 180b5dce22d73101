// What telemetry sees of the capabilities.
import {
  AdapterError,
  audioPart,
  type CapabilityInfo,
  choiceQuestion,
  createEngine,
  imagePart,
  type OtelOptions,
  otelTelemetry,
  type Telemetry,
} from '@antiphon/engine';
import {
  scriptedClassification,
  scriptedEmbeddings,
  scriptedImages,
  scriptedRerank,
  scriptedSpeech,
  scriptedTranscription,
  virtualClock,
} from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { recorder } from '../spans.js';
import { deaf, settled } from '../support.js';
import { engineOf, goodVerb, METHODS, type Verb } from './methods.js';
import { AUDIO, END, START, voice } from './voices.js';

function watching(options: Partial<OtelOptions> = {}) {
  const { spans, tracer } = recorder();
  return { spans, telemetry: otelTelemetry({ tracer, ...options }) };
}

const OPERATIONS: { readonly [method: string]: readonly [operation: string, output?: string] } = {
  embed: ['embeddings'],
  generateImage: ['generate_content', 'image'],
  editImage: ['generate_content', 'image'],
  moderate: ['moderation'],
  classify: ['classification'],
  rerank: ['rerank'],
  speak: ['generate_content', 'speech'],
  streamSpeech: ['generate_content', 'speech'],
  streamSpeechFromText: ['generate_content', 'speech'],
  transcribe: ['generate_content', 'text'],
  streamTranscription: ['generate_content', 'text'],
};

describe.each(METHODS)('$name', method => {
  const [operation, output] = OPERATIONS[method.name] ?? [];

  test('is one span', async () => {
    const { spans, telemetry } = watching();
    await method.call(engineOf(method, goodVerb(method), { telemetry }), { requestId: 'r', model: 'other' });
    expect(spans.map(({ name, kind, ends, parent }) => [name, kind, ends, parent])).toEqual([[`${operation} other`, 2, 1, undefined]]);
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': 'mine',
      'gen_ai.request.model': 'other',
      'antiphon.request_id': 'r',
      'antiphon.method': method.name,
      'antiphon.status': 'completed',
      'antiphon.retries': 0,
    });
    expect(spans[0]?.attributes['gen_ai.output.type']).toBe(output);
    expect(spans[0]?.attributes['gen_ai.request.stream']).toBe(method.streams || undefined);
    for (const key of ['error.type', 'gen_ai.usage.input_tokens', 'gen_ai.usage.cost', 'gen_ai.input.messages', 'gen_ai.output.messages'])
      expect(spans[0]?.attributes).not.toHaveProperty(key);
  });

  test('a failure, after a retry', async () => {
    const clock = virtualClock(1000);
    const { spans, telemetry } = watching();
    const errors = [
      new AdapterError('rate_limited', 'Busy.', { retryable: true, retryAfterMs: 70 }),
      new AdapterError('authentication_failed', 'No.'),
    ];
    const verb: Verb = () => {
      throw errors.shift();
    };
    await settled(clock, method.call(engineOf(method, verb, { telemetry, clock })));
    expect(spans).toMatchObject([
      {
        start: 1000,
        end: 1070,
        ends: 1,
        status: { code: 2, message: 'No.' },
        attributes: { 'error.type': 'authentication_failed', 'antiphon.status': 'failed', 'antiphon.retries': 1 },
        events: [{ name: 'retry', attributes: { 'error.type': 'rate_limited', 'antiphon.attempt': 1, 'antiphon.delay_ms': 70 } }],
      },
    ]);
  });

  test('an abort, before and after the beginning', async () => {
    const clock = virtualClock();
    const { spans, telemetry } = watching();
    const hangs = () => (method.streams ? { [Symbol.asyncIterator]: () => ({ next: deaf, return: deaf }) } : deaf());
    const engine = engineOf(method, hangs, { telemetry, clock });
    const stop = new AbortController();
    const call = method.call(engine, { signal: stop.signal });
    await clock.advance(10);
    stop.abort();
    await settled(clock, call);
    await settled(clock, method.call(engine, { signal: stop.signal }));
    expect(spans.map(({ ends, status, attributes }) => [ends, status, attributes['antiphon.status']])).toEqual([
      [1, undefined, 'interrupted'],
      [1, undefined, 'interrupted'],
    ]);
  });

  test('a mistake of the programmer is no call', async () => {
    const { spans, telemetry } = watching();
    const call = (async () => method.call(engineOf(method, goodVerb(method), { telemetry }), { tempo: 3 }))();
    await expect(call).rejects.toThrow('tempo is unknown');
    expect(spans).toEqual([]);
  });

  test('a watcher that breaks changes nothing', async () => {
    const breaks = () => {
      throw new Error('tracer');
    };
    const run = () => undefined;
    const watchers: Telemetry[] = [
      { run },
      { run, capability: breaks },
      { run, capability: () => ({ event: breaks, end: breaks }) },
      { run, capability: () => undefined },
    ];
    for (const telemetry of watchers)
      expect(await method.call(engineOf(method, goodVerb(method), { telemetry }))).toMatchObject({ status: 'completed' });
  });
});

describe('what is in a span', () => {
  test('batches are one call: usage and cost are sums', async () => {
    const { spans, telemetry } = watching();
    const answer = (id: string) => ({
      embeddings: [{ index: 0, vector: [1, 2] }],
      model: 'scripted-2026-01-01',
      responseId: id,
      usage: { inputTokens: 5, totalTokens: 5 },
    });
    const embeddings = scriptedEmbeddings([answer('a'), answer('b')], { maxBatchSize: 1 });
    const prices = { scripted: { input: 1_000_000, output: 0 } };
    await createEngine({ embeddings, telemetry, prices }).embed(['one', 'two']);
    expect(spans).toHaveLength(1);
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.cost': 10,
      'gen_ai.response.model': 'scripted-2026-01-01',
      'gen_ai.embeddings.dimension.count': 2,
    });
    expect(spans[0]?.attributes).not.toHaveProperty('gen_ai.response.id');
  });

  test('the time to the first sound, and what the voice counts', async () => {
    const clock = virtualClock();
    const { spans, telemetry } = watching();
    const speech = {
      ...voice([]),
      async *streamSpeech() {
        yield START as never;
        await new Promise<void>(resolve => void clock.setTimer(300, resolve));
        yield* [AUDIO, AUDIO, END] as never[];
      },
    };
    await settled(clock, createEngine({ speech, telemetry, clock }).streamSpeech('Hello').outcome);
    expect(spans[0]?.attributes).toMatchObject({ 'gen_ai.response.time_to_first_chunk': 0.3, 'antiphon.usage.characters': 5 });
  });

  test('a stream that is left ends its span, and one that nobody reads has none', async () => {
    const { spans, telemetry } = watching();
    const engine = createEngine({ speech: scriptedSpeech([{}, {}]), telemetry });
    engine.streamSpeech('Nobody hears this.');
    for await (const event of engine.streamSpeech('Hello')) if (event.type === 'audio_delta') break;
    expect(spans.map(({ ends, attributes }) => [ends, attributes['antiphon.status']])).toEqual([[1, 'interrupted']]);
  });

  test('content only when it is asked for; bytes and vectors never', async () => {
    const sound = audioPart(new Uint8Array([1, 2, 3, 4, 5, 6]), 'audio/wav');
    const all = async (captureContent: boolean) => {
      const { spans, telemetry } = watching({ captureContent });
      const engine = createEngine({
        telemetry,
        embeddings: scriptedEmbeddings([[[0.625]]]),
        images: scriptedImages([[imagePart(new Uint8Array([7, 7, 7]), 'image/png')]]),
        classification: scriptedClassification([{ answers: { mood: 'private gladness' } }]),
        rerank: scriptedRerank([[1]]),
        speech: scriptedSpeech([{}]),
        transcription: scriptedTranscription(['private words']),
      });
      await engine.embed(['private text']);
      await engine.generateImage('private picture');
      const mood = choiceQuestion('private question', ['private gladness', 'sad']);
      await engine.classify({ state: { note: 'private state' }, questions: { mood } });
      await engine.rerank('private query', { documents: ['private document'] });
      await engine.streamSpeech('private speech').outcome;
      await engine.transcribe(sound);
      expect(spans.map(({ attributes }) => attributes['antiphon.status'])).toEqual(Array(6).fill('completed'));
      return JSON.stringify(spans);
    };
    expect(await all(false)).not.toContain('private');
    const loud = await all(true);
    const secrets = ['text', 'picture', 'question', 'state', 'query', 'document', 'speech', 'words', 'gladness'];
    for (const secret of secrets) expect(loud).toContain(`private ${secret}`);
    for (const bytes of [sound.data, 'BwcH', '0.625']) expect(loud).not.toContain(bytes);
  });

  test('a watcher of one’s own sees events and the outcome', async () => {
    const seen: unknown[] = [];
    const telemetry: Telemetry = {
      run: () => undefined,
      capability: ({ clock: _, ...info }: CapabilityInfo) => {
        seen.push(info);
        return { event: ({ type }) => void seen.push(type), end: ({ status }) => void seen.push(status) };
      },
    };
    await createEngine({ speech: scriptedSpeech([{}]), telemetry }).streamSpeech('Hi', { requestId: 'r', voice: 'v' }).outcome;
    expect(seen).toEqual([
      { method: 'streamSpeech', requestId: 'r', provider: 'scripted', model: 'scripted', request: { text: 'Hi', voice: 'v' } },
      'speech_start',
      'audio_delta',
      'speech_end',
      'completed',
    ]);
  });
});
