// The echo guard, with real voices and a real detector: the agent's own voice comes back from the loudspeaker, and somebody speaks over it.
import { flite, readWav, sileroVad } from '@antiphon/speech';
import { echoGuard, Segmenter, type VoiceActivityDetector } from '@antiphon/voice';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heardIn, level } from '../../voice/test/echo-support.js';
import { haveSpeechModels, jfkSample } from './speech-models.js';

const RATE = 16_000;
const SAID = `Antiphon waits for a silence of three tenths of a second after your last word. When your words sound unfinished, it waits longer.
  The quick brown fox jumps over the lazy dog, while five wizards box quietly near the harbour. It is now a quarter past nine in the morning,
  and the weather in Oslo is cold but clear. Once upon a time there was a small engine that wanted to climb a very tall mountain. Please tell me
  your name, your address, and the number of people in your party. Thank you for calling; somebody will be with you in a moment.`;

const ready = await haveSpeechModels();

describe.skipIf(!ready)('the echo of a real voice', () => {
  let vad: VoiceActivityDetector;
  let agent: Float32Array;
  let user: Float32Array;
  beforeAll(async () => {
    vad = await sileroVad();
    const tts = await flite();
    const pieces: number[] = [];
    for (const sentence of SAID.split(/(?<=\.)\s+/)) {
      for await (const { samples } of tts.synthesize(sentence)) for (const sample of samples) pieces.push(sample);
      for (let i = 0; i < 0.15 * RATE; i++) pieces.push(0);
    }
    expect(tts.sampleRate).toBe(RATE);
    agent = Float32Array.from(pieces);
    user = (await readWav(await jfkSample())).channels[0] ?? new Float32Array(0);
    await tts.close();
  });
  afterAll(() => vad.close());

  /** Seconds at which speech was heard to begin. */
  async function onsets(mic: Float32Array, guarded: boolean): Promise<number[]> {
    const guard = echoGuard({ sourceRate: RATE, sinkRate: RATE });
    const segmenter = new Segmenter({ sampleRate: RATE });
    const found: number[] = [];
    await vad.reset();
    for (let at = 0; at + vad.frameSamples <= mic.length; at += vad.frameSamples) {
      const frame = mic.slice(at, at + vad.frameSamples);
      guard.playing(agent.subarray(at, at + frame.length));
      const probability = (await vad.detect(frame)) * (guarded ? guard.judge(frame) : 1);
      for (const event of segmenter.push(frame, probability)) if (event.type === 'speech_start') found.push((at + frame.length) / RATE);
    }
    return found;
  }

  test.each([
    { delayMs: 50, gainDb: -6 },
    { delayMs: 150, gainDb: -12 },
    { delayMs: 300, gainDb: -20 },
  ])('$delayMs ms late, $gainDb dB: nobody is heard in it, and who speaks over it is heard in time', async room => {
    const echo = heardIn(room, agent);
    expect((await onsets(echo, false)).length).toBeGreaterThan(0);
    expect(await onsets(echo, true)).toEqual([]);

    // As loud as the echo; a loud syllable of the agent may hide the first of the user's.
    const gain = level(echo) / level(user);
    const late: number[] = [];
    for (const from of [5, 9, 12, 15, 19]) {
      const alone = new Float32Array((from + 4) * RATE);
      for (let i = from * RATE; i < alone.length; i++) alone[i] = (user[i - from * RATE] ?? 0) * gain;
      const [unhindered = Number.NaN] = await onsets(alone, false);
      const over = alone.map((sample, i) => sample + (echo[i] ?? 0));
      const [found = Number.NaN] = await onsets(over, true);
      expect(found).toBeGreaterThan(from);
      late.push(found - unhindered);
    }
    expect(late.filter(seconds => seconds <= 0.15).length).toBeGreaterThanOrEqual(3);
    expect(Math.max(...late)).toBeLessThan(0.4);
  });
});
