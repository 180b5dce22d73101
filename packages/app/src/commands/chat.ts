import { createInterface } from 'node:readline/promises';
import { createSession, type Session, system } from '@antiphon/engine';
import { DEMO_NOTICE } from '../demo/responder.js';
import { CommandError } from '../failure.js';
import { chooseModel, systemPrompt } from '../model-choice.js';
import type { CommandContext } from './command.js';

const HELP = '/quit ends the conversation · /reset forgets it · /help shows this';

/** `antiphon chat`: one line is one message. Ends at `/quit` and at the end of standard input. */
export async function chat(context: CommandContext): Promise<void> {
  const { config, output, env, stdin, signal } = context;
  const choice = await chooseModel(config, env);
  output.note(`Model: ${choice.name} (${choice.why}).`);
  if (choice.demo) output.note(DEMO_NOTICE);
  output.note(HELP);
  const begin = () => createSession({ engine: choice.engine, messages: [system(systemPrompt(config))] });
  let session = begin();
  // On a terminal the prompt belongs to the conversation; JSON and pipes get answers only.
  const interactive = Boolean(stdin.isTTY) && !output.json;
  const lines = createInterface({
    input: stdin,
    ...(interactive ? { output: process.stdout, prompt: 'you> ' } : {}),
    terminal: interactive,
  });
  signal.addEventListener('abort', () => lines.close(), { once: true });
  let failure: string | undefined;
  if (interactive) lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === '/quit' || text === '/exit') break;
    if (text === '/help') output.note(HELP);
    else if (text === '/reset') session = begin();
    else if (text.startsWith('/')) output.note(`Unknown command ${text}. ${HELP}`);
    else if (text !== '') failure = await answer(session, text, context);
    if (signal.aborted) break;
    if (interactive) lines.prompt();
  }
  lines.close();
  if (failure !== undefined && !interactive) throw new CommandError(failure);
}

/** Streams one answer; returns what went wrong, so that the conversation can go on. */
async function answer(session: Session, text: string, { output, signal }: CommandContext): Promise<string | undefined> {
  const stream = session.stream(text, { signal });
  for await (const event of stream) {
    output.value(event);
    if (output.json) continue;
    if (event.type === 'text_delta') output.stdout.write(event.delta);
    else if (event.type === 'tool_start') output.note(`[${event.call.name} ${event.call.rawArguments}]`);
    else if (event.type === 'retry') output.note(`[trying again in ${Math.round(event.delayMs)} ms: ${event.error.message}]`);
    else if (event.type === 'warning') output.note(`[${event.warning.message}]`);
  }
  const outcome = await stream.outcome;
  if (outcome.text !== '') output.text('');
  if (outcome.status === 'failed') {
    output.note(`antiphon: ${outcome.error.message}`);
    return outcome.error.message;
  }
  return undefined;
}
