import { copyFileSync, cpSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createModelCache, readWav, wordErrorRate, writeWav } from '@antiphon/speech';
import { describe, expect, test } from 'vitest';
import { answering, antiphon, serve, temporaryFolder } from './run.js';
import { haveSpeechModels, jfkSample } from './speech-models.js';

const ready = await haveSpeechModels();

interface Selftest {
  readonly transcript: string;
  readonly reply: string;
  readonly clauses: readonly string[];
  readonly audio: { readonly path: string; readonly seconds: number };
  readonly latencyMs: Record<string, number>;
  readonly engines: Record<string, string>;
  readonly heard: { readonly text: string; readonly wordError: number };
}

describe.skipIf(!ready)('with the real engines', () => {
  test('selftest: a question is spoken, heard, answered aloud, and the answer is heard again', async () => {
    const folder = temporaryFolder();
    const { code, stdout } = await antiphon(['selftest', '--model', 'demo', '--json', '--out', 'reply.wav'], { cwd: folder });
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as Selftest;
    expect(wordErrorRate('How do you know that I have finished speaking?', result.transcript)).toBeLessThan(0.3);
    expect(result.reply).toMatch(/silence of three tenths of a second/);
    expect(result.clauses.length).toBeGreaterThan(1);
    expect(Object.keys(result.latencyMs).sort()).toEqual(['endpoint', 'firstAudio', 'firstClause', 'firstToken', 'stt', 'total']);
    expect(result.latencyMs.endpoint).toBeGreaterThanOrEqual(300);
    expect(result.heard.wordError).toBeLessThan(0.3);
    const wav = await readWav(join(folder, 'reply.wav'));
    expect(wav.seconds).toBeCloseTo(result.audio.seconds, 2);
    expect(result.engines).toMatchObject({ vad: 'silero-vad-v6', stt: 'moonshine-tiny-en' });
  });

  test('selftest FILE: a human voice is understood, and a model server answers it', async () => {
    const baseUrl = await serve(answering('That was a famous speech.'));
    const { code, stdout } = await antiphon(['selftest', await jfkSample(), '--base-url', baseUrl, '--json']);
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as Selftest;
    expect(result.transcript.toLowerCase().replace(/[^a-z ]/g, '')).toContain('ask not what your country can do for you');
    expect(result.reply).toBe('That was a famous speech.');
  });

  test('say and transcribe understand each other', async () => {
    const cwd = temporaryFolder();
    const said = 'Please send me the report before Friday.';
    expect((await antiphon(['say', said, '--out', 'said.wav'], { cwd })).code).toBe(0);
    const { code, stdout } = await antiphon(['transcribe', 'said.wav'], { cwd });
    expect(code).toBe(0);
    expect(wordErrorRate(said, stdout)).toBeLessThan(0.25);
  });

  test('transcribe reads other rates and channels', async () => {
    const cwd = temporaryFolder();
    const jfk = await readWav(await jfkSample());
    const mono = jfk.channels[0] ?? new Float32Array(0);
    const doubled = new Float32Array(mono.length * 2).map((_, i) => mono[i >> 1] ?? 0);
    writeFileSync(join(cwd, 'stereo.wav'), writeWav({ channels: [doubled, doubled], sampleRate: 32_000, bitDepth: 24 }));
    const { stdout } = await antiphon(['transcribe', 'stereo.wav', '--json'], { cwd });
    expect((JSON.parse(stdout) as { text: string }).text.toLowerCase()).toContain('your country');
  });

  test.each([
    ['a silent recording', () => new Float32Array(16_000 * 3)],
    ['minutes of noise', () => noise(16_000 * 120)],
  ])('%s: there is no speech, and the exit code is 1', async (_, samples) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'in.wav'), writeWav({ samples: samples(), sampleRate: 16_000 }));
    for (const command of ['transcribe', 'selftest']) {
      const { code, stdout, stderr } = await antiphon([command, 'in.wav', ...(command === 'selftest' ? ['--model', 'demo'] : [])], { cwd });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/No speech was found in in\.wav\./);
    }
  });

  test('an hour of noise is read to its end and refused', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'hour.wav'), writeWav({ samples: noise(16_000 * 3600), sampleRate: 16_000 }));
    const { code, stdout, stderr } = await antiphon(['transcribe', 'hour.wav'], { cwd });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/No speech was found in hour\.wav\./);
  }, 600_000);

  test.each(['…!!', '🎉🎉', '---'])('say %o has nothing to speak', async text => {
    const { code, stderr } = await antiphon(['say', '--', text]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/nothing to speak/);
  });

  test.each(['🎉', ' ... — !! '])('an answer of only %o ends the selftest with a clear error', async text => {
    const baseUrl = await serve(answering(text));
    const { code, stderr } = await antiphon(['selftest', '--base-url', baseUrl]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/without a spoken answer/);
  });

  test('a selftest whose model server is down says so', async () => {
    const { code, stderr } = await antiphon(['selftest', '--base-url', 'http://127.0.0.1:2/v1', '--model', 'm']);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/The turn failed: llm: .*127\.0\.0\.1:2/);
  });

  test('a model file that was cut in half is found, and pull mends it', async () => {
    const models = temporaryFolder();
    cpSync(createModelCache().dir, models, { recursive: true });
    const file = join(models, 'flite', 'flite.wasm');
    expect(existsSync(file)).toBe(true);
    const size = readFileSync(file).length;
    truncateSync(file, Math.floor(size / 2));
    const env = { ANTIPHON_MODELS: models };
    const broken = await antiphon(['say', 'Hello.'], { env });
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(/antiphon models pull flite/);
    // Same length, one byte changed.
    copyFileSync(join(createModelCache().dir, 'flite', 'flite.wasm'), file);
    const bytes = readFileSync(file);
    bytes[1000] = (bytes[1000] ?? 0) ^ 0xff;
    writeFileSync(file, bytes);
    expect((await antiphon(['say', 'Hello.'], { env })).stderr).toMatch(/antiphon models pull flite/);
    expect((await antiphon(['models', 'pull', 'flite'], { env })).code).toBe(0);
    expect((await antiphon(['say', 'Hello.'], { env })).code).toBe(0);
  });
});

function noise(length: number): Float32Array {
  let seed = 1;
  return new Float32Array(length).map(() => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed / 0x40000000 - 1) * 0.1;
  });
}
