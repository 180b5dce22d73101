import { type Clock, sleep } from '@antiphon/engine';
import type { HeardReport, LlmBackend, ReplyEvent } from '../interfaces/llm-backend.js';
import type { AudioSource } from '../interfaces/source.js';
import type { SpeechToText } from '../interfaces/stt.js';
import type { TextToSpeech } from '../interfaces/tts.js';
import type { VoiceActivityDetector } from '../interfaces/vad.js';

const RATE = 16_000;

/** A detector that hears sound as speech: the probability is 1 in a frame that is not silent. */
export function scriptedVad(): VoiceActivityDetector {
  return {
    name: 'scripted-vad',
    sampleRate: RATE,
    frameSamples: 320,
    detect: async frame => (frame.some(sample => sample !== 0) ? 1 : 0),
    reset: async () => {},
    close: async () => {},
  };
}

/** What was said in one utterance, in order; an Error fails that utterance. `finalMs` after the end of its audio. */
export function scriptedStt(
  utterances: readonly (string | Error)[],
  options: { readonly clock: Clock; readonly finalMs?: number },
): SpeechToText {
  let next = 0;
  return {
    name: 'scripted-stt',
    sampleRate: RATE,
    async *transcribe(audio, { signal } = {}) {
      for await (const _ of audio) signal?.throwIfAborted();
      signal?.throwIfAborted();
      const said = utterances[next++] ?? '';
      await sleep(options.clock, options.finalMs ?? 0, signal);
      if (said instanceof Error) throw said;
      yield { type: 'final', text: said };
    },
    close: async () => {},
  };
}

export interface ScriptedTts extends TextToSpeech {
  /** Every text that was asked for. */
  readonly spoken: readonly string[];
}

/** A voice that takes `firstByteMs` and gives `msPerChar` of sound for each character. A text in `failOn` fails. */
export function scriptedTts(options: {
  readonly clock: Clock;
  readonly firstByteMs?: number;
  readonly msPerChar?: number;
  readonly failOn?: string;
}): ScriptedTts {
  const spoken: string[] = [];
  return {
    name: 'scripted-tts',
    sampleRate: RATE,
    spoken,
    async *synthesize(text, { signal } = {}) {
      spoken.push(text);
      await sleep(options.clock, options.firstByteMs ?? 0, signal);
      if (options.failOn !== undefined && text.includes(options.failOn)) throw new Error(`cannot say ${JSON.stringify(text)}`);
      yield { samples: new Float32Array(Math.round((text.length * (options.msPerChar ?? 50) * RATE) / 1000)).fill(0.1) };
    },
    close: async () => {},
  };
}

/** One answer of a scripted mind: text comes word by word, evenly over `durationMs`, the first after `firstTokenMs`. */
export interface ScriptedAnswer {
  readonly text: string;
  readonly firstTokenMs?: number;
  readonly durationMs?: number;
  readonly error?: Error;
}

export interface ScriptedLlm extends LlmBackend {
  readonly asked: readonly string[];
  readonly reports: readonly HeardReport[];
}

/** A mind that answers in order, and notes what it was asked and what was heard. */
export function scriptedLlm(answers: readonly (string | ScriptedAnswer)[], options: { readonly clock: Clock }): ScriptedLlm {
  const asked: string[] = [];
  const reports: HeardReport[] = [];
  return {
    name: 'scripted-llm',
    asked,
    reports,
    async *reply(user, { signal }): AsyncGenerator<ReplyEvent> {
      const answer = answers[asked.length] ?? { text: '', error: new Error('The script has no further answer.') };
      asked.push(user);
      const {
        text,
        firstTokenMs = 0,
        durationMs = firstTokenMs,
        error,
      } = typeof answer === 'string' ? { text: answer } : (answer as ScriptedAnswer);
      await sleep(options.clock, firstTokenMs, signal);
      const words = text.match(/\S+\s*/g) ?? [];
      for (const [i, word] of words.entries()) {
        if (i > 0) await sleep(options.clock, (durationMs - firstTokenMs) / Math.max(1, words.length - 1), signal);
        yield { type: 'text', delta: word };
      }
      if (error) throw error;
      yield { type: 'done' };
    },
    heard: report => {
      reports.push(report);
    },
    reset: () => {},
  };
}

/** A source that is silent except for the given stretches of sound, in milliseconds, and ends at `endMs`. Paced by the clock, 20 ms a block. */
export function scriptedSource(
  sounds: readonly (readonly [start: number, end: number])[],
  options: { readonly clock: Clock; readonly endMs: number },
): AudioSource {
  const block = RATE / 50;
  return {
    name: 'scripted-source',
    sampleRate: RATE,
    async *frames(signal) {
      for (let at = 0; at < options.endMs; at += 20) {
        try {
          await sleep(options.clock, 20, signal);
        } catch {
          return;
        }
        yield new Float32Array(block).fill(sounds.some(([start, end]) => at >= start && at < end) ? 0.1 : 0);
      }
    },
  };
}
