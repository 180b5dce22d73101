import { type Clock, describe } from '@antiphon/engine';
import type { EchoGuard } from '../interfaces/echo-guard.js';
import type { EndOfTurnDetector } from '../interfaces/end-of-turn.js';
import type { AudioSource } from '../interfaces/source.js';
import type { SpeechToText } from '../interfaces/stt.js';
import type { VoiceActivityDetector } from '../interfaces/vad.js';
import { Segmenter, type SegmenterPolicy } from '../listening/segmenter.js';
import type { TurnEvent } from '../turns/events.js';
import { looksFinished } from '../turns/policy.js';
import { Recording } from './recording.js';

/** Hears, and tells what it heard. Resolves when there is nothing more to hear. */
export type Ear = (options: EarOptions) => Promise<void>;

export interface EarOptions {
  readonly source: AudioSource;
  readonly vad: VoiceActivityDetector;
  readonly stt: SpeechToText;
  readonly endOfTurn?: EndOfTurnDetector;
  readonly guard?: EchoGuard | undefined;
  readonly policy: SegmenterPolicy;
  readonly clock: Clock;
  /** Milliseconds since the session started. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly dispatch: (event: TurnEvent) => void;
  readonly fault: (stage: 'vad' | 'source', message: string) => void;
}

interface Utterance {
  readonly number: number;
  readonly audio: Recording;
  readonly abort: AbortController;
  endedAt: number;
}

/** Hears: cuts the source into utterances and has each one transcribed while it is spoken. Resolves when the source has ended and all words are known. */
export async function listen(options: EarOptions): Promise<void> {
  const { source, vad, guard, now, signal, dispatch, policy } = options;
  const segmenter = new Segmenter({ sampleRate: vad.sampleRate, policy });
  const pending = new Set<Promise<void>>();
  let utterance: Utterance | undefined;
  let utterances = 0;
  let streamBegan: number | undefined;

  const timeOf = (sample: number) => Math.min(now(), (streamBegan ?? now()) + (sample * 1000) / vad.sampleRate);

  const handle = (event: ReturnType<Segmenter['push']>[number]) => {
    switch (event.type) {
      case 'speech_start': {
        utterance = { number: utterances++, audio: new Recording(), abort: new AbortController(), endedAt: 0 };
        dispatch({ type: 'speech_start', utterance: utterance.number, startedAt: timeOf(event.start) });
        const work = transcribe(utterance, options).finally(() => pending.delete(work));
        pending.add(work);
        return;
      }
      case 'audio':
        if (!utterance) return;
        utterance.audio.push(event.samples);
        return dispatch({ type: 'speech_goes_on', utterance: utterance.number, spokenMs: (event.spoken * 1000) / vad.sampleRate });
      case 'speech_end':
        if (!utterance) return;
        utterance.endedAt = timeOf(event.end);
        utterance.audio.close();
        if (!event.accepted) utterance.abort.abort();
        dispatch({ type: 'speech_end', utterance: utterance.number, endedAt: utterance.endedAt, accepted: event.accepted });
        utterance = undefined;
    }
  };

  let rest = new Float32Array(0);
  try {
    for await (const block of source.frames(signal)) {
      streamBegan ??= now() - (block.length * 1000) / source.sampleRate;
      const joined = rest.length === 0 ? block : concat(rest, block);
      let at = 0;
      for (; at + vad.frameSamples <= joined.length; at += vad.frameSamples) {
        const frame = joined.slice(at, at + vad.frameSamples);
        const probability = await vad.detect(frame).catch(error => {
          throw new VadFault(describe(error));
        });
        if (signal.aborted) break;
        for (const event of segmenter.push(frame, probability * (guard?.judge(frame) ?? 1))) handle(event);
      }
      rest = joined.slice(at);
      if (signal.aborted) break;
    }
  } catch (error) {
    if (!signal.aborted) options.fault(error instanceof VadFault ? 'vad' : 'source', describe(error));
  }
  for (const event of segmenter.flush()) handle(event);
  await Promise.all(pending);
}

class VadFault extends Error {}

async function transcribe(utterance: Utterance, options: EarOptions): Promise<void> {
  const { signal, dispatch } = options;
  const stop = () => utterance.abort.abort();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const { number, audio, abort } = utterance;
  try {
    const text = await words(utterance, options).catch(error => {
      if (abort.signal.aborted) throw error;
      dispatch({ type: 'stt_error', utterance: number, message: describe(error), final: false });
      return words(utterance, options);
    });
    // Some know the words before the silence is long enough.
    await audio.end();
    const finished = text.trim() === '' || (await looksLikeEnd(text, utterance, options));
    if (abort.signal.aborted) return;
    dispatch({ type: 'stt_final', utterance: number, text, endedAt: utterance.endedAt, finished });
  } catch (error) {
    // A rejected utterance was taken back already; nobody waits for its words.
    if (!abort.signal.aborted) dispatch({ type: 'stt_error', utterance: number, message: describe(error), final: true });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** All words of an utterance. */
async function words({ number, audio, abort }: Utterance, { stt, dispatch }: EarOptions): Promise<string> {
  let final = '';
  for await (const { type, text, stable } of stt.transcribe(audio, { signal: abort.signal })) {
    abort.signal.throwIfAborted();
    if (type === 'partial') dispatch({ type: 'stt_partial', utterance: number, text, ...(stable ? { stable } : {}) });
    else final = text;
  }
  abort.signal.throwIfAborted();
  return final;
}

/** By the detector, and when it fails by our own rules: the words are known, so nothing is lost. */
async function looksLikeEnd(text: string, { number, abort }: Utterance, { endOfTurn, dispatch }: EarOptions): Promise<boolean> {
  try {
    return (await endOfTurn?.isFinished(text)) ?? looksFinished(text);
  } catch (error) {
    if (!abort.signal.aborted) dispatch({ type: 'stt_error', utterance: number, message: describe(error), final: false });
    return looksFinished(text);
  }
}

function concat(a: Float32Array, b: Float32Array): Float32Array<ArrayBuffer> {
  const joined = new Float32Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
