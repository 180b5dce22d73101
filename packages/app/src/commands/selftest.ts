import { writeFile } from 'node:fs/promises';
import { createSession, system, systemClock } from '@antiphon/engine';
import { readWav, resample, toMono, wavSource, wordErrorRate, writeWav } from '@antiphon/speech';
import {
  createVoiceSession,
  engineBackend,
  type SpeechToText,
  type TextToSpeech,
  type VoiceActivityDetector,
  type VoiceEvent,
} from '@antiphon/voice';
import { memorySink } from '@antiphon/voice/testing';
import { DEMO_NOTICE } from '../demo/responder.js';
import { CommandError } from '../failure.js';
import { chooseModel, systemPrompt } from '../model-choice.js';
import { table } from '../output.js';
import { openEars, openVoice, synthesize } from '../speech/engines.js';
import { concat, findUtterances, transcribeOnce } from '../speech/hear.js';
import { type TurnReport, turnReport } from '../speech/turn-report.js';
import type { CommandContext } from './command.js';

const QUESTION = 'How do you know that I have finished speaking?';

/** Recorded speech has pauses of more than a second inside one thought, so a file's turn ends later than a live one. */
const FILE_SILENCE_MS = 1500;
const OWN_SILENCE_MS = 300;
/** A question is played in real time, so a long recording is cut here; seconds. */
const MAX_QUESTION_SECONDS = 30;

interface Engines {
  readonly vad: VoiceActivityDetector;
  readonly stt: SpeechToText;
  readonly tts: TextToSpeech;
}

/** `antiphon selftest [FILE.wav] [--out FILE.wav]`: one spoken turn with the real engines, from the question's sound to the answer's. */
export async function selftest(
  file: string | undefined,
  { out = 'antiphon-reply.wav' }: { readonly out?: string },
  context: CommandContext,
): Promise<void> {
  const { config, env, output, signal } = context;
  const choice = await chooseModel(config, env);
  const [ears, tts] = await Promise.all([openEars(), openVoice(config)]);
  const engines: Engines = { ...ears, tts };
  try {
    output.note(file === undefined ? `Asking aloud: “${QUESTION}”` : `Listening to ${file}`);
    if (choice.demo) output.note(DEMO_NOTICE);
    const question = file === undefined ? await ownQuestion(engines) : await questionFrom(file, engines, context);
    const silenceMs = file === undefined ? OWN_SILENCE_MS : FILE_SILENCE_MS;
    const llm = engineBackend(createSession({ engine: choice.engine, messages: [system(systemPrompt(config))] }));
    const { report, audio } = await speakTurn({ ...engines, llm }, question, silenceMs, signal);
    signal.throwIfAborted();
    if (report.errors.length > 0)
      throw new CommandError(`The turn failed: ${report.errors.join('; ')}. Run antiphon doctor to see what is missing.`);
    if (audio.length === 0) throw new CommandError('The turn ended without a spoken answer.');

    await writeFile(out, writeWav({ samples: audio, sampleRate: tts.sampleRate }));
    const heard = await hear(audio, engines, signal);
    const wordError = wordErrorRate(report.clauses.join(' '), heard);
    const used = { vad: ears.vad.name, stt: ears.stt.name, llm: choice.name, tts: tts.name };
    const seconds = audio.length / tts.sampleRate;
    print(report, { heard, wordError, out, seconds, used }, context);
    const { transcript, reply, clauses, latencyMs } = report;
    output.value({
      transcript,
      reply,
      clauses,
      audio: { path: out, seconds },
      latencyMs,
      engines: used,
      demo: choice.demo,
      heard: { text: heard, wordError },
    });
  } finally {
    await Promise.all([engines.vad.close(), engines.stt.close(), engines.tts.close()]);
  }
}

