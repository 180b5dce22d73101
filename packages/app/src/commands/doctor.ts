import { createModelCache } from '@antiphon/speech';
import { oneLine } from '../failure.js';
import { chooseModel, findLocalServer, HOSTED } from '../model-choice.js';
import { table } from '../output.js';
import { SPEECH_MODELS } from '../speech/engines.js';
import type { CommandContext } from './command.js';

interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
  /** What to do when it is not ok. */
  readonly next?: string;
}

/** `antiphon doctor`: what is installed, who answers, what to do next. Finds faults; it does not fail because of them. */
export async function doctor(context: CommandContext): Promise<void> {
  const { output, config, env, file } = context;
  const checks: Check[] = [
    nodeVersion(),
    await speechRuntime(),
    ...(await speechModels()),
    { what: 'configuration', ok: true, found: file ?? 'no antiphon.config file' },
    keys(env),
    await localServer(),
    await answering(),
  ];
  output.text(table(checks.map(({ what, ok, found }) => [ok ? '✓' : '✗', what, found])));
  const next = checks.flatMap(check => (check.next === undefined ? [] : [check.next]));
  output.text(next.length > 0 ? `\nNext:\n${next.map(step => `  · ${step}`).join('\n')}` : '\nEverything is there. Try: antiphon selftest');
  output.value({ ok: checks.every(({ ok }) => ok), checks, next });

  async function answering(): Promise<Check> {
    try {
      const choice = await chooseModel(config, env);
      return {
        what: 'who answers',
        ok: !choice.demo,
        found: `${choice.name} (${choice.why})`,
        ...(choice.demo
          ? {
              next: 'For real conversations connect a model: install Ollama and run `ollama pull llama3.2`, or set a key such as OPENAI_API_KEY.',
            }
          : {}),
      };
    } catch (error) {
      return { what: 'who answers', ok: false, found: oneLine(error), next: 'Mend the configuration named above.' };
    }
  }
}

function nodeVersion(): Check {
  const ok = Number(process.versions.node.split('.')[0]) >= 20;
  return { what: 'Node', ok, found: process.versions.node, ...(ok ? {} : { next: 'Install Node 20 or newer.' }) };
}

async function speechRuntime(): Promise<Check> {
  try {
    await import('onnxruntime-node');
    return { what: 'speech runtime', ok: true, found: 'onnxruntime-node' };
  } catch (error) {
    return { what: 'speech runtime', ok: false, found: oneLine(error), next: 'Install the runtime: npm install onnxruntime-node' };
  }
}

async function speechModels(): Promise<Check[]> {
  const models = await createModelCache().list();
  return models
    .filter(({ name }) => (SPEECH_MODELS as readonly string[]).includes(name))
    .map(({ name, state }) => ({
      what: `model ${name}`,
      ok: state === 'ready',
      found: state,
      ...(state === 'ready' ? {} : { next: `Run: antiphon models pull ${name}` }),
    }));
}

function keys(env: NodeJS.ProcessEnv): Check {
  const set = HOSTED.filter(({ keyName }) => env[keyName]).map(({ keyName }) => keyName);
  return { what: 'keys', ok: true, found: set.length > 0 ? `${set.join(', ')} set` : 'none set' };
}

async function localServer(): Promise<Check> {
  const server = await findLocalServer();
  return {
    what: 'model server',
    ok: true,
    found: server ? `${server.name} answers with ${server.models.length} models` : 'none answers on this machine',
  };
}
