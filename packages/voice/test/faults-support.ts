// A voice session with ears that are scripted to the millisecond, and engines that can be broken at any moment.
import { createEngine, createSession, type Message, messageText, type Session, type Tool } from '@antiphon/engine';
import { type ScriptedChat, type ScriptedTurn, scripted } from '@antiphon/engine/testing';
import {
  type AudioSink,
  engineBackend,
  type LlmBackend,
  type PolicyChanges,
  type TextToSpeech,
  turnPolicy,
  VoiceSession,
} from '@antiphon/voice';
import { checkTrace, memorySink, type Trace, type TraceLine, type VirtualClock, virtualClock } from '@antiphon/voice/testing';
import { expect } from 'vitest';
import { ScriptedEar } from '../src/testing/scenario/ear.js';

export const RATE = 16_000;
const SILENCE_MS = 300;

export interface StageOptions {
  readonly llm: (clock: VirtualClock) => LlmBackend;
  readonly tts?: (clock: VirtualClock) => TextToSpeech;
  readonly sink?: (clock: VirtualClock) => AudioSink;
  readonly policy?: PolicyChanges;
  readonly vad?: { readonly onsetMs: number; readonly silenceMs: number };
  readonly holdSound?: Float32Array;
}

interface Saying {
  readonly finalMs?: number;
  readonly partials?: readonly (readonly [number, string])[];
  readonly finished?: boolean;
  /** How often speech to text fails. */
  readonly failures?: number;
}

export interface Stage {
  readonly clock: VirtualClock;
  readonly session: VoiceSession;
  readonly sink: AudioSink;
  readonly trace: TraceLine[];
  /** Acts at a time, which may be now. */
  at(ms: number, act: () => void): void;
  /** The user says this from one time to another; without a text it is a noise. */
  speech(from: number, to: number, text?: string, saying?: Saying): void;
  /** Goes on to this time. */
  until(ms: number): Promise<void>;
  /** Closes it, which takes no more than two seconds and leaves nothing; gives the trace, which keeps every law. */
  end(): Promise<Trace>;
}

export function stage(options: StageOptions): Stage {
  const clock = virtualClock();
  const policy = options.policy ?? {};
  const ear = new ScriptedEar(options.vad ?? { onsetMs: 50, silenceMs: SILENCE_MS }, turnPolicy(policy));
  const sink = options.sink?.(clock) ?? memorySink({ clock });
  const session = new VoiceSession(
    {
      llm: options.llm(clock),
      vad: { name: 'none', sampleRate: RATE, frameSamples: 320, detect: async () => 0, reset: async () => {}, close: async () => {} },
      stt: { name: 'none', sampleRate: RATE, transcribe: async function* () {}, close: async () => {} },
      tts: options.tts?.(clock) ?? voice(clock),
      source: { name: 'none', sampleRate: RATE, frames: async function* () {} },
      sink,
      clock,
      policy,
      ...(options.holdSound ? { holdSound: options.holdSound } : {}),
    },
    ear.listen,
  );
  const trace: TraceLine[] = [];
  session.watch(event => trace.push(event));
  session.start();
  const at = (ms: number, act: () => void) => void clock.setTimer(Math.max(0, ms - clock.now()), act);
  return {
    ...{ clock, session, sink, trace, at },
    speech(from, to, text, { finalMs = 100, partials = [], finished = true, failures = 0 } = {}) {
      at(from, () => ear.hear({ from, to, ...(text === undefined ? {} : { words: { text, finalMs, partials, finished, failures } }) }));
    },
    until: ms => clock.advance(Math.max(0, ms - clock.now())),
    async end() {
      let closed = false;
      void session.close().then(() => {
        closed = true;
      });
      await clock.advance(2000);
      expect(closed).toBe(true);
      expect(clock.pending).toBe(0);
      expect(checkTrace(trace)).toEqual([]);
      return trace;
    },
  };
}

/** A voice: each character takes 50 ms, the first byte 200 ms. `pieces` of sound follow each other at once. */
export function voice(
  clock: VirtualClock,
  {
    firstByteMs = 200,
    msPerChar = 50,
    pieces = 1,
  }: { readonly firstByteMs?: number; readonly msPerChar?: number; readonly pieces?: number } = {},
): TextToSpeech {
  return {
    name: 'voice',
    sampleRate: RATE,
    async *synthesize(text, { signal } = {}) {
      await pause(clock, firstByteMs, signal);
      const samples = new Float32Array((text.length * msPerChar * RATE) / 1000).fill(0.1);
      const length = Math.ceil(samples.length / pieces);
      for (let i = 0; i < pieces; i++) yield { samples: samples.subarray(i * length, (i + 1) * length) };
    },
    close: async () => {},
  };
}

export function pause(clock: VirtualClock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export interface Mind {
  readonly llm: (clock: VirtualClock) => LlmBackend;
  readonly chat: ScriptedChat;
  readonly session: () => Session;
}

/** An engine session as the mind, with a scripted model. */
export function mind(answers: readonly ScriptedTurn[], tools: readonly Tool[] = []): Mind {
  const chat = scripted(answers);
  let session: Session | undefined;
  return {
    llm: clock => {
      session = createSession({ engine: createEngine({ chat, clock, tools, retry: false }) });
      return engineBackend(session);
    },
    chat,
    session: () => session as Session,
  };
}

export type Line<T extends TraceLine['type'], L extends TraceLine = TraceLine> = L extends TraceLine
  ? T & L['type'] extends never
    ? never
    : L
  : never;

export function all<T extends TraceLine['type']>(trace: Trace, type: T): Line<T>[] {
  return trace.filter((line): line is Line<T> => line.type === type);
}

export const times = (trace: Trace, type: TraceLine['type']) => trace.filter(line => line.type === type).map(line => line.t);

/** What was said, as the events tell it; turns that another one holds too are left out. */
export function told(trace: Trace): string[] {
  const messages = all(trace, 'message');
  const superseded = new Set(messages.map(message => message.supersedes));
  return messages.filter(({ role, turn }) => role === 'assistant' || !superseded.has(turn)).map(({ role, text }) => `${role}: ${text}`);
}

/** The same from messages of the engine, without calls and their results. */
export function written(messages: readonly Message[]): string[] {
  return messages
    .filter(message => message.role !== 'tool' && messageText(message) !== '')
    .map(message => `${message.role}: ${messageText(message)}`);
}
