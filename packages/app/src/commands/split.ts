import { readFile } from 'node:fs/promises';
import { type Clause, ClauseSplitter } from '@antiphon/voice';
import { CommandError, oneLine, UsageError } from '../failure.js';
import type { CommandContext } from './command.js';

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
  const text = file === undefined ? await readStdin(context) : await read(file);
  for (let at = 0; at < text.length; at += size) clauses.push(...splitter.push(text.slice(at, at + size)));
  clauses.push(...splitter.flush());
  for (const { kind, text: piece } of clauses) output.text(`${kind.padEnd(8)} ${JSON.stringify(piece)}`);
  output.value(clauses.map(({ text: piece, start, end, kind }) => ({ text: piece, start, end, kind })));
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${oneLine(error)}`);
  }
}

async function readStdin({ stdin }: CommandContext): Promise<string> {
  if (stdin.isTTY) throw new UsageError('split reads a file or standard input: printf "One. Two." | antiphon split');
  stdin.setEncoding('utf8');
  let text = '';
  for await (const piece of stdin) text += piece;
  return text;
}
