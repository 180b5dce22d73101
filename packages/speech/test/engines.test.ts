// The real engines with their real models.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  createModelCache,
  flite,
  fliteVoices,
  moonshine,
  parseWav,
  readWav,
  resample,
  sileroVad,
  toMono,
  wavSource,
  wordErrorRate,
  writeWav,
} from '@antiphon/speech';
import type { SpeechToText, TextToSpeech, Transcript, VoiceActivityDetector } from '@antiphon/voice';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSileroVad } from '../dist/engines/silero-vad.js';
import { blocks, join, noise, realModels, rootMeanSquare } from './support.js';

const models = await realModels('silero-vad-v6', 'moonshine-tiny-en-int8', 'flite', 'jfk-sample');
const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));

const SPEECH = 'And so my fellow Americans ask not what your country can do for you ask what you can do for your country';

async function jfk(): Promise<Float32Array> {
  return toMono(await readWav(await models!.path('jfk-sample', 'jfk.wav')));
}

async function speak(tts: TextToSpeech, text: string, voice?: string): Promise<Float32Array> {
  const pieces: Float32Array[] = [];
  for await (const { samples } of tts.synthesize(text, voice === undefined ? {} : { voice })) pieces.push(samples);
  return join(pieces);
}

async function hear(stt: SpeechToText, samples: Float32Array): Promise<string> {
  let last: Transcript | undefined;
  for await (const transcript of stt.transcribe(blocks(samples))) last = transcript;
  expect(last?.type).toBe('final');
  return last!.text;
}

/** Share of frames in which the detector hears speech. */
async function speechShare(vad: VoiceActivityDetector, samples: Float32Array): Promise<number> {
  let speech = 0;
  let frames = 0;
  for (let at = 0; at + vad.frameSamples <= samples.length; at += vad.frameSamples, frames++) {
    if ((await vad.detect(samples.subarray(at, at + vad.frameSamples))) >= 0.5) speech++;
  }
  return speech / frames;
}

/** Speech and white noise of the same power. */
function inNoise(speech: Float32Array): Float32Array {
  const hiss = noise(speech.length, 7);
  const gain = rootMeanSquare(speech) / rootMeanSquare(hiss);
  return speech.map((sample, i) => sample + gain * hiss[i]!);
}

describe.skipIf(models === undefined)('sileroVad', () => {
  it('tells speech from silence and noise', async () => {
    const vad = await sileroVad({ cache: models! });
    expect(vad).toMatchObject({ sampleRate: 16_000, frameSamples: 512 });
    expect(await speechShare(vad, await jfk())).toBeGreaterThan(0.5);
    await vad.reset();
    expect(await speechShare(vad, new Float32Array(32_000))).toBe(0);
    await vad.reset();
    expect(
      await speechShare(
        vad,
        noise(32_000).map(sample => sample * 0.1),
      ),
    ).toBeLessThan(0.05);
    await vad.close();
  });

  it('hears speech in noise as loud as the speech, which it cannot without its context', async () => {
    const noisy = inNoise(await jfk());
    const vad = await sileroVad({ cache: models! });
    const deaf = await createSileroVad({ cache: models! }, 0);
    const share = await speechShare(vad, noisy);
    const shareWithout = await speechShare(deaf, noisy);
    console.log(`speech share at 0 dB: ${share.toFixed(3)} with context, ${shareWithout.toFixed(3)} without`);
    expect(share).toBeGreaterThan(0.4);
    expect(shareWithout).toBeLessThan(share / 3);
    await Promise.all([vad.close(), deaf.close()]);
  });

  it('is the same after a reset, and two detectors do not disturb each other', async () => {
    const speech = (await jfk()).subarray(0, 512 * 40);
    const frames = Array.from({ length: 40 }, (_, i) => speech.subarray(i * 512, i * 512 + 512));
    const [one, two] = await Promise.all([sileroVad({ cache: models! }), sileroVad({ cache: models! })]);
    // All at once: a detector puts its frames in order by itself.
    const first = await Promise.all(frames.map(frame => one.detect(frame)));
    await Promise.all(frames.map(() => two.detect(noise(512))));
    await one.reset();
    const again: number[] = [];
    for (const frame of frames) {
      again.push(await one.detect(frame));
      await two.detect(frame);
    }
    expect(again).toEqual(first);
    await one.close();
    expect(await two.detect(frames[0]!)).toBeGreaterThanOrEqual(0);
    await two.close();
  });

  it('survives samples that are not numbers, and refuses frames of another length', async () => {
    const vad = await sileroVad({ cache: models! });
    await vad.detect(new Float32Array(512).fill(Number.NaN));
    const loudest = (await jfk()).subarray(16_000, 16_000 * 3);
    expect(await speechShare(vad, loudest)).toBeGreaterThan(0.1);
    await expect(vad.detect(new Float32Array(480))).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringMatching(/480.*512/),
    });
    await vad.close();
    await expect(vad.detect(new Float32Array(512))).rejects.toMatchObject({ reason: 'closed' });
  });
});

