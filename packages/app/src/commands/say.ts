import { writeFile } from 'node:fs/promises';
import { writeWav } from '@antiphon/speech';
import { ClauseSplitter, speakable } from '@antiphon/voice';
import { CommandError, UsageError } from '../failure.js';
import { openVoice, synthesize } from '../speech/engines.js';
import { concat } from '../speech/hear.js';
import type { CommandContext } from './command.js';

/** Silence before and after the speech. */
const QUIET_SECONDS = 0.3;

/** `antiphon say TEXT [--out FILE.wav]` */
export async function say(text: string, { out = 'antiphon-say.wav' }: { readonly out?: string }, context: CommandContext): Promise<void> {
  if (text.trim() === '') throw new UsageError('say needs a text: antiphon say "Hello there."');
  const { config, output, signal } = context;
  const clauses = spokenClauses(text, config.locale);
  if (clauses.length === 0) throw new CommandError('That text has nothing to speak: it holds no letter and no digit.');
  const tts = await openVoice(config);
  try {
    const spoken = await synthesize(tts, clauses, signal);
    if (spoken.length === 0) throw new CommandError('That text has nothing that this voice can speak; it knows the Latin alphabet only.');
    // Players and listeners both miss the first sound of a file that begins with it.
    const quiet = new Float32Array(Math.round(QUIET_SECONDS * tts.sampleRate));
    const samples = concat([quiet, spoken, quiet]);
    await writeFile(out, writeWav({ samples, sampleRate: tts.sampleRate }));
    const seconds = samples.length / tts.sampleRate;
    output.text(`${out}  ${seconds.toFixed(2)} s, ${tts.name}`);
    output.value({ audio: { path: out, seconds, sampleRate: tts.sampleRate }, clauses, engine: tts.name });
  } finally {
    await tts.close();
  }
}

/** What is spoken of a text, clause by clause. */
function spokenClauses(text: string, locale?: string): string[] {
  const options = locale === undefined ? {} : { locale };
  const splitter = new ClauseSplitter(options);
  return [...splitter.push(text), ...splitter.flush()].map(clause => speakable(clause.text, options)).filter(spoken => spoken !== '');
}
