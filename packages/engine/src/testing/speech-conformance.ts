import type { SpeechAdapter, SpeechResponse } from '../capabilities/speech.js';
import { audioPart } from '../data/parts.js';
import { createEngine } from '../engine.js';
import { type ConformanceCase, caseMaker, expectEqual, frozen } from './conformance.js';
import { expectCompleted, type MakeAdapter, type RequestScenario, requestCases } from './request-conformance.js';
import { type StreamScenario, streamCases } from './stream-conformance.js';

const TEXT = 'Good evening.';
const CHUNKS = [new Uint8Array([1, 0, 2, 0]), new Uint8Array([3, 0])];
const WHOLE = audioPart(new Uint8Array([1, 0, 2, 0, 3, 0]), 'audio/pcm');

/** What a good server says: the whole sound, or its pieces. */
export type SpeechScenario = RequestScenario<SpeechResponse> | StreamScenario<{ readonly chunks: readonly Uint8Array[] }>;

/**
 * The contract of `SpeechAdapter` as cases for any test runner; cases of a verb that the adapter does not have pass. The sound of every scenario
 * is raw `pcm` of 24 000 Hz.
 *
 * ```ts
 * for (const { name, run } of speechConformance(make)) test(name, run);
 * ```
 */
export function speechConformance(make: MakeAdapter<SpeechAdapter, SpeechScenario>): ConformanceCase[] {
  const having =
    (verb: 'streamSpeech' | 'streamSpeechFromText'): typeof make =>
    async scenario => {
      const test = await make(scenario);
      return test?.adapter[verb] ? test : undefined;
    };
  const stream = { first: 'speech_start', content: 'audio_delta', last: 'speech_end', answer: { chunks: CHUNKS } };
  const request = frozen({ text: TEXT, format: 'pcm' as const });
  async function* pieces() {
    yield* ['Good ', 'evening.'];
  }
  const answer: SpeechResponse = { audio: WHOLE, format: 'pcm', sampleRate: 24_000 };
  return [
    ...requestCases(make, 'speak', answer, (adapter, context) => adapter.speak(request, context)),
    ...streamCases(having('streamSpeech'), { verb: 'streamSpeech', ...stream }, (adapter, context) =>
      adapter.streamSpeech!(request, context),
    ),
    ...streamCases(having('streamSpeechFromText'), { verb: 'streamSpeechFromText', ...stream }, (adapter, context) =>
      adapter.streamSpeechFromText!(frozen({ format: 'pcm' as const }), pieces(), context),
    ),
    caseMaker(make)('speak: an engine takes its answers', { kind: 'answer', answer }, async ({ adapter }) => {
      const outcome = await createEngine({ speech: adapter, retry: false }).speak(TEXT, { format: 'pcm' });
      expectCompleted(outcome);
      expectEqual([outcome.audio?.data, outcome.sampleRate], [WHOLE.data, 24_000], 'the sound and its rate');
    }),
    caseMaker(having('streamSpeech'))(
      'streamSpeech: an engine takes its answers',
      { kind: 'stream', answer: { chunks: CHUNKS }, ends: 'complete' },
      async ({ adapter }) => {
        const outcome = await createEngine({ speech: adapter, retry: false }).streamSpeech(TEXT, { format: 'pcm' }).outcome;
        expectCompleted(outcome);
        expectEqual([outcome.audio?.data, outcome.sampleRate], [WHOLE.data, 24_000], 'the sound and its rate');
      },
    ),
  ];
}
