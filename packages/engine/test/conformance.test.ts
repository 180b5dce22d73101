// The conformance kits, run on our own scripted adapters and on adapters that break one rule each: a kit that cannot fail proves nothing.
import { AdapterError, type AdapterEvent, audioPart, type ChatAdapter, type EmbeddingAdapter, type SpeechAdapter } from '@antiphon/engine';
import {
  adapterConformance,
  type ChatScenario,
  type ChatUnderTest,
  type ConformanceCase,
  classificationConformance,
  embeddingConformance,
  imageConformance,
  moderationConformance,
  rerankConformance,
  type ScriptedTurn,
  scripted,
  scriptedClassification,
  scriptedEmbeddings,
  scriptedImages,
  scriptedModeration,
  scriptedRerank,
  scriptedSpeech,
  scriptedTranscription,
  serverFailure,
  speechConformance,
  type Turns,
  transcriptionConformance,
} from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';

const FOREVER = 1e9;
const LOST = new AdapterError('network_error', 'The connection was lost.', { retryable: false });

function runAll(cases: readonly ConformanceCase[], atLeast: number): void {
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(atLeast));
  test('names are distinct', () => expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length));
  for (const { name, run } of cases) test(name, run);
}

/** A scenario as a turn of the scripted model, which has no wire: what breaks there is thrown here. */
function turnOf({ text = [], reasoning, toolCalls = [], finish, usage, ends, failure }: ChatScenario): ScriptedTurn {
  if (failure) return new AdapterError(serverFailure(failure).reason, failure.message, serverFailure(failure));
  const error = ends === 'cut' ? new AdapterError('truncated', 'Cut.', { retryable: false }) : ends === 'lost' ? LOST : undefined;
  const waits = ends === 'open' ? (text.length === 0 ? { firstTokenMs: FOREVER } : { perChunkMs: FOREVER }) : {};
  return {
    chunks: ends === 'endless' ? Array.from({ length: 100 }, () => text[0] ?? '') : ends === 'open' ? [...text, 'never'] : text,
    ...(reasoning === undefined ? {} : { reasoning: reasoning.join('') }),
    toolCalls,
    finishReason: finish,
    ...(usage === undefined ? {} : { usage }),
    ...(error === undefined ? {} : { error }),
    ...waits,
  };
}

function chatUnderTest(scenario: ChatScenario): ChatUnderTest {
  const adapter = scripted(Array.from({ length: 30 }, () => turnOf(scenario)));
  return { adapter, requests: () => adapter.requests.length };
}

describe('scripted chat', () => runAll(adapterConformance(chatUnderTest), 35));

/** What a scripted adapter does in the scenarios that all capabilities share. */
function turnsOf<Request, Answer>(
  scenario:
    | { kind: 'answer'; answer: Answer }
    | { kind: 'failure'; status: number; message: string; retryAfterMs?: number }
    | { kind: 'silent' },
): Turns<Request, Answer> {
  if (scenario.kind === 'answer') return () => scenario.answer;
  if (scenario.kind === 'failure') {
    const { reason, ...details } = serverFailure(scenario);
    return () => new AdapterError(reason as 'unknown', scenario.message, details);
  }
  return [(_, { signal }) => new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))];
}
const underTest = <A extends { readonly requests: readonly unknown[] }>(adapter: A) => ({
  adapter,
  requests: () => adapter.requests.length,
});

describe('scripted embeddings', () =>
  runAll(
    embeddingConformance(s => underTest(scriptedEmbeddings(turnsOf(s)))),
    15,
  ));
describe('scripted images', () =>
  runAll(
    imageConformance(s => underTest(scriptedImages(turnsOf(s)))),
    25,
  ));
describe('scripted moderation', () =>
  runAll(
    moderationConformance(s => underTest(scriptedModeration(turnsOf(s)))),
    13,
  ));
describe('scripted rerank', () =>
  runAll(
    rerankConformance(s => underTest(scriptedRerank(turnsOf(s)))),
    13,
  ));
describe('scripted classification', () =>
  runAll(
    classificationConformance(s => underTest(scriptedClassification(turnsOf(s as never)))),
    13,
  ));

describe('scripted speech', () => {
  const cases = speechConformance(scenario => {
    if (scenario.kind !== 'stream') {
      if (scenario.kind !== 'answer') return underTest(scriptedSpeech(turnsOf(scenario)));
      const { audio, usage } = scenario.answer;
      const chunks = [Uint8Array.from(atob(audio.data), char => char.charCodeAt(0))];
      return underTest(scriptedSpeech(() => ({ chunks, ...(usage === undefined ? {} : { usage }) })));
    }
    const { answer, ends } = scenario;
    const chunks = ends === 'open' ? [...answer.chunks, new Uint8Array(2)] : answer.chunks;
    const voice = { chunks, ...(ends === 'lost' ? { error: LOST } : {}), ...(ends === 'open' ? { perChunkMs: FOREVER } : {}) };
    return underTest(scriptedSpeech(() => voice));
  });
  runAll(cases, 35);
});

