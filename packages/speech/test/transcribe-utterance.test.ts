// How partials, parts and the final follow from the audio, with a decoder that only tells what it was given.

import type { Transcript } from '@antiphon/voice';
import { describe, expect, it } from 'vitest';
import { type Decode, transcribeUtterance, type UtteranceOptions } from '../dist/engines/transcribe-utterance.js';
import { noise } from './support.js';

const SECOND = 16_000;

/** A queue that the test fills by hand. */
function microphone() {
  const waiting: Float32Array[] = [];
  let ended = false;
  let failure: Error | undefined;
  let wake = () => {};
  const state = { returned: false };
  async function* audio(): AsyncGenerator<Float32Array> {
    try {
      for (;;) {
        if (failure) throw failure;
        const next = waiting.shift();
        if (next) yield next;
        else if (ended) return;
        else await new Promise<void>(resolve => (wake = resolve));
      }
    } finally {
      state.returned = true;
    }
  }
  const poke =
    <T>(change: (value: T) => void) =>
    (value: T) => {
      change(value);
      wake();
    };
  return {
    state,
    audio: audio(),
    say: poke<number>(seconds => waiting.push(noise(seconds * SECOND))),
    pause: poke<number>(seconds => waiting.push(new Float32Array(seconds * SECOND))),
    end: poke<void>(() => (ended = true)),
    fail: poke<Error>(error => (failure = error)),
  };
}

/** Decoding that the test finishes by hand; the text is the length in seconds. */
function decoder() {
  const calls: { readonly seconds: number; readonly signal: AbortSignal; finish(): void }[] = [];
  let running = 0;
  const state = { mostAtOnce: 0 };
  const decode: Decode = (samples, signal) =>
    new Promise((resolve, reject) => {
      running++;
      state.mostAtOnce = Math.max(state.mostAtOnce, running);
      const settle = (work: () => void) => {
        running--;
        signal.removeEventListener('abort', onAbort);
        work();
      };
      const onAbort = () => settle(() => reject(signal.reason));
      signal.addEventListener('abort', onAbort);
      const seconds = samples.length / SECOND;
      calls.push({ seconds, signal, finish: () => settle(() => resolve(`${seconds}s`)) });
    });
  return { calls, decode, state };
}

