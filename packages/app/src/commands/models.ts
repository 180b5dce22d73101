import { createModelCache, modelCatalog, progressBar } from '@antiphon/speech';
import { table } from '../output.js';
import { SPEECH_MODELS } from '../speech/engines.js';
import type { CommandContext } from './command.js';

/** `antiphon models [list]` */
export async function listModels({ output }: CommandContext): Promise<void> {
  const cache = createModelCache();
  const models = await cache.list();
  output.text(`Models in ${cache.dir}`);
  output.text(
    table(models.map(({ name, state, bytes, licence, purpose }) => [name, state, `${(bytes / 1e6).toFixed(1)} MB`, licence, purpose])),
  );
  const absent = models.filter(({ name, state }) => state !== 'ready' && (SPEECH_MODELS as readonly string[]).includes(name));
  if (absent.length > 0) output.text(`\nTo fetch what a spoken conversation needs: antiphon models pull`);
  output.value({ dir: cache.dir, models });
}

/** `antiphon models pull [NAME…]`: without a name, everything that a spoken conversation needs. */
export async function pullModels(names: readonly string[], { output, signal }: CommandContext): Promise<void> {
  const wanted = names.length > 0 ? names : SPEECH_MODELS;
  const cache = createModelCache();
  const pulled: { name: string; files: readonly string[] }[] = [];
  for (const name of wanted) {
    const before = (await cache.list()).find(model => model.name === name)?.state;
    if (before !== 'ready') await cache.pull(name, { signal, onProgress: progressBar(output.stderr as NodeJS.WriteStream) });
    const files = Object.values(await cache.require(name));
    pulled.push({ name, files });
    output.text(
      `${name}  ${before === 'ready' ? 'is there already' : 'fetched and checked'}  ${files.length === 1 ? files[0] : cache.dir}`,
    );
  }
  output.value({ dir: cache.dir, models: pulled });
}

/** Names for the help text. */
export const MODEL_NAMES = modelCatalog.map(model => model.name);