describe.skipIf(models === undefined)('an engine that was closed', () => {
  it('can be made again', async () => {
    for (let i = 0; i < 2; i++) {
      const [vad, stt] = await Promise.all([sileroVad({ cache: models! }), moonshine({ cache: models! })]);
      expect(await vad.detect(new Float32Array(512))).toBeLessThan(0.1);
      await Promise.all([vad.close(), stt.close()]);
    }
  });
});

describe.skipIf(models === undefined)('moonshine', () => {
  let stt: SpeechToText;
  beforeAll(async () => {
    stt = await moonshine({ cache: models! });
  });
  afterAll(() => stt.close());

  it('writes down a recording', async () => {
    const text = await hear(stt, await jfk());
    expect(text.toLowerCase().replaceAll(/[^a-z ]/g, '')).toContain('ask not what your country can do for you');
    expect(wordErrorRate(SPEECH, text)).toBeLessThan(0.1);
  });

  it('gives partials while audio still arrives', async () => {
    const speech = await jfk();
    let partial = () => {};
    async function* live() {
      for (let at = 0; at < 16_000 * 4; at += 16_000) {
        const seen = new Promise<void>(resolve => {
          partial = resolve;
        });
        yield speech.subarray(at, at + 16_000);
        // The speaker goes on when the listener has shown that it follows.
        await seen;
      }
    }
    const transcripts: Transcript[] = [];
    for await (const transcript of stt.transcribe(live())) {
      transcripts.push(transcript);
      partial();
    }
    const types = transcripts.map(({ type }) => type);
    expect(types).toEqual(['partial', 'partial', 'partial', 'partial', 'final']);
    expect(transcripts.at(-1)!.text.toLowerCase()).toContain('fellow americans');
  });

  it.each([
    ['nothing', new Float32Array(0)],
    ['one sample', Float32Array.of(0.1)],
    ['a tenth of a second of noise', noise(1_600).map(sample => sample * 0.1)],
    ['silence', new Float32Array(32_000)],
    ['quiet noise', noise(48_000).map(sample => sample * 0.003)],
    ['loud noise', noise(48_000).map(sample => sample * 0.5)],
    ['a hum', Float32Array.from({ length: 48_000 }, (_, i) => 0.2 * Math.sin((2 * Math.PI * 50 * i) / 16_000))],
    ['samples that are not numbers', new Float32Array(16_000).fill(Number.NaN)],
  ])('gives an empty text for %s', async (_what, samples) => {
    expect(await hear(stt, samples)).toBe('');
  });

  it('hears more than half a minute whole', async () => {
    const speech = await jfk();
    const text = await hear(stt, join([speech, speech, speech, speech]));
    expect(wordErrorRate(`${SPEECH} ${SPEECH} ${SPEECH} ${SPEECH}`, text)).toBeLessThan(0.1);
  });

  it('stops when aborted, and works on', async () => {
    const speech = await jfk();
    const controller = new AbortController();
    async function* endless() {
      for (;;) yield speech;
    }
    setTimeout(() => controller.abort(new Error('hung up')), 100);
    const listening = (async () => {
      for await (const _ of stt.transcribe(endless(), { signal: controller.signal }));
    })();
    await expect(listening).rejects.toThrow('hung up');
    expect(await hear(stt, speech.subarray(0, 16_000 * 3))).not.toBe('');
  });

  it('refuses other languages', async () => {
    await expect(
      stt
        .transcribe(blocks(noise(10)), { language: 'de-AT' })
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toMatchObject({
      reason: 'invalid_option',
      message: expect.stringMatching(/English, not "de-AT"/),
    });
  });
});

describe.skipIf(models === undefined)('flite', () => {
  let tts: TextToSpeech;
  beforeAll(async () => {
    tts = await flite({ cache: models! });
  });
  afterAll(() => tts.close());

  it('is understood by moonshine, over files of 8 and 48 kHz', async () => {
    const stt = await moonshine({ cache: models! });
    const sentences = [
      'The quick brown fox jumps over the lazy dog.',
      'Turn off the lights in the kitchen.',
      'What is the weather going to be like this weekend?',
      'I would like to book a table for four people.',
    ];
    for (const rate of [8_000, 48_000]) {
      const heard: string[] = [];
      for (const sentence of sentences) {
        const there = await resample(await speak(tts, sentence), tts.sampleRate, rate);
        const file = parseWav(writeWav({ samples: there, sampleRate: rate }));
        heard.push(await hear(stt, await resample(toMono(file), file.sampleRate, 16_000)));
      }
      expect(wordErrorRate(sentences.join(' '), heard.join(' '))).toBeLessThan(0.15);
    }
    await stt.close();
  });

  it('begins soon and ends soon: no long silence at either end', async () => {
    const samples = await speak(tts, 'Good morning.');
    const loud = (sample: number) => Math.abs(sample) > 0.02;
    expect(samples.findIndex(loud) / tts.sampleRate).toBeLessThan(0.1);
    expect((samples.length - samples.findLastIndex(loud)) / tts.sampleRate).toBeLessThan(0.2);
    expect(Math.abs(samples[0]!)).toBeLessThan(0.001);
    expect(Math.abs(samples.at(-1)!)).toBeLessThan(0.001);
  });

  it.each(['', ' ', '...', '?!', '—', '"', '😀', '日本語', '\0\0'])('says nothing for %j', async text => {
    expect(await speak(tts, text)).toHaveLength(0);
  });

  it.each([
    'She said "stop" and \'go\'.',
    '-voice kal -t nothing',
    '--help',
    'one\ntwo\n\nthree\ttab',
    'nul\0byte',
    'naïve café Łódź',
    'party 🎉 time',
    '`rm -rf /` $(reboot) %s %n \\',
    '<speak>markup &amp; such</speak>',
    '\ud800 lone surrogate',
    '9'.repeat(60),
  ])('takes any text: %j', async text => {
    const samples = await speak(tts, text);
    expect(samples.length).toBeGreaterThan(tts.sampleRate / 5);
    expect(samples.every(Number.isFinite)).toBe(true);
  });

  it('speaks a long text in pieces, the first one early', async () => {
    const pieces: number[] = [];
    for await (const { samples } of tts.synthesize('This is a sentence of some length. '.repeat(30))) pieces.push(samples.length);
    expect(pieces.length).toBeGreaterThan(4);
    expect(Math.max(...pieces)).toBeLessThan(tts.sampleRate * 20);
  });

  it('speaks with every voice, at the rate that it says', async () => {
    for (const voice of fliteVoices) {
      const own = await flite({ cache: models!, voice });
      expect(own.sampleRate).toBe(voice === 'kal' ? 8_000 : 16_000);
      const length = (await speak(own, 'Testing one two three.')).length / own.sampleRate;
      // The same voice on an engine of another rate lasts as long: it is resampled, not sped up.
      const other = (await speak(tts, 'Testing one two three.', voice)).length / tts.sampleRate;
      expect(other).toBeCloseTo(length, 2);
      await own.close();
    }
  });

  it('refuses a voice that it does not have', async () => {
    await expect(flite({ cache: models!, voice: 'nova' as 'rms' })).rejects.toMatchObject({
      reason: 'invalid_option',
      message: expect.stringMatching(/"nova".*rms, slt/),
    });
    await expect(speak(tts, 'hello', 'nova')).rejects.toMatchObject({ reason: 'invalid_option' });
  });

  it('drops what it works on when aborted, and works on', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('barge-in')), 10);
    const speaking = (async () => {
      for await (const _ of tts.synthesize('word '.repeat(200), { signal: controller.signal }));
    })();
    await expect(speaking).rejects.toThrow('barge-in');
    expect((await speak(tts, 'Still here.')).length).toBeGreaterThan(0);
  });

  it('speaks many clauses at once without mixing them up', async () => {
    const texts = Array.from({ length: 12 }, (_, i) => `Number ${i}.`);
    const alone: Float32Array[] = [];
    for (const text of texts) alone.push(await speak(tts, text));
    expect(await Promise.all(texts.map(text => speak(tts, text)))).toEqual(alone);
  });
});

