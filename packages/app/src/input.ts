import { readFile } from 'node:fs/promises';
import type { CommandContext } from './commands/command.js';
import { CommandError, oneLine, UsageError } from './failure.js';

/** All text of a file; of standard input when there is no file, or it is `-`. On a terminal nothing is awaited: `usage` says what to write. */
export async function readInput(file: string | undefined, usage: string, { stdin }: CommandContext): Promise<string> {
  if (file === undefined || file === '-') {
    if (stdin.isTTY) throw new UsageError(usage);
    stdin.setEncoding('utf8');
    let text = '';
    for await (const piece of stdin) text += piece;
    return text;
  }
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${oneLine(error)}`);
  }
}
