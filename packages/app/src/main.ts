import { Command, CommanderError } from 'commander';
import { chat } from './commands/chat.js';
import type { CommandContext } from './commands/command.js';
import { doctor } from './commands/doctor.js';
import { listModels, MODEL_NAMES, pullModels } from './commands/models.js';
import { say } from './commands/say.js';
import { SCENARIOS, scenario } from './commands/scenario.js';
import { selftest } from './commands/selftest.js';
import { split } from './commands/split.js';
import { transcribe } from './commands/transcribe.js';
import { loadConfig } from './config.js';
import { CommandError, EXIT, oneLine, UsageError } from './failure.js';
import { createOutput } from './output.js';

type Flags = { readonly [key: string]: unknown };

/** Runs the command line and gives its exit code. Nothing here ends the process: what is open ends by itself. */
export async function run(argv: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  const onInterrupt = () => {
    // A second Ctrl-C does not wait for anything.
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
    interrupt.abort(new CommandError('interrupted'));
  };
  process.on('SIGINT', onInterrupt);
  // A reader that has seen enough closes the pipe; that is no failure.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(EXIT.fine);
  });
  try {
    await program(interrupt.signal).parseAsync([...argv], { from: 'user' });
    return interrupt.signal.aborted ? EXIT.interrupted : EXIT.fine;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
    if (interrupt.signal.aborted) return EXIT.interrupted;
    process.stderr.write(`antiphon: ${oneLine(error)}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

function program(signal: AbortSignal): Command {
  const root = new Command('antiphon')
    .description('Agents that you can type to and talk to, on your own machine.')
    .option('--json', 'print one JSON value (JSON Lines for streams) on stdout and nothing else there')
    .option('--model <name>', 'model at its server, or "demo" for the demo responder [ANTIPHON_MODEL]')
    .option('--base-url <url>', 'OpenAI-compatible server, such as http://127.0.0.1:11434/v1 [ANTIPHON_BASE_URL]')
    .option('--system <text>', 'instructions for the model [ANTIPHON_SYSTEM]')
    .option('--documents <folder>', 'what the demo responder knows; default: the guide [ANTIPHON_DOCUMENTS]')
    .option('--voice <name>', 'voice of the synthesizer: rms, slt, awb, kal16, kal [ANTIPHON_VOICE]')
    .option('--locale <tag>', 'language, such as en or de-AT [ANTIPHON_LOCALE]')
    .exitOverride()
    .showHelpAfterError('Run antiphon --help to see how it is used.')
    .addHelpText('after', HELP);

  const action =
    <Args extends unknown[]>(act: (context: CommandContext, ...args: Args) => Promise<void>) =>
    async (...args: [...Args, Flags, Command]) => {
      const command = args.at(-1) as Command;
      const flags = command.optsWithGlobals() as Flags;
      const output = createOutput(flags.json === true);
      const loaded = await loadConfig(flags);
      await act({ ...loaded, output, signal, env: process.env, stdin: process.stdin }, ...(args.slice(0, -2) as Args));
    };
  const sub = (spec: string, description: string) => root.command(spec).description(description).exitOverride();
  const json = ['--json', 'print JSON'] as const;

  sub('selftest [file]', 'one spoken turn with the real engines: hears a question, answers aloud, prints how long each part took')
    .option('--out <file>', 'where the spoken answer goes', 'antiphon-reply.wav')
    .option(...json)
    .action((file: string | undefined, flags: { out?: string }, command: Command) =>
      action((context, name: string | undefined) => selftest(name, flags, context))(file, flags, command),
    );
  sub('say <text>', 'speak a text into a WAV file')
    .option('--out <file>', 'the file', 'antiphon-say.wav')
    .option(...json)
    .action((text: string, flags: { out?: string }, command: Command) =>
      action((context, words: string) => say(words, flags, context))(text, flags, command),
    );
  sub('transcribe <file>', 'print the words of a WAV file')
    .option(...json)
    .action(action((context, file: string) => transcribe(file, context)));
  sub('chat', 'a conversation in the terminal; /quit ends it')
    .option(...json)
    .action(action(context => chat(context)));
  sub('split [file]', 'show where a text (file or standard input) is cut into spoken clauses')
    .option('--chunk <n>', 'characters that are fed at a time', '1')
    .option(...json)
    .action((file: string | undefined, flags: { chunk?: string }, command: Command) =>
      action((context, name: string | undefined) => split(name, flags, context))(file, flags, command),
    );
  sub('scenario [file]', 'play a conversation (file or standard input) on a virtual clock, print what happens, check it')
    .option('--seed <n>', 'a conversation by chance instead of a file')
    .option(...json)
    .addHelpText('after', `\nTo begin with: barge-in.json, backchannel.json and tool.json in\n${SCENARIOS}`)
    .action((file: string | undefined, flags: { seed?: string }, command: Command) =>
      action((context, name: string | undefined) => scenario(name, flags, context))(file, flags, command),
    );
  const models = sub('models', `speech models: list (default) or pull [NAME…] (${MODEL_NAMES.join(', ')})`);
  models
    .command('list', { isDefault: true })
    .description('what is in the model cache')
    .option(...json)
    .exitOverride()
    .action(action(context => listModels(context)));
  models
    .command('pull [names...]')
    .description('fetch models; without a name, everything that a spoken conversation needs')
    .option(...json)
    .exitOverride()
    .action(action((context, names: string[]) => pullModels(names, context)));
  sub('doctor', 'what is installed, which model answers, and what to do next')
    .option(...json)
    .action(action(context => doctor(context)));
  return root;
}

const HELP = `
Examples:
  antiphon selftest                         ask, listen, answer aloud; see the latencies
  antiphon chat --model llama3.2            talk to a local model by typing
  antiphon say "It is noon." --out noon.wav
  antiphon transcribe noon.wav
  printf 'Dr. Lee paid $3.50. Then he left.' | antiphon split --json
  antiphon scenario barge-in.json           a conversation in no time; "antiphon scenario --help" says where this file is

Settings come from antiphon.config.{ts,js,json}, then ANTIPHON_* in the environment, then flags; the later wins.
Without any, the model is: a hosted provider whose key is in the environment (OPENAI_API_KEY, …), else a server of this
machine (Ollama, llama.cpp, LM Studio), else the demo responder, which is no language model and says so.

Exit codes: 0 fine, 1 failed, 2 wrong usage, 130 interrupted.`;
