import type { TranscriptionAdapter, TranscriptionResponse } from '../capabilities/transcription.js';
import { audioPart } from '../data/parts.js';
import { createEngine } from '../engine.js';
import { type ConformanceCase, caseMaker, expectEqual, frozen } from './conformance.js';
import { expectCompleted, type MakeAdapter, type RequestScenario, requestCases } from './request-conformance.js';
import { type StreamScenario, streamCases } from './stream-conformance.js';

const SOUND = new Uint8Array(3200);
const REQUEST = frozen({ audio: audioPart(SOUND, 'audio/wav') });
const STREAM = frozen({ sampleRate: 16_000, commit: 'vad' as const });

/** What a good server says: the whole text, or its segments, each committed by itself. */
export type TranscriptionScenario = RequestScenario<TranscriptionResponse> | StreamScenario<{ readonly segments: readonly string[] }>;

/**
 * The contract of `TranscriptionAdapter` as cases for any test runner; cases of a verb that the adapter does not have pass.
 *
 * ```ts
 * for (const { name, run } of transcriptionConformance(make)) test(name, run);
 * ```
 */
export function transcriptionConformance(make: MakeAdapter<TranscriptionAdapter, TranscriptionScenario>): ConformanceCase[] {
  const streaming: typeof make = async scenario => {
    const test = await make(scenario);
    return test?.adapter.streamTranscription ? test : undefined;
  };
  async function* sound() {
    yield* [SOUND, SOUND];
  }
  const about = {
    verb: 'streamTranscription',
    first: 'transcription_start',
    content: 'committed_transcript',
    last: 'transcription_end',
    answer: { segments: ['Good', 'evening.'] },
  };
  return [
    ...requestCases(make, 'transcribe', { text: 'Good evening.' }, (adapter, context) => adapter.transcribe(REQUEST, context)),
    ...streamCases(streaming, about, (adapter, context) => adapter.streamTranscription!(STREAM, sound(), context)),
    caseMaker(make)('transcribe: an engine takes its answers', { kind: 'answer', answer: { text: '' } }, async ({ adapter }) => {
      const outcome = await createEngine({ transcription: adapter, retry: false }).transcribe(REQUEST);
      expectCompleted(outcome);
      expectEqual(outcome.text, '', 'the text of silence');
    }),
    caseMaker(streaming)(
      'streamTranscription: an engine takes its answers',
      { kind: 'stream', answer: about.answer, ends: 'complete' },
      async ({ adapter }) => {
        const outcome = await createEngine({ transcription: adapter, retry: false }).streamTranscription(sound(), STREAM).outcome;
        expectCompleted(outcome);
        expectEqual(outcome.text, 'Good evening.', 'the text');
      },
    ),
  ];
}
