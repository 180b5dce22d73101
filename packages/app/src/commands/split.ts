import { type Clause, ClauseSplitter } from '@antiphon/voice';
import { UsageError } from '../failure.js';
import { readInput } from '../input.js';
import type { CommandContext } from './command.js';

const USAGE = 'split reads a file or standard input: printf "One. Two." | antiphon split';

/** `antiphon split [FILE] [--chunk N]` */
export async function split(
  file: string | undefined,
  { chunk = '1' }: { readonly chunk?: string },
  context: CommandContext,
): Promise<void> {
  const size = Number(chunk);
  if (!Number.isInteger(size) || size < 1) throw new UsageError(`--chunk takes a whole number of characters from 1, not ${chunk}.`);
  const { output, config } = context;
  const splitter = new ClauseSplitter(config.locale === undefined ? {} : { locale: config.locale });
  const clauses: Clause[] = [];
  const text = await readInput(file, USAGE, context);
  for (let at = 0; at < text.length; at += size) clauses.push(...splitter.push(text.slice(at, at + size)));
  clauses.push(...splitter.flush());
  for (const { kind, text: piece } of clauses) output.text(`${kind.padEnd(8)} ${JSON.stringify(piece)}`);
  output.value(clauses.map(({ text: piece, start, end, kind }) => ({ text: piece, start, end, kind })));
}
