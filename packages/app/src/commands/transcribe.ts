import { readWav, resample, toMono } from '@antiphon/speech';
import { CommandError } from '../failure.js';
import { openEars } from '../speech/engines.js';
import { findUtterances, transcribeOnce } from '../speech/hear.js';
import type { CommandContext } from './command.js';

/** `antiphon transcribe FILE` */
export async function transcribe(file: string, context: CommandContext): Promise<void> {
  const { output, signal } = context;
  const wav = await readWav(file);
  for (const warning of wav.warnings) output.note(`antiphon: ${file}: ${warning}`);
  const { vad, stt } = await openEars();
  try {
    const audio = await resample(toMono(wav), wav.sampleRate, vad.sampleRate);
    const utterances: { text: string; start: number; end: number }[] = [];
    for await (const { start, end, samples } of findUtterances(audio, vad, { silenceMs: 700 }, signal)) {
      const text = await transcribeOnce(stt, samples, signal);
      if (text === '') continue;
      utterances.push({ text, start: start / vad.sampleRate, end: end / vad.sampleRate });
      output.text(text);
    }
    if (utterances.length === 0)
      throw new CommandError(`No speech was found in ${file}. Check that it is the right recording and loud enough.`);
    output.value({ text: utterances.map(({ text }) => text).join(' '), utterances, seconds: wav.seconds, engine: stt.name });
  } finally {
    await Promise.all([vad.close(), stt.close()]);
  }
}
