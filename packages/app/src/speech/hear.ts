import { Segmenter, type SegmenterPolicy, type SpeechToText, type VoiceActivityDetector } from '@antiphon/voice';

/** Quiet that is kept around an utterance; speech to text misses first and last sounds without it. Milliseconds. */
const MARGIN_MS = 300;

/** A stretch of speech in a recording; positions in samples. */
export interface Utterance {
  readonly start: number;
  readonly end: number;
  readonly samples: Float32Array;
}

/** Finds the utterances of a recording, one after the other, as fast as the detector is. */
export async function* findUtterances(
  audio: Float32Array,
  vad: VoiceActivityDetector,
  policy: Partial<SegmenterPolicy> = {},
  signal?: AbortSignal,
): AsyncGenerator<Utterance> {
  const segmenter = new Segmenter({ sampleRate: vad.sampleRate, policy });
  const margin = Math.round((MARGIN_MS * vad.sampleRate) / 1000);
  await vad.reset();
  const frames = Math.ceil(audio.length / vad.frameSamples);
  for (let i = 0; i <= frames; i++) {
    signal?.throwIfAborted();
    const frame = new Float32Array(vad.frameSamples);
    frame.set(audio.subarray(i * vad.frameSamples, (i + 1) * vad.frameSamples));
    for (const event of i === frames ? segmenter.flush() : segmenter.push(frame, await vad.detect(frame))) {
      if (event.type !== 'speech_end' || !event.accepted) continue;
      const { start, end } = event;
      yield { start, end, samples: audio.slice(Math.max(0, start - margin), end + margin) };
    }
  }
}

/** The final text of one utterance. */
export async function transcribeOnce(stt: SpeechToText, samples: Float32Array, signal?: AbortSignal): Promise<string> {
  let text = '';
  for await (const transcript of stt.transcribe(once(samples), signal ? { signal } : {}))
    if (transcript.type === 'final') text = transcript.text;
  return text.trim();
}

async function* once(samples: Float32Array): AsyncGenerator<Float32Array> {
  yield samples;
}

export function concat(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
