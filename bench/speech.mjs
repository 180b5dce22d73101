// Real-time factors of the local speech engines: seconds of work for each second of audio. `node bench/speech.mjs` prints a table.
// It runs the built packages and pulls missing models first.

import { pathToFileURL } from 'node:url';
import { createModelCache, flite, moonshine, progressBar, readWav, resample, sileroVad, toMono, wordErrorRate } from '@antiphon/speech';
import { median } from './clients/table.mjs';

const SAID = 'And so my fellow Americans ask not what your country can do for you ask what you can do for your country';
const SENTENCES = [
  'Good morning.',
  'The quick brown fox jumps over the lazy dog.',
  'I would like to book a table for four people, please, at seven in the evening.',
];

/**
 * @typedef {{ name: string, audioSeconds: number, workMs: number, rtf: number, note: string }} Row
 * @param {{ rounds?: number }} [options]
 * @returns {Promise<Row[]>}
 */
export async function benchSpeech({ rounds = 5 } = {}) {
  const cache = createModelCache({ onProgress: progressBar(process.stderr) });
  for (const name of ['silero-vad-v6', 'moonshine-tiny-en-int8', 'flite', 'jfk-sample']) await cache.pull(name);
  const speech = toMono(await readWav(await cache.path('jfk-sample', 'jfk.wav')));
  return [
    ...(await benchVad(cache, speech, rounds)),
    ...(await benchStt(cache, speech, rounds)),
    ...(await benchTts(cache, rounds)),
    ...(await benchResample(speech, rounds)),
  ];
}

async function benchVad(cache, speech, rounds) {
  const [start, vad] = await timed(() => sileroVad({ cache }));
  const frames = Math.floor(speech.length / vad.frameSamples);
  const runs = await repeat(rounds, async () => {
    await vad.reset();
    for (let i = 0; i < frames; i++) await vad.detect(speech.subarray(i * vad.frameSamples, (i + 1) * vad.frameSamples));
  });
  await vad.close();
  const workMs = median(runs);
  return [
    row('VAD silero-vad-v6', speech.length / 16_000, workMs, `${(workMs / frames).toFixed(2)} ms a frame, start ${start.toFixed(0)} ms`),
  ];
}

async function benchStt(cache, speech, rounds) {
  const [start, stt] = await timed(() => moonshine({ cache, partialMs: 0 }));
  const rows = [];
  for (const seconds of [2, 11]) {
    const audio = speech.subarray(0, seconds * 16_000);
    let text = '';
    const runs = await repeat(rounds, async () => {
      for await (const transcript of stt.transcribe(once(audio))) text = transcript.text;
    });
    const note = seconds === 11 ? `word error rate ${(wordErrorRate(SAID, text) * 100).toFixed(1)} %` : `start ${start.toFixed(0)} ms`;
    rows.push(row(`STT moonshine-tiny-en, ${seconds} s`, seconds, median(runs), note));
  }
  await stt.close();
  return rows;
}

async function benchTts(cache, rounds) {
  const [start, tts] = await timed(() => flite({ cache }));
  const rows = [];
  for (const sentence of SENTENCES) {
    let samples = 0;
    const runs = await repeat(rounds, async () => {
      samples = 0;
      for await (const piece of tts.synthesize(sentence)) samples += piece.samples.length;
    });
    rows.push(
      row(`TTS ${tts.name}, ${sentence.length} characters`, samples / tts.sampleRate, median(runs), `start ${start.toFixed(0)} ms`),
    );
  }
  await tts.close();
  return rows;
}

async function benchResample(speech, rounds) {
  const high = await resample(speech, 16_000, 48_000);
  const rows = [];
  for (const quality of ['fast', 'medium', 'best']) {
    const runs = await repeat(rounds, () => resample(high, 48_000, 16_000, quality));
    rows.push(row(`resample 48 → 16 kHz, ${quality}`, high.length / 48_000, median(runs), ''));
  }
  return rows;
}

function row(name, audioSeconds, workMs, note) {
  return { name, audioSeconds, workMs, rtf: workMs / 1000 / audioSeconds, note };
}

async function* once(samples) {
  yield samples;
}

async function timed(work) {
  const begin = performance.now();
  const value = await work();
  return [performance.now() - begin, value];
}

/** One round to warm up, which does not count. */
async function repeat(rounds, work) {
  await work();
  const times = [];
  for (let i = 0; i < rounds; i++) times.push((await timed(work))[0]);
  return times;
}

export function formatSpeech(rows) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const head = `${'engine'.padEnd(width)}  audio s   work ms      RTF`;
  const lines = rows.map(
    ({ name, audioSeconds, workMs, rtf, note }) =>
      `${name.padEnd(width)}  ${audioSeconds.toFixed(1).padStart(7)}  ${workMs.toFixed(0).padStart(8)}  ${rtf.toFixed(4).padStart(7)}  ${note}`,
  );
  return [head, ...lines].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const rows = await benchSpeech();
  console.log(formatSpeech(rows));
}