/** Every promise that can go on has gone on. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
  await new Promise(resolve => setImmediate(resolve));
}

function start(options: Partial<UtteranceOptions> = {}) {
  const mic = microphone();
  const engine = decoder();
  const transcripts: Transcript[] = [];
  const done = (async () => {
    for await (const transcript of transcribeUtterance(mic.audio, engine.decode, { partialMs: 500, ...options }))
      transcripts.push(transcript);
  })();
  done.catch(() => {});
  return { mic, engine, transcripts, done };
}

describe('an utterance', () => {
  it('gives partials while it is spoken and one final at its end', async () => {
    const { mic, engine, transcripts, done } = start();
    mic.say(0.4);
    await quiet();
    expect(engine.calls).toHaveLength(0);
    mic.say(0.2);
    await quiet();
    engine.calls[0]!.finish();
    await quiet();
    mic.say(0.6);
    await quiet();
    engine.calls[1]!.finish();
    await quiet();
    mic.say(0.1);
    mic.end();
    await quiet();
    engine.calls[2]!.finish();
    await done;
    expect(transcripts).toEqual([
      { type: 'partial', text: '0.6s' },
      { type: 'partial', text: '1.2s' },
      { type: 'final', text: '1.3s' },
    ]);
    expect(engine.state.mostAtOnce).toBe(1);
  });

  it('decodes a pause at once, and that is the final when only quiet follows', async () => {
    const { mic, engine, transcripts, done } = start({ partialMs: 0 });
    mic.say(0.5);
    await quiet();
    mic.pause(0.1);
    await quiet();
    expect(engine.calls).toHaveLength(0);
    mic.pause(0.1);
    await quiet();
    expect(engine.calls.map(call => call.seconds)).toEqual([0.7]);
    mic.pause(0.1);
    mic.end();
    await quiet();
    expect(engine.calls[0]!.signal.aborted).toBe(false);
    engine.calls[0]!.finish();
    await done;
    expect(transcripts).toEqual([{ type: 'final', text: '0.7s' }]);
  });

  it('decodes everything again when more was said after the pause', async () => {
    const { mic, engine, transcripts, done } = start({ partialMs: 0 });
    mic.say(0.5);
    mic.pause(0.2);
    await quiet();
    engine.calls[0]!.finish();
    await quiet();
    mic.say(0.3);
    mic.end();
    await quiet();
    expect(engine.calls.map(call => call.seconds)).toEqual([0.7, 1]);
    engine.calls[1]!.finish();
    await done;
    expect(transcripts).toEqual([{ type: 'final', text: '1s' }]);
  });

  it('does not wait for a pause that is being decoded when more was said', async () => {
    const { mic, engine, done } = start({ partialMs: 0 });
    mic.say(0.5);
    mic.pause(0.2);
    await quiet();
    mic.say(0.3);
    mic.end();
    await quiet();
    expect(engine.calls[0]!.signal.aborted).toBe(true);
    engine.calls[1]!.finish();
    await done;
  });

  it('never queues decodes: a slow one is followed by one of all that came meanwhile', async () => {
    const { mic, engine, done } = start();
    mic.say(0.5);
    await quiet();
    for (let i = 0; i < 6; i++) mic.say(0.5);
    await quiet();
    expect(engine.calls.map(call => call.seconds)).toEqual([0.5]);
    engine.calls[0]!.finish();
    await quiet();
    expect(engine.calls.map(call => call.seconds)).toEqual([0.5, 3.5]);
    mic.end();
    engine.calls[1]!.finish();
    await done;
  });

  it('drops a partial that the end has overtaken', async () => {
    const { mic, engine, transcripts, done } = start();
    mic.say(0.5);
    await quiet();
    mic.say(0.3);
    mic.end();
    await quiet();
    expect(engine.calls[0]!.signal.aborted).toBe(true);
    engine.calls[1]!.finish();
    await done;
    expect(transcripts).toEqual([{ type: 'final', text: '0.8s' }]);
  });

  it('takes the last partial as the final when nothing came after it', async () => {
    const { mic, engine, transcripts, done } = start();
    mic.say(0.5);
    await quiet();
    mic.end();
    await quiet();
    engine.calls[0]!.finish();
    await done;
    expect(engine.calls).toHaveLength(1);
    expect(transcripts.at(-1)).toEqual({ type: 'final', text: '0.5s' });
  });

  it('has no partials when they are turned off', async () => {
    const { mic, engine, transcripts, done } = start({ partialMs: 0 });
    mic.say(5);
    await quiet();
    expect(engine.calls).toHaveLength(0);
    mic.end();
    await quiet();
    engine.calls[0]!.finish();
    await done;
    expect(transcripts).toEqual([{ type: 'final', text: '5s' }]);
  });

  it('does not ask the decoder about silence', async () => {
    async function* silence() {
      yield new Float32Array(SECOND);
      yield new Float32Array(SECOND).fill(Number.NaN);
    }
    const engine = decoder();
    const transcripts: Transcript[] = [];
    for await (const transcript of transcribeUtterance(silence(), engine.decode, { partialMs: 500 })) transcripts.push(transcript);
    expect(transcripts).toEqual([{ type: 'final', text: '' }]);
    expect(engine.calls).toHaveLength(0);
  });

  it('is final and empty when nothing was heard', async () => {
    const { mic, transcripts, done } = start();
    mic.end();
    await done;
    expect(transcripts).toEqual([{ type: 'final', text: '' }]);
  });
});

describe('a long utterance', () => {
  it('is decoded in parts of bounded length, cut where it is quiet, and joined', async () => {
    const quietAt = 20;
    const speech = noise(60 * SECOND);
    speech.fill(0, quietAt * SECOND, (quietAt + 0.4) * SECOND);
    const lengths: number[] = [];
    async function* audio() {
      for (let at = 0; at < speech.length; at += 1_600) yield speech.subarray(at, at + 1_600);
    }
    const transcripts: Transcript[] = [];
    const decode: Decode = async samples => {
      lengths.push(samples.length / SECOND);
      return `part${lengths.length}`;
    };
    for await (const transcript of transcribeUtterance(audio(), decode, { partialMs: 0 })) transcripts.push(transcript);
    expect(lengths[0]).toBeGreaterThan(quietAt);
    expect(lengths[0]).toBeLessThan(quietAt + 0.4);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(28);
    expect(lengths.reduce((sum, seconds) => sum + seconds)).toBeCloseTo(60, 6);
    expect(transcripts).toEqual([{ type: 'final', text: lengths.map((_, i) => `part${i + 1}`).join(' ') }]);
  });

  it('makes a fast source wait, so that memory stays bounded', async () => {
    let given = 0;
    async function* hour() {
      for (; given < 3_600; given++) yield noise(SECOND, given + 1);
    }
    const engine = decoder();
    const iterator = transcribeUtterance(hour(), engine.decode, { partialMs: 0 });
    const first = iterator.next();
    await quiet();
    expect(given).toBeLessThan(120);
    engine.calls[0]!.finish();
    await quiet();
    expect(given).toBeLessThan(150);
    const stopped = iterator.return(undefined);
    engine.calls[1]!.finish();
    for (let i = 2; i < 20; i++) {
      await quiet();
      engine.calls[i]?.finish();
    }
    void first;
    void stopped;
  });
});

describe('ending early', () => {
  it('an abort throws its reason, stops the decoder and lets the source go', async () => {
    const controller = new AbortController();
    const { mic, engine, done } = start({ signal: controller.signal });
    mic.say(1);
    await quiet();
    controller.abort(new Error('hung up'));
    await expect(done).rejects.toThrow('hung up');
    expect(engine.calls[0]!.signal.aborted).toBe(true);
    mic.say(0.1);
    await quiet();
    expect(mic.state.returned).toBe(true);
  });

  it('an abort also ends a wait for audio that never comes', async () => {
    const controller = new AbortController();
    const { done } = start({ signal: controller.signal });
    await quiet();
    controller.abort(new Error('hung up'));
    await expect(done).rejects.toThrow('hung up');
  });

  it('a signal that has aborted already throws before anything is heard', async () => {
    const { engine, done } = start({ signal: AbortSignal.abort(new Error('before')) });
    await expect(done).rejects.toThrow('before');
    expect(engine.calls).toHaveLength(0);
  });

  it('a failing source fails the transcription', async () => {
    const { mic, done } = start();
    mic.say(1);
    await quiet();
    mic.fail(new Error('unplugged'));
    await expect(done).rejects.toThrow('unplugged');
  });

  it('a failing decoder fails the transcription', async () => {
    const mic = microphone();
    mic.say(1);
    mic.end();
    const broken: Decode = () => Promise.reject(new Error('no weights'));
    const transcription = transcribeUtterance(mic.audio, broken, { partialMs: 500 });
    await expect(transcription.next()).rejects.toThrow('no weights');
  });
});
