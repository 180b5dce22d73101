import { fileURLToPath } from 'node:url';
import { asScenario, checkTrace, fuzz, runScenario, type Scenario, type Trace, type Violation } from '@antiphon/voice/testing';
import { CommandError, oneLine, UsageError } from '../failure.js';
import { readInput } from '../input.js';
import { timeline } from '../speech/timeline.js';
import type { CommandContext } from './command.js';

const USAGE = `scenario reads a file or standard input: antiphon scenario talk.json`;
/** Larger ones would be the same conversations again. */
const MAX_SEED = 2 ** 32 - 1;

/** Conversations to begin with: barge-in, backchannel, tool with hold sound. */
export const SCENARIOS = fileURLToPath(new URL('../../scenarios', import.meta.url));

interface Played {
  readonly name: string;
  readonly trace: Trace;
  readonly violations: readonly Violation[];
}

/** `antiphon scenario [FILE.json | --seed N]`: plays a conversation on a virtual clock and checks it against the laws of every conversation. */
export async function scenario(file: string | undefined, { seed }: { readonly seed?: string }, context: CommandContext): Promise<void> {
  if (seed !== undefined && file !== undefined) throw new UsageError('scenario takes a file or --seed, not both.');
  tell(seed === undefined ? await playFile(file, context) : await playSeed(seed), context);
}

/** Prints what happened; throws `CommandError` when a law was broken. */
export function tell({ name, trace, violations }: Played, { output }: Pick<CommandContext, 'output'>): void {
  output.text(`${name}\n\n${timeline(trace, violations)}`);
  for (const line of trace) output.value(line);
  output.value({ violations });
  if (violations.length > 0)
    throw new CommandError(`${name} breaks the laws of a conversation ${violations.length === 1 ? 'once' : `${violations.length} times`}.`);
}

async function playFile(file: string | undefined, context: CommandContext): Promise<Played> {
  const place = file === undefined || file === '-' ? 'standard input' : file;
  const text = await readInput(file, USAGE, context);
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new CommandError(`${place} is no JSON: ${oneLine(error)}`);
  }
  const checked = checkedScenario(json, place);
  const trace = await runScenario(checked);
  return { name: checked.name ?? place, trace, violations: checkTrace(trace) };
}

function checkedScenario(json: unknown, place: string): Scenario {
  try {
    return asScenario(json);
  } catch (error) {
    throw new CommandError(`${place} is no scenario: ${oneLine(error)}`);
  }
}

async function playSeed(seed: string): Promise<Played> {
  const number = Number(seed);
  if (!/^\d+$/.test(seed) || number > MAX_SEED) throw new UsageError(`--seed takes a whole number from 0 to ${MAX_SEED}, not ${seed}.`);
  return { name: `seed ${seed}`, ...(await fuzz(number)) };
}
