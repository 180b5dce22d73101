import { type PaceClock, resample, resampledSource, wavSource, writeWav } from '@antiphon/speech';
import type { AudioSource } from '@antiphon/voice';
import { describe, expect, it } from 'vitest';
import { blocks, join, noise, sine } from './support.js';

const never = new AbortController().signal;

async function collect(source: AudioSource, signal = never): Promise<Float32Array[]> {
  const collected: Float32Array[] = [];
  for await (const block of source.frames(signal)) collected.push(block);
  return collected;
}

/** Time that stands still until a timer is due; each timer comes `late` milliseconds after its time. */
function testClock(late = 0): PaceClock & { readonly waits: number[] } {
  let time = 1_000;
  const waits: number[] = [];
  return {
    waits,
    now: () => time,
    setTimer(ms, fire) {
      waits.push(ms);
      queueMicrotask(() => {
        time += ms + late;
        fire();
      });
      return () => {};
    },
  };
}

describe('wavSource', () => {
  it('gives the recording at 16 kHz in blocks of 20 ms, the last one shorter', async () => {
    const samples = noise(1_000);
    const source = await wavSource({ sampleRate: 16_000, channels: [samples] });
    const collected = await collect(source);
    expect(source.sampleRate).toBe(16_000);
    expect(collected.map(block => block.length)).toEqual([320, 320, 320, 40]);
    expect(join(collected)).toEqual(samples);
  });

  it('converts other rates and mixes channels', async () => {
    const left = sine(500, 44_100, 0.5);
    const source = await wavSource(writeWav({ channels: [left, left], sampleRate: 44_100, bitDepth: '32f' }));
    expect(join(await collect(source))).toEqual(await resample(left, 44_100, 16_000));
  });

  it('adds silence behind', async () => {
    const source = await wavSource({ sampleRate: 16_000, channels: [new Float32Array(320).fill(1)] }, { tailSilenceMs: 100, blockMs: 50 });
    const whole = join(await collect(source));
    expect(whole).toHaveLength(320 + 1_600);
    expect(whole.subarray(0, 320).every(sample => sample === 1)).toBe(true);
    expect(whole.subarray(320).every(sample => sample === 0)).toBe(true);
  });

  it('keeps real pace: a block comes when a microphone would have heard it', async () => {
    const clock = testClock();
    const source = await wavSource({ sampleRate: 16_000, channels: [new Float32Array(16_000)] }, { pace: 'real', clock });
    const times: number[] = [];
    for await (const _ of source.frames(never)) times.push(clock.now() - 1_000);
    expect(times).toEqual(Array.from({ length: 50 }, (_, i) => (i + 1) * 20));
  });

  it('does not drift when timers are late', async () => {
    const clock = testClock(7);
    const source = await wavSource({ sampleRate: 16_000, channels: [new Float32Array(160_000)] }, { pace: 'real', clock });
    await collect(source);
    expect(clock.now() - 1_000).toBeCloseTo(10_007, 6);
  });

  it('stops when the signal aborts, also in the middle of a wait', async () => {
    const controller = new AbortController();
    const silent: PaceClock = { now: () => 0, setTimer: () => () => {} };
    const source = await wavSource({ sampleRate: 16_000, channels: [new Float32Array(1_000)] }, { pace: 'real', clock: silent });
    const collecting = collect(source, controller.signal);
    controller.abort();
    expect(await collecting).toEqual([]);
  });

  it('can be heard twice', async () => {
    const source = await wavSource({ sampleRate: 16_000, channels: [noise(500)] });
    expect(join(await collect(source))).toEqual(join(await collect(source)));
  });

  it.each([{ blockMs: 0 }, { blockMs: Number.NaN }, { tailSilenceMs: -1 }])('refuses %o', async options => {
    await expect(wavSource({ sampleRate: 16_000, channels: [noise(10)] }, options)).rejects.toMatchObject({
      name: 'AudioError',
      reason: 'invalid',
    });
  });
});

describe('resampledSource', () => {
  it('gives what resampling the whole gives', async () => {
    const samples = noise(10_000);
    const source: AudioSource = { name: 'test', sampleRate: 44_100, frames: () => blocks(samples, 441) };
    const converted = resampledSource(source, 16_000);
    expect(converted).toMatchObject({ name: 'test', sampleRate: 16_000 });
    expect(join(await collect(converted))).toEqual(await resample(samples, 44_100, 16_000));
  });

  it('is the source itself at its own rate', () => {
    const source: AudioSource = { name: 'test', sampleRate: 16_000, frames: () => blocks(noise(10)) };
    expect(resampledSource(source, 16_000)).toBe(source);
  });
});