describe('scripted transcription', () => {
  const cases = transcriptionConformance(scenario => {
    if (scenario.kind !== 'stream') {
      if (scenario.kind !== 'answer') return underTest(scriptedTranscription(turnsOf(scenario)));
      const { text, usage } = scenario.answer;
      return underTest(scriptedTranscription(() => ({ segments: [text], ...(usage === undefined ? {} : { usage }) })));
    }
    const { answer, ends } = scenario;
    if (ends !== 'open') return underTest(scriptedTranscription(() => ({ ...answer, ...(ends === 'lost' ? { error: LOST } : {}) })));
    const requests: unknown[] = [];
    const adapter: ReturnType<typeof scriptedTranscription> = {
      ...scriptedTranscription([]),
      requests: requests as never,
      async *streamTranscription(request, _audio, { signal }) {
        signal.throwIfAborted();
        requests.push(request);
        yield { type: 'transcription_start' };
        yield { type: 'committed_transcript', text: answer.segments[0] as string };
        signal.throwIfAborted();
        let stop = () => {};
        try {
          await new Promise((_, reject) => {
            stop = () => reject(signal.reason);
            signal.addEventListener('abort', stop);
          });
        } finally {
          signal.removeEventListener('abort', stop);
        }
      },
    };
    return underTest(adapter);
  });
  runAll(cases, 24);
});

describe('a kit finds what is broken', () => {
  /** The names of the cases that fail. */
  const failing = async (cases: readonly ConformanceCase[]): Promise<string[]> => {
    const results = await Promise.all(
      cases.map(({ name, run }) =>
        run().then(
          () => undefined,
          () => name,
        ),
      ),
    );
    return results.filter(name => name !== undefined);
  };
  const broken = (change: (inner: ChatAdapter, scenario: ChatScenario) => ChatAdapter['stream']) =>
    failing(
      adapterConformance(scenario => {
        const test = chatUnderTest(scenario);
        return { ...test, adapter: { ...test.adapter, stream: change(test.adapter, scenario) } };
      }),
    );
  const mapped = (map: (event: AdapterEvent) => readonly AdapterEvent[]) =>
    broken(
      inner =>
        async function* (request, context) {
          for await (const event of inner.stream(request, context)) yield* map(event);
        },
    );

  test.each<readonly [string, (event: AdapterEvent) => readonly AdapterEvent[], string]>([
    ['no message_start', event => (event.type === 'message_start' ? [] : [event]), 'text comes as it is sent'],
    ['two ends', event => (event.type === 'message_end' ? [event, event] : [event]), 'text comes as it is sent'],
    ['a block without its end', event => (event.type === 'text_end' ? [] : [event]), 'text comes as it is sent'],
    ['lost text', event => (event.type === 'text_delta' ? [{ ...event, delta: 'x' }] : [event]), 'text comes as it is sent'],
    ['wrong numbers', event => ('index' in event ? [{ ...event, index: event.index + 1 }] : [event]), 'text and two calls'],
    [
      'invented usage',
      event => (event.type === 'message_end' ? [{ ...event, usage: { inputTokens: 0, outputTokens: 0, ...event.usage } }] : [event]),
      'usage that is not reported is not invented',
    ],
    [
      'a finish reason of its own',
      event => (event.type === 'message_end' ? [{ ...event, finishReason: 'stop' }] : [event]),
      'finish reason length',
    ],
  ])('%s', async (_, map, expected) => {
    expect(await mapped(map)).toContain(expected);
  });

  test('an adapter that is eager, ends quietly on aborts, leaves listeners and swallows errors', async () => {
    const eager = await broken((inner, scenario) => {
      let leaks = 0;
      return (request, context) => {
        // Not on every call, or Node warns of it.
        if (leaks++ < 5) context.signal.addEventListener('abort', () => {});
        const fresh = new AbortController().signal;
        const source = inner.stream(request, { ...context, signal: fresh })[Symbol.asyncIterator]();
        const first = source.next();
        first.catch(() => {});
        return (async function* () {
          try {
            const { value, done } = await first;
            if (!done) yield value;
            if (scenario.ends === 'open') return;
            for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
          } catch {
            // Swallowed.
          }
        })();
      };
    });
    expect(eager).toEqual(
      expect.arrayContaining([
        'nothing is sent before the iteration begins, then one request',
        'many calls leave no listener on the signal',
        'a signal that was aborted before sends nothing',
        'an abort in the middle',
        'status 429',
        'an answer without its end is truncated',
      ]),
    );
  });

  test('an adapter of embeddings that mixes its vectors up and changes its request', async () => {
    const names = await failing(
      embeddingConformance(scenario => {
        const inner = scriptedEmbeddings(turnsOf(scenario));
        const embed: EmbeddingAdapter['embed'] = async (request, context) => {
          (request.input as string[]).push('more');
          return inner.embed(request, context);
        };
        return { adapter: { ...inner, embed }, requests: () => 1 };
      }),
    );
    expect(names).toEqual(
      expect.arrayContaining(['embed: one request, and nothing left behind', 'embed: each vector has the place of its text']),
    );
  });

  test('a voice that does not tell its sample rate', async () => {
    const names = await failing(
      speechConformance(() => {
        const adapter: SpeechAdapter = {
          provider: 'p',
          model: 'm',
          speak: async () => ({ audio: audioPart(new Uint8Array(2), 'audio/pcm'), format: 'pcm' }),
        };
        return { adapter, requests: () => 1 };
      }),
    );
    expect(names).toContain('speak: an engine takes its answers');
  });
});