describe('without its model', () => {
  it.each([
    ['sileroVad', sileroVad, 'silero-vad-v6'],
    ['moonshine', moonshine, 'moonshine-tiny-en-int8'],
    ['flite', flite, 'flite'],
  ] as const)('%s says which command gets it', async (_name, engine, model) => {
    const dir = await mkdtemp(joinPath(tmpdir(), 'models-'));
    await expect(engine({ cache: createModelCache({ dir }) })).rejects.toMatchObject({
      name: 'ModelError',
      reason: 'missing',
      message: expect.stringMatching(new RegExp(`antiphon models pull ${model}$`)),
    });
    await rm(dir, { recursive: true });
  });

  it('a file of your own that is no model fails with one line', async () => {
    const dir = await mkdtemp(joinPath(tmpdir(), 'models-'));
    await writeFile(joinPath(dir, 'x.bin'), 'this is no model');
    for (const engine of [sileroVad, flite]) {
      await expect(engine({ modelPath: joinPath(dir, 'x.bin') })).rejects.toMatchObject({
        name: 'EngineError',
        reason: 'failed',
        message: expect.stringMatching(/^.*x\.bin is the right model\.$/),
      });
    }
    await expect(moonshine({ modelPath: dir })).rejects.toMatchObject({ name: 'EngineError', reason: 'failed' });
    await rm(dir, { recursive: true });
  });
});