async function speakTurn(
  engines: Engines & { readonly llm: ReturnType<typeof engineBackend> },
  question: Float32Array,
  silenceMs: number,
  signal: AbortSignal,
): Promise<{ readonly report: TurnReport; readonly audio: Float32Array }> {
  const { vad, tts } = engines;
  await vad.reset();
  const source = await wavSource(
    { sampleRate: vad.sampleRate, channels: [question] },
    { pace: 'real', clock: systemClock, tailSilenceMs: silenceMs + 500, sampleRate: vad.sampleRate },
  );
  // Nobody listens, so the answer need not be played in real time: latencies end at the first sample all the same.
  const sink = memorySink({ sampleRate: tts.sampleRate });
  const session = createVoiceSession({
    ...engines,
    source,
    sink,
    policy: { endpoint: { finishedMs: silenceMs, unfinishedMs: FILE_SILENCE_MS }, vad: { silenceMs }, apology: '' },
    signal,
  });
  const events: VoiceEvent[] = [];
  const reader = session[Symbol.asyncIterator]();
  session.start();
  for (let next = await reader.next(); !next.done; next = await reader.next()) events.push(next.value);
  return { report: turnReport(events), audio: sink.audio };
}

async function ownQuestion({ tts, vad }: Engines): Promise<Float32Array> {
  const spoken = await resample(await synthesize(tts, [QUESTION]), tts.sampleRate, vad.sampleRate);
  return concat([new Float32Array(vad.sampleRate / 2), spoken]);
}

/** The first speech of a recording. A look ahead without pacing, so that an hour of noise is refused in seconds and not in an hour. */
async function questionFrom(file: string, { vad }: Engines, { output, signal }: CommandContext): Promise<Float32Array> {
  const wav = await readWav(file);
  for (const warning of wav.warnings) output.note(`antiphon: ${file}: ${warning}`);
  const audio = await resample(toMono(wav), wav.sampleRate, vad.sampleRate);
  for await (const { start, end } of findUtterances(
    audio,
    vad,
    { silenceMs: FILE_SILENCE_MS, maxUtteranceMs: MAX_QUESTION_SECONDS * 1000 },
    signal,
  )) {
    if (end < audio.length - vad.sampleRate)
      output.note(`antiphon: the question is taken from ${seconds(start, vad)} to ${seconds(end, vad)} of ${file}.`);
    return audio.slice(Math.max(0, start - vad.sampleRate / 2), end);
  }
  throw new CommandError(`No speech was found in ${file}. Check that it is the right recording and loud enough.`);
}

/** The answer as our own ears hear it. */
async function hear(audio: Float32Array, { tts, stt, vad }: Engines, signal: AbortSignal): Promise<string> {
  const quiet = new Float32Array(Math.round(0.3 * stt.sampleRate));
  const samples = concat([quiet, await resample(audio, tts.sampleRate, stt.sampleRate), quiet]);
  const texts: string[] = [];
  for await (const utterance of findUtterances(samples, vad, { silenceMs: 500 }, signal))
    texts.push(await transcribeOnce(stt, utterance.samples, signal));
  return texts.filter(text => text !== '').join(' ');
}

function print(
  { transcript, reply, latencyMs }: TurnReport,
  result: {
    readonly heard: string;
    readonly wordError: number;
    readonly out: string;
    readonly seconds: number;
    readonly used: Record<string, string>;
  },
  { output }: CommandContext,
): void {
  const ms = (value: number | undefined) => (value === undefined ? '–' : value);
  output.text(`\n  heard   ${transcript}`);
  output.text(`  answer  ${reply}\n`);
  output.text(
    table([
      ['end of speech → end of turn', ms(latencyMs.endpoint), 'ms', 'endpoint'],
      ['utterance → words', ms(latencyMs.stt), 'ms', 'stt'],
      ['end of turn → first token', ms(latencyMs.firstToken), 'ms', 'firstToken'],
      ['end of turn → first clause', ms(latencyMs.firstClause), 'ms', 'firstClause'],
      ['end of turn → first audio', ms(latencyMs.firstAudio), 'ms', 'firstAudio'],
      ['end of speech → first audio', ms(latencyMs.total), 'ms', 'total'],
    ]),
  );
  output.text(
    `\n  engines ${Object.entries(result.used)
      .map(([slot, name]) => `${slot}: ${name}`)
      .join(' · ')}`,
  );
  output.text(`  answer spoken into ${result.out} (${result.seconds.toFixed(1)} s)`);
  output.text(`  heard back with ${(result.wordError * 100).toFixed(0)} % word error: ${result.heard}`);
}

function seconds(samples: number, { sampleRate }: { readonly sampleRate: number }): string {
  return `${(samples / sampleRate).toFixed(1)} s`;
}