describe.skipIf(models === undefined)('as a process', () => {
  it('ends by itself though nothing was closed, and prints no warning', async () => {
    const script = `
      import { sileroVad, moonshine, flite } from '@antiphon/speech';
      const [vad, stt, tts] = await Promise.all([sileroVad(), moonshine(), flite()]);
      await vad.detect(new Float32Array(512));
      for await (const { samples } of tts.synthesize('Hello.')) console.log(samples.length > 1000);
      for await (const { text } of stt.transcribe((async function* () { yield new Float32Array(16000).fill(0.01); })())) console.log(text);
    `;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: here,
      timeout: 25_000,
    });
    expect(stdout.trim()).toMatch(/^true/);
    expect(stderr).toBe('');
  });

  it('can exit in the middle of the work', async () => {
    const script = `
      import { moonshine, flite } from '@antiphon/speech';
      const [stt, tts] = await Promise.all([moonshine(), flite()]);
      const noise = Float32Array.from({ length: 160_000 }, () => Math.random() - 0.5);
      stt.transcribe((async function* () { yield noise; })())[Symbol.asyncIterator]().next();
      tts.synthesize('word '.repeat(100))[Symbol.asyncIterator]().next();
      setTimeout(() => process.exit(7), 50);
    `;
    const ending = run(process.execPath, ['--input-type=module', '-e', script], { cwd: here, timeout: 25_000 });
    await expect(ending).rejects.toMatchObject({ code: 7, signal: null, stderr: '' });
  });

  it('says how to install onnxruntime-node when it is missing', async () => {
    const dir = await mkdtemp(joinPath(tmpdir(), 'alone-'));
    await cp(fileURLToPath(new URL('../dist', import.meta.url)), joinPath(dir, 'dist'), { recursive: true });
    await writeFile(joinPath(dir, 'package.json'), '{"type":"module"}');
    await mkdir(joinPath(dir, 'node_modules'));
    await symlink(dirname(fileURLToPath(import.meta.resolve('tar-stream'))), joinPath(dir, 'node_modules', 'tar-stream'), 'junction');
    const path = await models!.path('silero-vad-v6', 'silero_vad_v6.onnx');
    const script = `
      import { sileroVad } from './dist/engines/silero-vad.js';
      await sileroVad({ modelPath: ${JSON.stringify(path)} }).catch(error => console.log(error.reason, error.message));
    `;
    await writeFile(joinPath(dir, 'try.js'), script);
    const { stdout } = await run(process.execPath, ['try.js'], { cwd: dir, timeout: 25_000 });
    expect(stdout.trim()).toBe(
      'missing_dependency silero-vad needs the package onnxruntime-node, which is not installed. Install it: npm install onnxruntime-node --ignore-scripts',
    );
    await rm(dir, { recursive: true });
  });

  it('runs a whole file from source to text', async () => {
    const source = await wavSource(await models!.path('jfk-sample', 'jfk.wav'), { tailSilenceMs: 500 });
    const stt = await moonshine({ cache: models!, partialMs: 0 });
    const transcripts: Transcript[] = [];
    for await (const transcript of stt.transcribe(source.frames(new AbortController().signal))) transcripts.push(transcript);
    expect(transcripts).toHaveLength(1);
    expect(wordErrorRate(SPEECH, transcripts[0]!.text)).toBeLessThan(0.1);
    await stt.close();
  });
});
